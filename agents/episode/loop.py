"""The episode loop: asks the agent for decisions until the referee says that the episode is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any

from stackrank.agents.episode.protocol import Agent, Briefing, GaveUp, MalformedAction, OutOfTime, RecordingQuery
from stackrank.agents.episode.referee import Budget, Outcome, Recorder, Referee, ReplayDiffers
from stackrank.agents.episode.step import Step
from stackrank.agents.episode.workspace import find_failing_file, list_files, shows_failure
from stackrank.env.debug_env import DebugEnv
from stackrank.errors import PluginError, StackrankError
from stackrank.terms import StopReason

__all__ = ["Budget", "Outcome", "Recorder", "ReplayDiffers", "play"]


def play(
    env: DebugEnv,
    agent: Agent,
    *,
    budget: Budget,
    record: Recorder,
    seed: int = 0,
    attempt: int = 1,
    cancelled: Callable[[], bool] = lambda: False,
    past: Sequence[Step] = (),
    as_stored: Callable[[Any], Any] = lambda value: value,
    find_recording: Callable[[RecordingQuery], Sequence[Step]] | None = None,
) -> Outcome:
    """Play one episode to its end, and score its edits, however it ended.

    `past`: the steps of an interrupted episode, the reset included. They are played again and compared with the
    record, but not recorded again; then the episode continues. `as_stored`: converts a text or arguments to what a
    record keeps of them. `find_recording`: see `Briefing`.

    Raises SandboxError and EndpointError if the infrastructure failed: then there is no verdict. Raises ReplayDiffers
    if the past steps came out differently, and PluginError if an agent of another package has a bug.
    """
    referee = Referee(env, budget, record=record, past=past, as_stored=as_stored)
    observation = referee.reset()
    task = env.shown
    briefing = Briefing(
        task_id=task.id,
        statement=task.statement,
        test_command=task.test_command,
        tools=env.tools,
        max_steps=budget.steps,
        seed=seed,
        attempt_seed=seed + attempt - 1,
        remaining_s=None if budget.wall_s is None else lambda: referee.remaining_s() or 0.0,
        find_recording=find_recording,
        files=list_files(task),
        failing_file=find_failing_file(task, observation.state),
        failure_shown=shows_failure(observation.state),
        ends_when_solved=env.ends_when_solved,
        max_tokens=budget.tokens,
        remaining_tokens=None if budget.tokens is None else lambda: referee.remaining_tokens() or 0,
    )
    with _attributing_errors(agent):
        if past:
            agent.recall(past)
        agent.begin(briefing, observation)
    while True:
        reason = referee.stop_reason()
        if not env.over and cancelled():
            reason = StopReason.CANCELLED
        if reason is not None:
            return referee.finish(reason)
        try:
            with _attributing_errors(agent):
                decision = agent.act(observation)
        except MalformedAction as error:
            observation = referee.refuse(error)
        except GaveUp as error:
            return referee.finish(error.reason, str(error))
        except OutOfTime:
            return referee.finish(StopReason.TIME_LIMIT)
        else:
            observation = referee.carry_out(decision)


@contextmanager
def _attributing_errors(agent: Agent) -> Iterator[None]:
    """Raise PluginError for an error that the code of another package raised, and that `Agent` does not allow."""
    package = type(agent).__module__.partition(".")[0]
    try:
        yield
    except StackrankError:
        raise
    except Exception as error:
        modules = [str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__)]
        callers = [name for module in modules if (name := module.partition(".")[0]) in ("stackrank", package)]
        if callers[-1] == "stackrank":
            raise
        name = f"{type(agent).__module__}.{type(agent).__qualname__}"
        raise PluginError(
            f"the agent {name} has a bug ({type(error).__name__}: {error}): mend it, or ask the author of {package}"
        ) from error
