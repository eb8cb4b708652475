"""The referee: enforces the rules of one episode."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Protocol

from stackrank.agents.episode.failure_point import Diagnosis, diagnose
from stackrank.agents.episode.mending import JudgedFault, judged_faults
from stackrank.agents.episode.milestones import MilestoneTracker
from stackrank.agents.episode.protocol import Decision, MalformedAction
from stackrank.agents.episode.step import Step, Usage
from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Changes
from stackrank.env.scoring.judge import Score
from stackrank.env.state import MalformedState
from stackrank.errors import StackrankError
from stackrank.host import awake
from stackrank.terms import StopReason

_NO_ACTION = Action("", {})


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits that end an episode. None: no such limit.

    The step that reaches a limit is carried out; no step begins after it.
    """

    steps: int = 50
    tokens: int | None = None
    cost_usd: float | None = None
    wall_s: float | None = 1800.0
    malformed: int = 5
    """Consecutive malformed actions."""
    repeats: int | None = 8
    """Consecutive identical actions with identical observations; the agent counts as having given up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended."""

    stop_reason: StopReason
    score: Score | None
    """None if the episode was cancelled before anything could be scored."""
    diagnosis: Diagnosis
    steps: int
    usage: Usage
    by_model: Mapping[str, Usage]
    env_ms: float
    score_ms: float
    wall_s: float
    changes: Changes | None = None
    """The changes that were scored; None if nothing was left of the workspace."""
    faults: tuple[JudgedFault, ...] = ()
    """The faults of a task with several; empty if it has one."""


class Recorder(Protocol):
    """Takes each step as it happens."""

    def __call__(self, step: Step, /) -> None:
        """Make the step durable before it returns."""
        ...


class ReplayDiffers(StackrankError):
    """An interrupted episode cannot be continued, because its past steps came out differently."""

    def __init__(self, index: int, difference: str) -> None:
        super().__init__(f"the interrupted episode could not be continued: at step {index} {difference}")
        self.index, self.difference = index, difference


def _discard(step: Step) -> None:
    """Record nothing."""


