"""Plays cases of a lying guest the whole way: channel, tool, observation, row of the step, verdict, export."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
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
from tests.support.episodes import create_episodes
from tests.support.guests.lies import lie
from tests.support.guests.recorded_guest import Change, PlayingBackend, Tapes

READ_AT_ONCE = 50
"""Episodes that are read back by one query: a query for each is a quarter of what a case takes."""


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

    def __init__(self, folder: Path, task: Task, tools: ToolSet, cases: int = 100, url: str = "") -> None:
        """`url`: of a database; empty: a file in the folder."""
        self.store = Store(connect(url or f"sqlite:///{folder / 'stackrank.db'}"))
        row = {"name": "t", "digest": "d", "statement": "It fails."}
        benchmark = self.store.save_benchmark(name="b", digest="b", license="MIT", source="", tasks=[row])
        entrant = self.store.save_entrant(digest="e", name="one", agent="scripted", model="", tools="full")
        self._task_id, self._entrant = benchmark.task_ids["t"], entrant
        self._run = self.store.create_run(name="r", benchmark_id=benchmark.id, spec={"benchmark": "b"})
        self._task, self._tools = task, tools
        create_episodes(self.store, self._run, [(self._task_id, entrant, attempt) for attempt in range(cases)])

    def play(self, tapes: Tapes, lies: dict[tuple[int, int], Change]) -> int:
        """Play a scene with lies, and return the id of its episode."""
        claim = self.store.claim_next(self._run, "me")
        assert claim is not None
        agent = type("Acts", (Acts,), {"actions": tapes.actions})
        spec = SimpleNamespace(model="", config={}, label="one")

        @contextmanager
        def end_event() -> Any:
            yield SimpleNamespace(set=lambda: None, wait=lambda: None)

        session: Any = SimpleNamespace(
            store=self.store,
            tasks={self._task_id: self._task},
            entrants={self._entrant: SimpleNamespace(agent=agent, spec=spec, tools=self._tools)},
            sandboxes=PlayingBackend(tapes, lies),
            run=SimpleNamespace(
                backend=SimpleNamespace(name="bubblewrap"),
                budget_of=lambda task: Budget(steps=len(tapes.actions) + 2),
                spec=SimpleNamespace(
                    ends_when_solved=False, shows_failing_test=True, shows_failure_state=False, seed=0
                ),
            ),
            claims=SimpleNamespace(token="me"),
            is_over=lambda: False,
            end_event=end_event,
        )
        play_episode(session, claim, in_this_thread=True)
        return claim["id"]

    def read(self, ids: Collection[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield each of these episodes by its id, as it is exported."""
        engine = self.store.engine
        episodes, steps_of = (
            queries.full_episodes(engine, ids),
            queries.steps_of(engine, self._run, ids, exchanges=True),
        )
        for episode_id, steps in steps_of.items():
            assert list(map(from_row, steps)), "the steps can be read back"
            row: dict[str, Any] = {**episodes[episode_id], "steps": steps}
            document = as_json(row)
            json.loads(document, parse_constant=lambda constant: pytest.fail(f"{constant} in the export"))
            document.encode()
            assert "\0" not in document
            yield episode_id, row


def assert_harmless(world: World, scenes: Sequence[Tapes], cases: int, seed: int) -> None:
    """Each case ends in a verdict, and says why if what was said was not accepted."""
    endings: Counter[str] = Counter()
    for first in range(0, cases, READ_AT_ONCE):
        played = dict(
            play_case(world, scenes, f"{seed}-{number}") for number in range(first, min(first + READ_AT_ONCE, cases))
        )
        for episode_id, row in world.read(played):
            endings[assert_told(row, played[episode_id])] += 1
    assert endings["sandbox_lost"] > cases / 20 and endings["submitted"] > cases / 20, endings


def play_case(world: World, scenes: Sequence[Tapes], seed: str) -> tuple[int, str]:
    """Play a random scene with a random lie. Returns the id of its episode, and what the lie was."""
    chance = random.Random(seed)
    tapes = chance.choice(scenes)
    tape, at = chance.choice(tapes.of_the_entrant)
    how, change = lie(tapes.tapes[tape][at], chance)
    case = f"case {seed}: {tapes.actions[-1]}, {tapes.tapes[tape][at].op}, {how}"
    try:
        return world.play(tapes, {(tape, at): change}), case
    except Exception as error:
        raise AssertionError(case) from error


def assert_told(row: dict[str, Any], case: str) -> str:
    """The episode has a verdict, and a reason for it. Returns why it stopped."""
    assert row["verdict"] in ("resolved", "unresolved"), case
    if row["stop_reason"] == "sandbox_lost":
        assert row["score"]["notes"][0], case
    failures = [note for note in row["score"]["notes"] if "failed unexpectedly" in note]
    assert all("a bug in stackrank's guest" in note for note in failures), case
    return str(row["stop_reason"])
