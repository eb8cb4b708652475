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

    def __add__(self, addend: Usage) -> Usage:
        return Usage(
            self.tokens_in + addend.tokens_in,
            self.tokens_out + addend.tokens_out,
            _add_costs(self.cost_usd, addend.cost_usd),
            self.model_ms + addend.model_ms,
            self.tokens_cached + addend.tokens_cached,
            self.tokens_reasoning + addend.tokens_reasoning,
            self.estimated or addend.estimated,
            self.waited_ms + addend.waited_ms,
        )


def _add_costs(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return None  # one unknown price makes the sum unknown, not small
    # In decimal, as the numbers are written, because sums of binary fractions would be off in the last digit.
    return float(Decimal(repr(first)) + Decimal(repr(second)))


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
