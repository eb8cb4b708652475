"""What an agent is."""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent wants to do next, and what it cost to find out."""

    action: Action
    thought: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Briefing:
    """What an agent is told before its first move."""

    task_id: str
    statement: str
    test_command: str
    tools: ToolSet
    max_steps: int
    seed: int = 0


class GaveUp(Exception):
    """The agent has nothing more to try; the message says why."""


class Malformed(Exception):
    """What the agent said is no action; the message is the correction it gets as its next observation."""

    def __init__(self, message: str, *, said: str = "", usage: Usage | None = None) -> None:
        """`said`: what the agent said, for the record."""
        super().__init__(message)
        self.said = said
        self.usage = usage or Usage()


class EndpointError(Exception):
    """The model's endpoint failed for good: infrastructure, never the entrant's failure."""


class SetupError(Exception):
    """The agent cannot play at all as configured (no key, unknown model): one sentence with the remedy."""


class Agent(Protocol):
    """Plays one episode. A new one is made for each."""

    version: str
    """Changes when the agent's behaviour does; part of the entrant's identity."""

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Learn the task and the first observation: the instructions and the failing tests."""
        ...

    def act(self, observation: Observation) -> Decision:
        """The next action, given the last observation. Raises GaveUp, Malformed, EndpointError."""
        ...


class AgentFactory(Protocol):
    """Makes an agent for one episode."""

    version: str
    needs_model: bool
    knows_fix: bool
    """Whether it is shown the known fix. Only what proves a benchmark is."""

    def __call__(self, *, model: str, config: dict[str, Any], task: Task | None) -> Agent:
        """`task` is given only where `knows_fix`. Raises SetupError."""
        ...
