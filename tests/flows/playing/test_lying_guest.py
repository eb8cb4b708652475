"""Whatever comes out of a sandbox, the episode is stored with a verdict, and nobody else's episode is affected.

Real replies of every kind are changed and sent the whole way: channel, tool, observation, row of the step, verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from stackrank.env.actions import Action
from stackrank.flows.cli.output import as_json
from tests.fixtures.env import EVERYTHING, make_task, usable
from tests.postgres import Cluster
from tests.support.guests.cases import World, assert_harmless
from tests.support.guests.recorded_guest import Tapes, record

pytestmark = pytest.mark.slow  # by its time

SOME, FEW, MANY = 60, 1_000, 20_000
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
        pdb("b\nn\nn\ncommands 1\np 1\nend\ntbreak cart.py:3", test="python prog.py"),
        pdb("import os; os._exit(4)"),
        pdb("c"),
    ],
    "trace": [
        Action("trace", {"place": "cart.py:12, Cart.total", "code": "result\nitem['price']", "condition": "x or True"}),
        Action("trace", {"place": "cart.py:11-13"}),
        Action("trace", {"exception": "KeyError", "test": "tests/test_cart.py"}),
    ],
    "inspect": [
        Action("inspect", {"code": "1 + 1"}),
        Action("inspect", {"place": "cart.py:12", "code": "x = 2\nx", "hit": 2}),
    ],
    "calls": [
        Action("calls", {"place": "price"}),
        Action("calls", {"place": "price", "hit": -1, "test": "tests/test_cart.py"}),
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


@pytest.fixture(scope="module")
def scenes() -> list[Tapes]:
    """Every action as a real guest answers it."""
    real = usable("bubblewrap")
    return [
        tapes
        for name, actions in SCENES.items()
        for tapes in record(TASK, EVERYTHING, actions, real, linked=name in LINKED)
    ]


def test_the_scenes_are_the_same_from_the_tape(scenes: Sequence[Tapes], tmp_path: Path) -> None:
    world = World(tmp_path, TASK, EVERYTHING)
    for tapes in scenes:
        ((_, row),) = world.read([world.play(tapes, {})])
        # Nothing can be submitted during an investigation.
        assert row["stop_reason"] in ("submitted", "agent_gave_up") and row["verdict"] == "unresolved"
        assert len(row["steps"]) == len(tapes.actions) + 2
        assert "failed unexpectedly" not in as_json(row)


def test_lies_of_every_kind(scenes: Sequence[Tapes], tmp_path: Path) -> None:
    assert_harmless(World(tmp_path, TASK, EVERYTHING, FEW), scenes, FEW, 1)


def test_lies_in_postgresql(scenes: Sequence[Tapes], tmp_path: Path, postgres: Cluster) -> None:
    """Its texts, numbers and keys of indexes have other bounds than those of SQLite."""
    assert_harmless(World(tmp_path, TASK, EVERYTHING, SOME, postgres.create("migrated")), scenes, SOME, 7)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_more_lies(seed: int, scenes: Sequence[Tapes], tmp_path: Path) -> None:
    assert_harmless(World(tmp_path, TASK, EVERYTHING, MANY // 4), scenes, MANY // 4, seed)
