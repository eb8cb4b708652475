"""Repeats an episode's actions in a fresh sandbox, to see whether the observations are the same."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from sqlalchemy import Engine

from stackrank.agents.episode.loop import Budget, play
from stackrank.agents.episode.step import Step
from stackrank.agents.replay import Replay
from stackrank.db import queries
from stackrank.db.queries.episodes.episodes import EpisodeRow
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.registry import backend
from stackrank.env.state import State
from stackrank.env.task import Task
from stackrank.errors import StackrankError
from stackrank.flows.runs.playing.trajectories import load_trajectory, recorded_tools, with_installed
from stackrank.flows.runs.specification.spec import RunSpec, SpecError, make_spec
from stackrank.storable import storable_text
from stackrank.terms import Verdict
from stackrank.wording import count_of

MOST_LINES = 40
"""Most lines of a difference that are shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a replay differs from the recording."""

    step: int | None
    """None: every step is the same, but the verdict differs."""
    tool: str
    diff: str
    """A unified diff from the recording to the replay."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay."""

    difference: Difference | None
    """The first difference that counts; None: the episode is the same."""
    different_answers: list[Difference] = field(default_factory=list)
    """Steps in which an MCP server's tool succeeded again and left the same workspace, but answered differently.

    The answer comes from another program and may contain times, ports, and orders of events. Nothing guarantees that it
    is reproducible, so it does not count against the episode, but the steps are not called the same either.
    """

    @property
    def result(self) -> str:
        """The short result, as stored: `same`, `same but for N answers of MCP servers`, `step N` or `verdict`."""
        if self.difference is not None:
            return "verdict" if self.difference.step is None else f"step {self.difference.step}"
        if not self.different_answers:
            return "same"
        answers = count_of(len(self.different_answers), "answer")
        return f"same but for {answers} of MCP servers"


class _Differs(StackrankError):
    def __init__(self, difference: Difference) -> None:
        super().__init__()
        self.difference = difference


def replay(engine: Engine, row: EpisodeRow, sandbox: str) -> Replayed:
    """Repeat an episode's recorded actions in a fresh sandbox, up to the first difference.

    `row`: the episode as `queries.episode` returns it. `sandbox`: the kind of sandbox. Raises SpecError if the
    episode cannot be repeated, SandboxError.
    """
    past = load_trajectory(engine, row["id"])
    if not row["verdict"] or not past:
        raise SpecError(
            f"episode {row['id']} cannot be replayed: it is {row['status']} and has {count_of(len(past), 'step')}"
        )
    task = _task(engine, row)
    try:
        tools = recorded_tools(row["tools"], queries.run(engine, row["run_id"])["spec"], past[0].observation.state)
        tools = with_installed(tools, past)
    except ValueError as error:
        raise SpecError(f"episode {row['id']} cannot be replayed: {error}") from None
    kind = backend(sandbox)
    spec = _spec(engine, row)
    under = {
        "end_when_solved": spec.ends_when_solved,
        "shows_failing_test": spec.shows_failing_test,
        "shows_failure_state": spec.shows_failure_state,
    }
    agent = Replay(config={"episode": row["id"]})
    # Only the end of the recording ends the replay, no limit does.
    different_answers: list[Difference] = []
    unlimited = Budget(steps=len(past) - 1, wall_s=None, malformed=len(past) + 1, repeats=None)
    try:
        with DebugEnv(task, tools, lambda spec: Sandbox(kind, spec), **under) as env:
            outcome = play(
                env,
                agent,
                budget=unlimited,
                record=lambda step: _check(step, past[step.index], different_answers),
                find_recording=lambda _: past,
            )
    except _Differs as error:
        return Replayed(error.difference, different_answers)
    if outcome.steps < len(past) - 1:
        step = past[outcome.steps + 1]
        ending = f"the episode ended before this step: {outcome.stop_reason}"
        early = Difference(outcome.steps + 1, _tool(step), _diff(step.observation.text, ending))
        return Replayed(early, different_answers)
    verdict = Verdict.RESOLVED if outcome.score and outcome.score.resolved else Verdict.UNRESOLVED
    if row["verdict"] == Verdict.ERROR or verdict == row["verdict"]:
        return Replayed(None, different_answers)
    return Replayed(Difference(None, "", _diff(row["verdict"], verdict)), different_answers)


def _spec(engine: Engine, row: EpisodeRow) -> RunSpec:
    """Return the specification of an episode's run. Raises SpecError."""
    return make_spec(queries.run(engine, row["run_id"])["spec"], f"run {row['run_id']}")


def _task(engine: Engine, row: EpisodeRow) -> Task:
    """Find the played task again from the run's specification. Raises SpecError, BenchmarkError."""
    spec = _spec(engine, row)
    for task in load_benchmark(spec.benchmark, spec.source).tasks():
        if task.id == row["task"] and task.digest == queries.task(engine, row["task_id"])["digest"]:
            return task
    raise SpecError(f"episode {row['id']} cannot be replayed: {row['task']} has changed since, or no longer exists")


def _check(step: Step, past: Step, different_answers: list[Difference]) -> None:
    # Compare with text as the database stores it.
    replayed, recorded = step.observation, past.observation
    text = storable_text(replayed.repeatable_text)
    if replayed.ok == recorded.ok and recorded.repeatable_text == text:
        return
    diff = _diff(recorded.repeatable_text, text) or f"ok: {recorded.ok} before, {replayed.ok} now"
    difference = Difference(step.index, _tool(past), diff)
    if replayed.ok != recorded.ok or not (_of_a_server(replayed.state) and _of_a_server(recorded.state)):
        raise _Differs(difference)
    if storable_text(replayed.state.get("diff", "")) != recorded.state.get("diff", ""):
        changes = _diff(recorded.state.get("diff", ""), replayed.state.get("diff", ""))
        raise _Differs(Difference(step.index, _tool(past), changes))
    different_answers.append(difference)


def _of_a_server(state: State) -> bool:
    """Whether one of the entrant's MCP servers answered."""
    return state["kind"] == "server"


def _tool(past: Step) -> str:
    return past.action.tool if past.action else ""


def _diff(recorded: str, replayed: str) -> str:
    lines = list(
        difflib.unified_diff(recorded.splitlines(), replayed.splitlines(), "recorded", "replayed", lineterm="", n=2)
    )
    omitted = [f"... and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *omitted])
