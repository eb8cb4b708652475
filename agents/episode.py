"""The episode loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Protocol

from agents.base import Agent, Briefing, Decision, Exchange, GaveUp, Malformed, OutOfTime, Usage
from agents.failure_point import Diagnosis, diagnose
from agents.milestones import Progress, Tracker
from env.actions import Action, Observation
from env.debug_env import DebugEnv
from env.scoring import Score


class StopReason(StrEnum):
    """Why an episode ended."""

    SUBMITTED = "submitted"
    SOLVED = "solved"
    STEP_LIMIT = "step_limit"
    TOKEN_LIMIT = "token_limit"
    COST_LIMIT = "cost_limit"
    TIME_LIMIT = "time_limit"
    AGENT_GAVE_UP = "agent_gave_up"
    MALFORMED_ACTIONS = "malformed_actions"
    CANCELLED = "cancelled"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Budget:
    """When an episode ends at the latest. None: no such limit."""

    steps: int = 50
    tokens: int | None = None
    cost_usd: float | None = None
    wall_s: float | None = 1800.0
    malformed: int = 5
    """Consecutive malformed actions."""
    repeats: int | None = 8
    """Consecutive identical actions with identical observations; the agent counts as having given up."""


@dataclass(frozen=True, slots=True)
class Step:
    """One action and its observation. Index 0 is the reset and has no action."""

    index: int
    action: Action | None
    thought: str
    observation: Observation
    usage: Usage = field(default_factory=Usage)
    exchanges: tuple[Exchange, ...] = ()
    progress: Progress = field(default_factory=Progress)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended."""

    stop_reason: StopReason
    score: Score | None
    """None when it was cancelled before anything could be scored."""
    diagnosis: Diagnosis
    steps: int
    usage: Usage
    by_model: Mapping[str, Usage]
    env_ms: float
    score_ms: float
    wall_s: float


class Recorder(Protocol):
    """Takes each step as it happens."""

    def __call__(self, step: Step, /) -> None:
        """Make the step durable before it returns."""
        ...


class _Totals:
    def __init__(self) -> None:
        self.usage = Usage()
        self.by_model: dict[str, Usage] = {}
        self.env_ms = 0.0

    def add(self, step: Step) -> None:
        self.usage += step.usage
        self.env_ms += step.observation.env_ms
        for each in step.exchanges:
            self.by_model[each.model] = self.by_model.get(each.model, Usage()) + each.usage


def play(
    env: DebugEnv,
    agent: Agent,
    *,
    budget: Budget,
    record: Recorder,
    seed: int = 0,
    cancelled: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Play one episode to its end and take the verdict on what was edited, whatever ended it.

    Raises SandboxError and EndpointError: the infrastructure failed, and there is no verdict.
    """
    started = time.monotonic()
    totals = _Totals()
    observation, _ = env.reset()
    tracker = Tracker(env.task)
    trajectory = [Step(0, None, "", observation, progress=tracker.take(0, observation))]
    totals.add(trajectory[0])
    record(trajectory[0])
    task = env.task
    left_s = None if budget.wall_s is None else partial(_left_s, started, budget.wall_s)
    briefing = Briefing(task.id, task.statement, task.test_command, env.tools, budget.steps, seed, left_s)
    agent.begin(briefing, observation)
    malformed = repeats = 0
    while True:
        reason = _limit(budget, len(trajectory) - 1, totals, started, malformed, repeats)
        if cancelled():
            reason = StopReason.CANCELLED
        if reason is not None:
            break
        try:
            decision = agent.act(observation)
            malformed = 0
        except Malformed as error:
            malformed += 1
            decision = Decision(Action("", {}), error.said, error.usage, error.exchanges)
            observation = Observation(str(error), False, {"malformed": True})
        except GaveUp:
            reason = StopReason.AGENT_GAVE_UP
            break
        except OutOfTime:
            reason = StopReason.TIME_LIMIT
            break
        else:
            before = trajectory[-1]
            observation, _, _, _, _ = env.step(decision.action)
            same = before.action == decision.action and before.observation.text == observation.text
            repeats = repeats + 1 if same else 0
        index = len(trajectory)
        said = (decision.action, decision.thought, observation, decision.usage, decision.exchanges)
        step = Step(index, *said, tracker.take(index, observation))
        trajectory.append(step)
        totals.add(step)
        record(step)
        if env.over:
            reason = StopReason(env.over)
            break
    score = env.score() if reason is not StopReason.CANCELLED else None
    return Outcome(
        stop_reason=reason,
        score=score,
        diagnosis=diagnose(task, trajectory, score, reason),
        steps=len(trajectory) - 1,
        usage=totals.usage,
        by_model=totals.by_model,
        env_ms=totals.env_ms,
        score_ms=env.score_ms,
        wall_s=time.monotonic() - started,
    )


def _left_s(started: float, wall_s: float) -> float:
    return started + wall_s - time.monotonic()


def _limit(
    budget: Budget, steps: int, totals: _Totals, started: float, malformed: int, repeats: int
) -> StopReason | None:
    if malformed >= budget.malformed:
        return StopReason.MALFORMED_ACTIONS
    if budget.repeats is not None and repeats >= budget.repeats:
        return StopReason.AGENT_GAVE_UP
    if steps >= budget.steps:
        return StopReason.STEP_LIMIT
    if budget.tokens is not None and totals.usage.tokens_in + totals.usage.tokens_out >= budget.tokens:
        return StopReason.TOKEN_LIMIT
    if budget.cost_usd is not None and totals.usage.cost_usd is not None and totals.usage.cost_usd >= budget.cost_usd:
        return StopReason.COST_LIMIT
    if budget.wall_s is not None and time.monotonic() - started >= budget.wall_s:
        return StopReason.TIME_LIMIT
    return None
