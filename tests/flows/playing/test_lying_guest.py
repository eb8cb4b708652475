"""Whatever comes out of a sandbox, the episode is stored with a verdict, and nobody else's episode is affected.

Real replies of every kind are changed and sent the whole way: channel, tool, observation, row of the step, verdict.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stackrank.agents.episode.protocol import Agent, Briefing, Decision, GaveUp
from stackrank.agents.episode.referee import Budget
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.actions import Action, Observation
from stackrank.env.task import Task
from stackrank.env.tools import ToolSet
from stackrank.flows.cli.output import as_json
from stackrank.flows.runs.playing.episode import play_episode
from stackrank.flows.runs.playing.trajectories import from_row
from tests.fixtures.env import EVERYTHING, make_task, usable
from tests.support.guests.lies import lie
from tests.support.guests.recorded_guest import Change, PlayingBackend, Tapes, record

FEW, MANY = 1_000, 20_000
TASK = make_task(
    {
        "cart.py": """
            def price(item, count=1):
                total = item["price"] * count
                return total

            class Cart:
                def __init__(self, items):
                    self.items = items

                def total(self):
                    result = 0
                    for item in self.items:
                        result += price(item, item.get("count", 1))
                    return result - 1
            """,
        "prog.py": "import os, sys\nx = [1]\nprint('prog', x)\nsys.exit(3)\n",
        "tests/test_cart.py": """
            import pytest
            from cart import Cart

            def test_one():
                assert Cart([{"price": 3}]).total() == 3

            def test_empty():
                Cart([])

            @pytest.mark.parametrize("n", [1, 2])
            def test_error(n):
                with pytest.raises(KeyError):
                    Cart([{"count": n}]).total()
            """,
    }
)
ASKS = """\
import os, urllib.request as u
message = b'{"messages": [{"role": "user", "content": "hi"}]}'
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
print(u.urlopen(u.Request(url, message, {"Content-Type": "application/json"})).read())
"""


def pdb(command: str, **arguments: str) -> Action:
    return Action("pdb", {"command": command, **arguments})


SCENES: Mapping[str, Sequence[Action]] = {
    "files": [
        Action("listdir", {}),
        Action("view", {"path": "cart.py"}),
        Action("grep", {"pattern": "total"}),
        Action("rewrite", {"path": "cart.py", "start": 13, "end": 13, "new_code": "        return result - 2"}),
        Action("rewrite", {"path": "cart.py", "start": 13, "end": 13, "new_code": "return ("}),
    ],
    "commands": [
        Action("bash", {"command": "printf 'a\\0b\\377'; echo x > new.txt; rm prog.py; exit 3"}),
        Action("eval", {}),
        Action("eval", {"test": "tests/test_cart.py::test_one", "verbose": True}),
    ],
    "pdb": [
        pdb("b cart.py:11\nc\np item\nw\nu\nlocals()"),
        pdb("c\nc\nc"),
        pdb("q"),
        pdb("b\nn\nn\ncommands 1\np 1\nend\ntbreak cart.py:3", entrypoint="python prog.py"),
        pdb("import os; os._exit(4)"),
        pdb("c"),
    ],
    "trace": [
        Action("trace", {"at": "cart.py:12, Cart.total", "show": "result\nitem['price']", "condition": "x or True"}),
        Action("trace", {"at": "cart.py:11-13"}),
        Action("trace", {"exception": "KeyError", "test": "tests/test_cart.py"}),
    ],
    "calls": [
        Action("calls", {"function": "price"}),
        Action("calls", {"function": "price", "n": -1, "test": "tests/test_cart.py"}),
    ],
    "snapshot": [
        Action("snapshot", {"show": show, **back})
        for show, back in (("frames", {}), ("steps", {}), ("frames", {"back": 2}), ("tree", {}), ("difference", {}))
    ],
    "terminal": [
        Action("terminal", {"text": "echo hi; read x"}),
        Action("terminal", {"text": "there", "pattern": "nothing"}),
        Action("terminal", {"text": "exit 3"}),
    ],
    "investigation": [Action("investigate", {"question": "why"}), pdb("c"), Action("answer", {"text": "so"})],
    "program": [
        Action("program", {"start": {"command": f"python3 -c '{ASKS.replace(chr(39), chr(34) * 3)}'"}}),
        Action("program", {"answer": {"body": "{}"}}),
    ],
}

LINKED = ("investigation", "program")
"""Scenes whose actions continue the one before."""


class Acts(Agent):
    """Takes the given actions, then submits."""

    actions: Sequence[Action] = ()

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        self._left = iter([*self.actions, Action("submit", {})])

    def act(self, observation: Observation) -> Decision:
        for action in self._left:
            return Decision(action)
        raise GaveUp("it is not over yet")


class World:
    """A database, and a run of which each case plays one episode."""

    def __init__(self, folder: Path, tools: ToolSet) -> None:
        self.store = Store(connect(f"sqlite:///{folder / 'stackrank.db'}"))
        row = {"name": "t", "digest": "d", "statement": "It fails."}
        benchmark = self.store.save_benchmark(name="b", digest="b", license="MIT", source="", tasks=[row])
        entrant = self.store.save_entrant(digest="e", name="one", agent="scripted", model="", tools="full")
        self._task_id, self._entrant = benchmark.task_ids["t"], entrant
        self._run = self.store.create_run(name="r", benchmark_id=benchmark.id, spec={"benchmark": "b"})
        self._tools = tools
        self.store.create_episodes(self._run, [(self._task_id, entrant, attempt) for attempt in range(MANY)])

    def play(self, task: Task, tapes: Tapes, lies: dict[tuple[int, int], Change]) -> dict[str, Any]:
        """Play a scene with lies, and return the episode as it is exported."""
        claim = self.store.claim_next(self._run, "me")
        assert claim is not None
        agent = type("Acts", (Acts,), {"actions": tapes.actions})
        spec = SimpleNamespace(model="", config={}, label="one")

        @contextmanager
        def end_event() -> Any:
            yield SimpleNamespace(set=lambda: None, wait=lambda: None)

        session: Any = SimpleNamespace(
            store=self.store,
            tasks={self._task_id: task},
            entrants={self._entrant: SimpleNamespace(agent=agent, spec=spec, tools=self._tools)},
            sandboxes=PlayingBackend(tapes, lies),
            run=SimpleNamespace(
                backend=SimpleNamespace(name="bubblewrap"),
                budget=Budget(steps=len(tapes.actions) + 2),
                spec=SimpleNamespace(ends_when_solved=False, shows_failing_test=True, seed=0),
            ),
            claims=SimpleNamespace(token="me"),
            is_over=lambda: False,
            end_event=end_event,
        )
        play_episode(session, claim, in_this_thread=True)
        engine = self.store.engine
        steps = queries.steps(engine, claim["id"], exchanges=True)
        assert list(map(from_row, steps)), "the steps can be read back"
        row: dict[str, Any] = {**queries.episode(engine, claim["id"]), "steps": steps}
        document = as_json(row)
        json.loads(document, parse_constant=lambda constant: pytest.fail(f"{constant} in the export"))
        document.encode()
        assert "\0" not in document
        return row


@pytest.fixture(scope="module")
def scenes() -> list[Tapes]:
    """Every action as a real guest answers it."""
    real = usable("bubblewrap")
    return [
        tapes
        for name, actions in SCENES.items()
        for tapes in record(TASK, EVERYTHING, actions, real, linked=name in LINKED)
    ]


def assert_harmless(world: World, scenes: Sequence[Tapes], cases: int, seed: int) -> None:
    """Each case ends in a verdict, and says why if what was said was not accepted."""
    endings: Counter[str] = Counter()
    for number in range(cases):
        chance = random.Random(f"{seed}-{number}")
        tapes = chance.choice(scenes)
        tape, at = chance.choice(tapes.of_the_entrant)
        how, change = lie(tapes.tapes[tape][at], chance)
        case = f"case {number}: {tapes.actions[-1]}, {tapes.tapes[tape][at].op}, {how}"
        try:
            row = world.play(TASK, tapes, {(tape, at): change})
        except Exception as error:
            raise AssertionError(case) from error
        assert row["verdict"] in ("resolved", "unresolved"), case
        if row["stop_reason"] == "sandbox_lost":
            assert row["score"]["notes"][0], case
        failures = [note for note in row["score"]["notes"] if "failed unexpectedly" in note]
        assert all("a bug in stackrank's guest" in note for note in failures), case
        endings[row["stop_reason"]] += 1
    assert endings["sandbox_lost"] > cases / 20 and endings["submitted"] > cases / 20, endings


def test_the_scenes_are_the_same_from_the_tape(scenes: Sequence[Tapes], tmp_path: Path) -> None:
    world = World(tmp_path, EVERYTHING)
    for tapes in scenes:
        row = world.play(TASK, tapes, {})
        assert row["stop_reason"] == "submitted" and row["verdict"] == "unresolved"
        assert len(row["steps"]) == len(tapes.actions) + 2
        assert "failed unexpectedly" not in as_json(row)


def test_lies_of_every_kind(scenes: Sequence[Tapes], tmp_path: Path) -> None:
    assert_harmless(World(tmp_path, EVERYTHING), scenes, FEW, 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_more_lies(seed: int, scenes: Sequence[Tapes], tmp_path: Path) -> None:
    assert_harmless(World(tmp_path, EVERYTHING), scenes, MANY // 4, seed)
