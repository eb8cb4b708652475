"""The referee: enforces the rules of one episode, whoever decides on the actions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from stackrank import awake
from stackrank.agents.episode.failure_point import Diagnosis, diagnose
from stackrank.agents.episode.milestones import Tracker
from stackrank.agents.episode.protocol import Decision, Malformed
from stackrank.agents.episode.step import Step, Usage
from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Changes
from stackrank.env.scoring.judge import Score
from stackrank.env.state import MalformedState
from stackrank.errors import StackrankError
from stackrank.terms import StopReason


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


class Recorder(Protocol):
    """Takes each step as it happens."""

    def __call__(self, step: Step, /) -> None:
        """Make the step durable before it returns."""
        ...


class ReplayDiffers(StackrankError):
    """An interrupted episode cannot be continued, because its past came out differently. The message says where."""

    def __init__(self, index: int, what: str) -> None:
        super().__init__(f"the episode was cut off and could not be continued: at step {index} {what}")


_NO_ACTION = Action("", {})


def _as_is(value: Any) -> Any:
    return value


def _nowhere(step: Step) -> None:
    """A recorder that keeps nothing."""


class Referee:
    """Carries out decisions, records them, and knows when the episode is over and how it ended.

    `loop.play` asks an agent for decisions. Callers that decide by themselves pass decisions in one by one: `reset`,
    then `carry_out` or `refuse` while `over` gives no reason, then `finish`. Not thread-safe.
    """

    def __init__(
        self,
        env: DebugEnv,
        budget: Budget,
        *,
        record: Recorder = _nowhere,
        past: Sequence[Step] = (),
        as_stored: Callable[[Any], Any] = _as_is,
    ) -> None:
        """`past` and `as_stored`: see `loop.play`."""
        self._env = env
        self._budget = budget
        self._record = record
        self._past = past
        self._as_stored = as_stored
        self._clock = _Clock(past)
        self._totals = _Totals()
        self._malformed = self._repeats = 0
        self.tracker = Tracker(env.shown)
        """How far the episode has come."""
        self.steps: list[Step] = []
        """The trajectory so far, the reset included."""

    def reset(self) -> Observation:
        """Begin the episode. Raises SandboxError."""
        observation, _ = self._env.reset()
        self._take(None, observation)
        return observation

    def left_s(self) -> float | None:
        """Return the seconds that the episode has left; None: no limit."""
        return None if self._budget.wall_s is None else self._budget.wall_s - self._clock.elapsed_s()

    def over(self) -> StopReason | None:
        """Return why the episode is over, because of an action or of a limit. None: it goes on."""
        if self._env.over:
            return StopReason(self._env.over)
        counts = (len(self.steps) - 1, self._totals, self._clock.elapsed_s(), self._malformed, self._repeats)
        return _limit(self._budget, *counts)

    def carry_out(self, decision: Decision) -> Observation:
        """Take one step. Raises SandboxError, ReplayDiffers."""
        self._malformed = 0
        before = self.steps[-1]
        # The recorded action is the one carried out, or else it could not be repeated.
        action = decision.action
        action = Action(self._as_stored(action.tool), self._as_stored(action.arguments))
        decision = replace(decision, action=action)
        observation, _, _, _, _ = self._env.step(action)
        same = before.action == decision.action and before.observation.text == observation.text
        self._repeats = self._repeats + 1 if same else 0
        self._take(decision, observation)
        return observation

    def refuse(self, error: Malformed) -> Observation:
        """Take a step in which nothing is done, because the output is not an action. Raises ReplayDiffers."""
        self._malformed += 1
        observation = Observation(str(error), False, MalformedState(kind="malformed", malformed=True))
        self._take(Decision(_NO_ACTION, error.said, error.usage, error.exchanges), observation)
        return observation

    def finish(self, reason: StopReason, last_words: str = "") -> Outcome:
        """Take the verdict on the edits, whatever ended the episode; a cancelled episode gets none.

        `last_words`: why the agent did not go on. Raises SandboxError. Raises ReplayDiffers if the episode ended before
        its past did.
        """
        env = self._env
        if len(self.steps) < len(self._past) and reason is not StopReason.CANCELLED:
            raise ReplayDiffers(len(self.steps), f"the episode ended before it ({reason})")
        score = env.score() if reason is not StopReason.CANCELLED else None
        if score is not None and last_words:
            score = replace(score, notes=(*score.notes, f"the agent did not go on: {last_words}"))
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
        )

    def _take(self, decision: Decision | None, observation: Observation) -> None:
        index = len(self.steps)
        progress = self.tracker.take(index, observation)
        if decision is None:
            step = Step(index, None, observation, progress=progress)
        else:
            said = (decision.thought, decision.usage, decision.exchanges)
            step = Step(index, decision.action if decision.action.tool else None, observation, *said, progress)
        past = self._past
        if index < len(past):
            step = _repeated(step, past[index], self._as_stored)
        self.steps.append(step)
        self._totals.add(step)
        if index >= len(past):
            self._clock.give_back(step.usage.waited_ms / 1000)
            began = awake.now()
            self._record(step)
            self._clock.give_back(awake.now() - began)
        elif index == len(past) - 1:
            self._clock.go_on()


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


def _repeated(step: Step, past: Step, as_stored: Callable[[Any], Any]) -> Step:
    """Return the step as it is stored. Raises ReplayDiffers if it is not the same again."""
    action, seen = step.action or _NO_ACTION, step.observation
    before = past.action or _NO_ACTION
    if (as_stored(action.tool), _as_json(as_stored(action.arguments))) != (before.tool, _as_json(before.arguments)):
        raise ReplayDiffers(
            step.index, f"the agent chose {action.tool or 'nothing'}, before {before.tool or 'nothing'}"
        )
    if (as_stored(seen.text), seen.ok) != (past.observation.text, past.observation.ok):
        raise ReplayDiffers(step.index, f"{action.tool or 'the reset'} gave another observation")
    return replace(step, observation=past.observation, usage=past.usage, exchanges=past.exchanges)


def _as_json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True, default=str)  # in JSON, tuples are lists


class _Clock:
    """Measures the seconds that an episode took. Its past counts as it was then; its repetition does not count.

    Time that a request waited for its endpoint, or a step for the database, does not count either: neither the agent
    nor its model took that time.
    """

    def __init__(self, past: Sequence[Step]) -> None:
        self._before_s = sum(each.observation.env_ms + each.usage.model_ms for each in past) / 1000
        self._repeating = bool(past)
        self._since = awake.now()

    def go_on(self) -> None:
        """Start the clock: the recorded steps have been repeated."""
        self._repeating, self._since = False, awake.now()

    def give_back(self, seconds: float) -> None:
        """Do not count this part of the time since the start."""
        self._since += seconds

    def elapsed_s(self) -> float:
        """Return the seconds so far; zero while the past is repeated, which was within the limit then."""
        return 0.0 if self._repeating else self._before_s + awake.now() - self._since


def _limit(
    budget: Budget, steps: int, totals: _Totals, elapsed_s: float, malformed: int, repeats: int
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
    if budget.wall_s is not None and elapsed_s >= budget.wall_s:
        return StopReason.TIME_LIMIT
    return None
