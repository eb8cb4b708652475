"""One step of an episode: the record that is played, stored, replayed and shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from stackrank.agents.episode.milestones import Progress
from stackrank.env.actions import Action, Observation


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
    """How many of `tokens_out` were reasoning that the endpoint does not show."""
    estimated: bool = False
    """The endpoint did not count the tokens; they are estimated from the texts."""
    waited_ms: float = 0.0
    """How long the endpoint's limits and failures delayed the answer. No other time includes this."""

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
            self.estimated or other.estimated,
            self.waited_ms + other.waited_ms,
        )


def _sum(one: float, other: float) -> float:
    # In decimal, as the numbers are written, because sums of binary fractions would be off in the last digit.
    return float(Decimal(repr(one)) + Decimal(repr(other)))


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request to a model and its answer, as they went over the wire, without keys."""

    model: str
    request: dict[str, Any]
    """The parameters, and the messages that are new since the last exchange of the conversation. If the history was
    cut before this request, all messages; `history_cut_to_tokens` then says to how many tokens."""
    answer: dict[str, Any]
    usage: Usage
    conversation: str = ""
    """Which of the agent's conversations this belongs to, if it has several."""
    reasoning: str = ""
    """The part of the model's reasoning before the answer that the endpoint shows."""


@dataclass(frozen=True, slots=True)
class Step:
    """One action and its observation. Step 0 is the reset."""

    index: int
    action: Action | None
    """None for the reset, and for a step in which the agent's output was not an action."""
    observation: Observation
    thought: str = ""
    usage: Usage = field(default_factory=Usage)
    exchanges: tuple[Exchange, ...] = ()
    progress: Progress = field(default_factory=Progress)
