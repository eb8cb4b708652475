"""The episode loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stackrank.agents.episode.protocol import Agent, Briefing, GaveUp, Malformed, OutOfTime, Recording
from stackrank.agents.episode.referee import Budget, Outcome, Recorder, Referee, ReplayDiffers
from stackrank.agents.episode.step import Step
from stackrank.agents.episode.workspace import failing_file, listing
from stackrank.env.debug_env import DebugEnv
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
    find_recording: Callable[[Recording], Sequence[Step]] | None = None,
) -> Outcome:
    """Play one episode to its end and take the verdict on what was edited, whatever ended it.

    `past`: the steps so far of an episode that was cut off, the reset included. They are carried out again and
    checked, but not recorded again; then the episode goes on. `as_stored`: converts a text or arguments to what a
    record keeps of them, which need not be all. `find_recording`: see `Briefing`.

    Raises SandboxError and EndpointError if the infrastructure failed: then there is no verdict. Raises ReplayDiffers
    if the past could not be repeated.
    """
    referee = Referee(env, budget, record=record, past=past, as_stored=as_stored)
    observation = referee.reset()
    task = env.shown
    about = (task.id, task.statement, task.test_command, env.tools, budget.steps)
    briefing = Briefing(
        *about,
        seed=seed,
        attempt_seed=seed + attempt - 1,
        left_s=None if budget.wall_s is None else lambda: referee.left_s() or 0.0,
        find_recording=find_recording,
        files=listing(task),
        failing_file=failing_file(task, observation.state),
        ends_when_solved=env.ends_when_solved,
    )
    if past:
        agent.recall(past)
    agent.begin(briefing, observation)
    while True:
        reason = referee.over()
        if not env.over and cancelled():
            reason = StopReason.CANCELLED
        if reason is not None:
            return referee.finish(reason)
        try:
            decision = agent.act(observation)
        except Malformed as error:
            observation = referee.refuse(error)
        except GaveUp as error:
            return referee.finish(error.reason, str(error))
        except OutOfTime:
            return referee.finish(StopReason.TIME_LIMIT)
        else:
            observation = referee.carry_out(decision)
