"""The input and the output of the environment: actions and observations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

from stackrank.env.normalise import normalise
from stackrank.env.state import NoState, State, read_state

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call."""

    tool: str
    """A longer name than any tool has is cut: models write anything, and databases look episodes up by it."""
    arguments: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tool", self.tool[:_LONGEST_NAME])


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

    @property
    def repeatable_text(self) -> str:
        """The text without the state of failures: local variables may differ each time that the tests run."""
        return self.text.removesuffix(str(self.state.get("failure_state") or ""))

    def with_failure_state(self, root: str) -> Observation:
        """Return the observation with the state of failures at the end of its text. `root`: of the workspace."""
        if self.state["kind"] != "tests" or "failure_state" not in self.state:
            return self
        shown = normalise(self.state["failure_state"], root)
        state = cast(State, {**self.state, "failure_state": shown})
        return replace(self, text=f"{self.text}\n\n{shown}", state=state)


def refusal(error: Exception) -> Observation:
    """Return the observation of an action that was refused."""
    text = str(error)
    return Observation(text if text.endswith(("?", ".")) else f"{text}.", False)
