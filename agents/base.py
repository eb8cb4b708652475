"""What an agent is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

from env.actions import Action, Observation
from env.task import Task
from env.tools import ToolSet


@dataclass(frozen=True, slots=True)
class Usage:
    """What one decision cost."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    """None: the model's price is unknown."""
    model_ms: float = 0.0
    tokens_cached: int = 0
    """How many of `tokens_in` came from the endpoint's cache."""
    tokens_reasoning: int = 0
    """How many of `tokens_out` were reasoning that nobody sees."""

    def __add__(self, other: Usage) -> Usage:
        # One unknown price makes the sum unknown, not small.
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            _sum(self.cost_usd or 0.0, other.cost_usd or 0.0) if known else None,
            self.model_ms + other.model_ms,
            self.tokens_cached + other.tokens_cached,
            self.tokens_reasoning + other.tokens_reasoning,
        )


def _sum(one: float, other: float) -> float:
    # As written: sums of binary fractions would be off in the last digit.
    return float(Decimal(repr(one)) + Decimal(repr(other)))


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question to a model and its answer, as they went over the wire, without keys."""

    model: str
    request: dict[str, Any]
    """The parameters, and the messages that are new since the conversation's exchange before; all messages where the
    history was cut before it was asked, which `history_cut_to_tokens` then says."""
    answer: dict[str, Any]
    usage: Usage
    conversation: str = ""
    """Which of an agent's conversations, where it has several."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent wants to do next, and what it cost to find out."""

    action: Action
    thought: str = ""
    usage: Usage = field(default_factory=Usage)
    exchanges: tuple[Exchange, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """A step of an episode that was cut off, as it is stored."""

    action: Action | None
    """None for the reset, and for a step that was malformed."""
    observation: Observation
    exchanges: tuple[Exchange, ...] = ()
    usage: Usage = field(default_factory=Usage)
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Briefing:
    """What an agent is told before its first move."""

    task_id: str
    statement: str
    test_command: str
    tools: ToolSet
    max_steps: int
    seed: int = 0
    """The run's; 0: none was chosen."""
    attempt_seed: int = 0
    """What an agent's choices start from: another one for each attempt, or attempts would repeat each other."""
    left_s: Callable[[], float] | None = None
    """Seconds that the episode has left; None: no limit."""

    @property
    def model_seed(self) -> int:
        """What a model's endpoint is asked to sample from; 0: as it likes."""
        return self.attempt_seed if self.seed else 0

    def deadline(self) -> float | None:
        """When the episode's time will be over, of `time.monotonic`."""
        return None if self.left_s is None else time.monotonic() + self.left_s()


class GaveUp(Exception):
    """The agent has nothing more to try; the message says why."""


class Malformed(Exception):
    """What the agent said is no action; the message is the correction it gets as its next observation."""

    def __init__(
        self, message: str, *, said: str = "", usage: Usage | None = None, exchanges: tuple[Exchange, ...] = ()
    ) -> None:
        """`said`: what the agent said, for the record."""
        super().__init__(message)
        self.said = said
        self.usage = usage or Usage()
        self.exchanges = exchanges


class OutOfTime(Exception):
    """The episode's time was over before the agent had decided."""


class EndpointError(Exception):
    """The model's endpoint failed for good: infrastructure, never the entrant's failure."""


class SetupError(Exception):
    """The agent cannot play at all as configured (no key, unknown model): one sentence with the remedy."""


class AccessError(SetupError):
    """The model's endpoint refuses the key or does not know the model: no other episode can be played either."""


class Agent(Protocol):
    """Plays one episode. A new one is made for each."""

    version: str
    """Changes when the agent's behaviour does; part of the entrant's identity."""

    def recall(self, past: Sequence[Past]) -> None:
        """Told before `begin` when an episode that was cut off is continued.

        `act` will then be asked for every past step again and has to decide as it did, without paying for it again:
        one that asks models answers from the past's exchanges; one that computes has nothing to do here.
        """
        ...

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Learn the task and the first observation: the instructions and the failing tests."""
        ...

    def act(self, observation: Observation) -> Decision:
        """The next action, given the last observation. Raises GaveUp, Malformed, OutOfTime, EndpointError."""
        ...


class AgentFactory(Protocol):
    """Makes an agent for one episode.

    It may have a method `identity(config)`, which leaves out settings that do not change what the agent does: the rest
    is part of the entrant's identity. Its agents may have a method `check()`, which is called once before a run's first
    sandbox is started, and raises SetupError or EndpointError when there is no use in starting it; and `unpriced`, the
    models that it uses and whose price is unknown: a run that may cost so much and no more is not played with them.
    """

    version: str
    needs_model: bool
    knows_fix: bool
    """Whether it is shown the known fix. Only what proves a benchmark is."""

    def __call__(self, *, model: str, config: dict[str, Any], task: Task | None) -> Agent:
        """`task` is given only where `knows_fix`. Raises SetupError."""
        ...
