"""Repeating an episode's actions in a fresh sandbox, to see whether the observations are the same."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from sqlalchemy import Engine

from stackrank.agents.episode.loop import Budget, play
from stackrank.agents.episode.step import Step
from stackrank.agents.replay import Replay
from stackrank.db import queries
from stackrank.db.rows import Episode
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.registry import backend
from stackrank.env.task import Task
from stackrank.env.tools.shown import without_filling
from stackrank.errors import StackrankError
from stackrank.flows.runs.spec import RunSpec, SpecError, make_spec
from stackrank.flows.runs.trajectories import recorded_tools, trajectory, with_installed
from stackrank.storable import storable_text
from stackrank.terms import Verdict

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


class _Differs(StackrankError):
    def __init__(self, difference: Difference) -> None:
        super().__init__()
        self.difference = difference


def first_difference(engine: Engine, row: Episode, sandbox: str) -> Difference | None:
    """Repeat an episode's recorded actions in a fresh sandbox. Returns the first difference, None where there is none.

    `row`: the episode as `queries.episode` gives it. `sandbox`: the kind of sandbox. Raises SpecError where the
    episode cannot be repeated, SandboxError.
    """
    past = trajectory(engine, row["id"])
    if not row["verdict"] or not past:
        raise SpecError(f"episode {row['id']} cannot be replayed: it is {row['status']} and has {len(past)} steps")
    task = _task(engine, row)
    try:
        tools = recorded_tools(row["tools"], queries.run(engine, row["run_id"])["spec"], past[0].observation.state)
        tools = with_installed(tools, past)
    except ValueError as error:
        raise SpecError(f"episode {row['id']} cannot be replayed: {error}") from None
    kind = backend(sandbox)
    spec = _spec(engine, row)
    under = {"end_when_solved": spec.ends_when_solved, "shows_failing_test": spec.shows_failing_test}
    agent = Replay(config={"episode": row["id"]})
    # Only the recording ends it.
    unlimited = Budget(steps=len(past) - 1, wall_s=None, malformed=len(past) + 1, repeats=None)
    try:
        with DebugEnv(task, tools, lambda spec: Sandbox(kind, spec), **under) as env:
            outcome = play(
                env,
                agent,
                budget=unlimited,
                record=lambda step: _check(step, past[step.index]),
                find_recording=lambda _: past,
            )
    except _Differs as error:
        return error.difference
    if outcome.steps < len(past) - 1:
        step = past[outcome.steps + 1]
        ended = f"the episode ended before this step: {outcome.stop_reason}"
        return Difference(outcome.steps + 1, _tool(step), _diff(step.observation.text, ended))
    verdict = Verdict.RESOLVED if outcome.score and outcome.score.resolved else Verdict.UNRESOLVED
    if row["verdict"] == Verdict.ERROR or verdict == row["verdict"]:
        return None
    return Difference(None, "", _diff(row["verdict"], verdict))


def _spec(engine: Engine, row: Episode) -> RunSpec:
    """The specification of an episode's run. Raises SpecError."""
    return make_spec(queries.run(engine, row["run_id"])["spec"], f"run {row['run_id']}")


def _task(engine: Engine, row: Episode) -> Task:
    """The task that was played, found again where the run's specification says. Raises SpecError, BenchmarkError."""
    spec = _spec(engine, row)
    for task in load_benchmark(spec.benchmark, spec.source).tasks():
        if task.id == row["task"] and task.digest == queries.task(engine, row["task_id"])["digest"]:
            return task
    raise SpecError(f"episode {row['id']} cannot be replayed: {row['task']} has changed since, or is gone")


def _check(step: Step, past: Step) -> None:
    # The database holds no text that it could not store. Earlier versions showed pytest's filling.
    seen, before = step.observation, past.observation
    text = storable_text(seen.text)
    if (without_filling(text), seen.ok) != (without_filling(before.text), before.ok):
        diff = _diff(before.text, text) or f"ok: {before.ok} before, {seen.ok} now"
        raise _Differs(Difference(step.index, _tool(past), diff))


def _tool(past: Step) -> str:
    return past.action.tool if past.action else ""


def _diff(before: str, now: str) -> str:
    lines = list(difflib.unified_diff(before.splitlines(), now.splitlines(), "recorded", "replayed", lineterm="", n=2))
    more = [f"... and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *more])