class Referee:
    """Carries out decisions, records them, and knows when the episode is over and how it ended.

    `loop.play` asks an agent for decisions. Callers that decide by themselves pass decisions in one by one: `reset`,
    then `carry_out` or `refuse` while `stop_reason` returns None, then `finish`. Not thread-safe.
    """

    def __init__(
        self,
        env: DebugEnv,
        budget: Budget,
        *,
        record: Recorder = _discard,
        past: Sequence[Step] = (),
        as_stored: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        """`past` and `as_stored`: see `loop.play`."""
        self._env = env
        self._budget = budget
        self._record = record
        self._past = past
        self._as_stored = as_stored
        self._clock = _Clock(past)
        self._totals = _Totals()
        self.tracker = MilestoneTracker(env.shown)
        """How far the episode has come."""
        self.steps: list[Step] = []
        """The trajectory so far, the reset included."""

    def reset(self) -> Observation:
        """Begin the episode; its time counts from the first observation. Raises SandboxError."""
        observation, _ = self._env.reset()
        if not self._past:
            self._clock.start()
        self._add_step(None, observation)
        return observation

    def recall(self, step: Step) -> None:
        """Take the next step of the past over, the reset included: a branch of an episode stands after it already."""
        self.tracker.observe(step.index, step.observation)
        self.steps.append(step)
        self._totals.add(step)
        if step.index == len(self._past) - 1:
            self._clock.start()

    def remaining_s(self) -> float | None:
        """Return the seconds that remain of the episode; None: no limit."""
        return None if self._budget.wall_s is None else self._budget.wall_s - self._clock.elapsed_s()

    def remaining_tokens(self) -> int | None:
        """Return how many tokens remain of the episode, at least 0; None: no limit."""
        used = self._totals.usage.tokens_in + self._totals.usage.tokens_out
        return None if self._budget.tokens is None else max(self._budget.tokens - used, 0)

    def pause(self) -> None:
        """Stop the clock until the next step, for somebody whose time to decide does not count."""
        self._clock.pause()

    def stop_reason(self) -> StopReason | None:
        """Return why the episode is over, because of an action or of a limit; None if it is not over."""
        if self._env.over:
            return StopReason(self._env.over)
        budget, usage = self._budget, self._totals.usage
        if self._count_last(_is_malformed) >= budget.malformed:
            return StopReason.MALFORMED_ACTIONS
        if budget.repeats is not None and self._count_last(self._is_repeat) >= budget.repeats:
            return StopReason.AGENT_GAVE_UP
        if len(self.steps) - 1 >= budget.steps:
            return StopReason.STEP_LIMIT
        if self.remaining_tokens() == 0:
            return StopReason.TOKEN_LIMIT
        if budget.cost_usd is not None and usage.cost_usd is not None and usage.cost_usd >= budget.cost_usd:
            return StopReason.COST_LIMIT
        if budget.wall_s is not None and self._clock.elapsed_s() >= budget.wall_s:
            return StopReason.TIME_LIMIT
        return None

    def carry_out(self, decision: Decision) -> Observation:
        """Take one step. Raises SandboxError, ReplayDiffers."""
        self._clock.resume()
        # The recorded action is the one carried out, or else it could not be repeated.
        action = Action(self._as_stored(decision.action.tool), self._as_stored(decision.action.arguments))
        observation, *_ = self._env.step(action)
        self._add_step(replace(decision, action=action), observation)
        return observation

    def refuse(self, error: MalformedAction) -> Observation:
        """Take a step in which nothing is done, because the output is not an action. Raises ReplayDiffers."""
        self._clock.resume()
        observation = Observation(str(error), False, MalformedState(kind="malformed", malformed=True))
        self._env.skip(observation)
        self._add_step(Decision(_NO_ACTION, error.output, error.usage, error.exchanges), observation)
        return observation

    def finish(self, reason: StopReason, explanation: str = "") -> Outcome:
        """Score the edits, however the episode ended; a cancelled episode gets no score.

        `explanation`: why the agent stopped, in its own words. Raises SandboxError. Raises ReplayDiffers if the episode
        ended before all past steps were repeated.
        """
        env = self._env
        is_cancelled = reason is StopReason.CANCELLED
        if len(self.steps) < len(self._past) and not is_cancelled:
            raise ReplayDiffers(len(self.steps), f"the episode was already over ({reason})")
        score = None if is_cancelled else env.score()
        if score is not None and explanation:
            score = replace(score, notes=(*score.notes, f"the agent stopped: {explanation}"))
        return Outcome(
            stop_reason=reason,
            score=score,
            diagnosis=diagnose(env.shown, self.steps, score, reason),
            steps=len(self.steps) - 1,
            usage=self._totals.usage,
            by_model=self._totals.by_model,
            env_ms=self._totals.env_ms,
            score_ms=env.score_ms,
            wall_s=self._clock.elapsed_s(),
            changes=env.changes,
            faults=judged_faults(env.task, self.steps, score) if score is not None else (),
        )

    def _count_last(self, has_property: Callable[[Step], bool]) -> int:
        """Count the steps at the end that have a property."""
        return sum(1 for _ in takewhile(has_property, reversed(self.steps)))

    def _is_repeat(self, step: Step) -> bool:
        if step.action is None:
            return False
        previous = self.steps[step.index - 1]
        return previous.action == step.action and previous.observation.text == step.observation.text

    def _add_step(self, decision: Decision | None, observation: Observation) -> None:
        index = len(self.steps)
        progress = self.tracker.observe(index, observation)
        if decision is None:
            step = Step(index, None, observation, progress=progress)
        else:
            action = decision.action if decision.action.tool else None
            step = Step(index, action, observation, decision.thought, decision.usage, decision.exchanges, progress)
        is_past = index < len(self._past)
        if is_past:
            step = _check_repetition(step, self._past[index], self._as_stored)
        self.steps.append(step)
        self._totals.add(step)
        if not is_past:
            self._clock.exclude(step.usage.waited_ms / 1000)
            recording_started = awake.now()
            self._record(step)
            self._clock.exclude(awake.now() - recording_started)
        elif index == len(self._past) - 1:
            self._clock.start()


def _is_malformed(step: Step) -> bool:
    return step.observation.state["kind"] == "malformed"


def _check_repetition(step: Step, past: Step, as_stored: Callable[[Any], Any]) -> Step:
    """Return the step with the costs of its record. Raises ReplayDiffers if it is not the same as the record."""
    action, past_action = step.action or _NO_ACTION, past.action or _NO_ACTION
    arguments = _to_json(as_stored(action.arguments))
    if (as_stored(action.tool), arguments) != (past_action.tool, _to_json(past_action.arguments)):
        difference = f"the agent chose {action.tool or 'no action'} instead of {past_action.tool or 'no action'}"
        if action.tool == past_action.tool:
            difference = f"the agent called {action.tool} with other arguments"
        raise ReplayDiffers(step.index, difference)
    text, past_text = as_stored(step.observation.repeatable_text), past.observation.repeatable_text
    if (text, step.observation.ok) != (past_text, past.observation.ok):
        raise ReplayDiffers(step.index, f"the observation of {action.tool or 'the reset'} differs from the record")
    return replace(step, observation=past.observation, usage=past.usage, exchanges=past.exchanges)


def _to_json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True, default=str)  # in JSON, tuples are lists


class _Totals:
    """The sums over an episode's steps."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.by_model: dict[str, Usage] = {}
        self.env_ms = 0.0

    def add(self, step: Step) -> None:
        self.usage += step.usage
        self.env_ms += step.observation.env_ms
        for exchange in step.exchanges:
            self.by_model[exchange.model] = self.by_model.get(exchange.model, Usage()) + exchange.usage


class _Clock:
    """Measures the seconds that an episode took. Its past counts as it was then; its repetition does not count.

    Time in which the first sandbox was prepared, a request waited for its endpoint, or a step for the database, does
    not count either: neither the agent nor its model took that time.
    """

    def __init__(self, past: Sequence[Step]) -> None:
        self._past_s = sum(step.observation.env_ms + step.usage.model_ms for step in past[1:]) / 1000
        self._is_standing = True
        self._started = 0.0
        self._paused: float | None = None

    def start(self) -> None:
        """Start the clock: the sandbox is ready, and the past steps have been repeated."""
        self._is_standing, self._started = False, awake.now()

    def exclude(self, seconds: float) -> None:
        """Do not count this part of the time since the start."""
        self._started += seconds

    def pause(self) -> None:
        """Stop until `resume`."""
        self._paused = awake.now()

    def resume(self) -> None:
        """Go on after `pause`; does nothing if that was not called."""
        if self._paused is not None:
            self.exclude(awake.now() - self._paused)
            self._paused = None

    def elapsed_s(self) -> float:
        """Return the seconds so far; zero before the start, since the past was within the limit then."""
        now = awake.now() if self._paused is None else self._paused
        return 0.0 if self._is_standing else self._past_s + now - self._started
