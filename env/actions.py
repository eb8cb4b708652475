"""The input and the output of the environment: actions and observations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stackrank.env.state import NoState, State, read_state


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation:
    """The answer to one action, as text for the reader and as state for the record."""

    text: str
    ok: bool = True
    """False if the tool could not do what was asked. A failing test run is not a failing tool."""
    state: State = field(default_factory=lambda: NoState(kind="none"))
    """The result of the action as data. A plug-in's tool may give a dictionary of its own."""
    env_ms: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", read_state(self.state))
