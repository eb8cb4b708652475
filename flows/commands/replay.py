"""`stackrank replay`: the same actions in a fresh sandbox; are the observations the same?"""

from __future__ import annotations

import difflib
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Engine

from agents.base import Past
from agents.episode import Budget, Step, play
from agents.replay import Replay
from db import queries
from db.engine import connect
from db.replays import Replays
from db.storable import storable_text
from env.benchmarks.registry import load_benchmark
from env.debug_env import DebugEnv
from env.sandbox.client import Sandbox
from env.sandbox.registry import backend
from env.task import Task
from env.tools import tool_set
from flows.output import print_json
from flows.recorded import trajectory
from flows.spec import SpecError, make_spec

MOST_LINES = 40
"""Lines of a difference that are shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a replay parts from the recording."""

    step: int | None
    """None: every step is the same and the verdict is not."""
    tool: str
    diff: str
    """Unified; the recording first."""


class _Differs(Exception):
    def __init__(self, difference: Difference) -> None:
        super().__init__()
        self.difference = difference


def replay(episode: str, sandbox: str | None, as_json: bool) -> int:
    """Replay an episode, and store and print how it compares. Returns the exit status: 0 same, 1 different.

    `sandbox`: the kind to use; the one that the episode was played in where None.
    Raises NotFound, SpecError (it cannot be replayed), SandboxError.
    """
    engine = connect()
    row = queries.episode(engine, episode)
    found = compare(engine, row, sandbox or row["sandbox"])
    result = "same" if found is None else "verdict" if found.step is None else f"step {found.step}"
    Replays(engine).save_replay(row["id"], result)
    if as_json:
        difference = None if found is None else asdict(found)
        print_json({"episode": row["id"], "steps": row["steps"], "replayed": result, "difference": difference})
    elif found is None:
        print(f"same: all {row['steps']} steps of episode {row['id']} gave the same observations, and the same verdict")
    else:
        where = "in its verdict" if found.step is None else f"at step {found.step} ({found.tool or 'reset'})"
        print(f"different: episode {row['id']} differs {where}\n{found.diff}")
    return 0 if found is None else 1


def compare(engine: Engine, row: dict[str, Any], sandbox: str) -> Difference | None:
    """Play an episode's recorded actions in a fresh sandbox: the first difference. Raises SpecError, SandboxError."""
    past = trajectory(engine, row["id"])
    if not row["verdict"] or not past:
        raise SpecError(f"episode {row['id']} cannot be replayed: it is {row['status']} and has {len(past)} steps")
    task = _task(engine, row)
    try:
        tools = tool_set(row["tools"])
    except ValueError as error:
        raise SpecError(f"episode {row['id']} cannot be replayed: {error}") from None
    kind = backend(sandbox)
    agent = Replay(config={"episode": row["id"]})
    agent.follow(past)
    # Only the recording ends it.
    unlimited = Budget(steps=len(past) - 1, wall_s=None, malformed=len(past) + 1, repeats=None)
    try:
        with DebugEnv(task, tools, lambda spec: Sandbox(kind, spec)) as env:
            outcome = play(env, agent, budget=unlimited, record=lambda step: _check(step, past[step.index]))
    except _Differs as error:
        return error.difference
    if outcome.steps < len(past) - 1:
        step = past[outcome.steps + 1]
        ended = f"the episode ended before this step: {outcome.stop_reason}"
        return Difference(outcome.steps + 1, _tool(step), _diff(step.observation.text, ended))
    verdict = "resolved" if outcome.score and outcome.score.resolved else "unresolved"
    if row["verdict"] == "error" or verdict == row["verdict"]:
        return None
    return Difference(None, "", _diff(row["verdict"], verdict))


def _task(engine: Engine, row: dict[str, Any]) -> Task:
    """The task that was played, found again where the run's specification says. Raises SpecError, BenchmarkError."""
    spec = make_spec(queries.run(engine, row["run_id"])["spec"], f"run {row['run_id']}")
    for task in load_benchmark(spec.benchmark, spec.source).tasks():
        if task.id == row["task"] and task.digest == queries.task(engine, row["task_id"])["digest"]:
            return task
    raise SpecError(f"episode {row['id']} cannot be replayed: {row['task']} has changed since, or is gone")


def _check(step: Step, past: Past) -> None:
    # The database holds no text that it could not store.
    seen, before = step.observation, past.observation
    text = storable_text(seen.text)
    if (text, seen.ok) != (before.text, before.ok):
        diff = _diff(before.text, text) or f"ok: {before.ok} before, {seen.ok} now"
        raise _Differs(Difference(step.index, _tool(past), diff))


def _tool(past: Past) -> str:
    return past.action.tool if past.action else ""


def _diff(before: str, now: str) -> str:
    lines = list(difflib.unified_diff(before.splitlines(), now.splitlines(), "recorded", "replayed", lineterm="", n=2))
    more = [f"... and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *more])
