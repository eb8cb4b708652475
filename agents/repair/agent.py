"""The agent: plays what the search decides."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from agents.base import Briefing, Decision, GaveUp, Past, SetupError
from agents.repair.search import Search
from agents.repair.session import Take
from env.actions import Observation
from env.task import Task


class Repair:
    """Localises, proposes small changes, tries them, keeps what helps."""

    version = "1"
    needs_model = False
    knows_fix = False

    def __init__(self, *, model: str = "", config: dict[str, Any] | None = None, task: Task | None = None) -> None:
        """Raises SetupError when something is configured: there is nothing."""
        if config:
            raise SetupError(f"the agent repair has nothing to configure: leave out {', '.join(map(repr, config))}")
        self._plan: Generator[Take, Observation, None] | None = None

    def recall(self, past: Sequence[Past]) -> None:
        """Nothing to remember: the same observations give the same plan."""

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Start from the failing tests."""
        self._plan = Search(briefing, observation).plan()
        self._started = False

    def act(self, observation: Observation) -> Decision:
        """The next step of the plan."""
        assert self._plan is not None, "begin comes first"
        try:
            action, thought = self._plan.send(observation) if self._started else next(self._plan)
        except StopIteration:
            raise GaveUp("every change that the agent can think of has been tried") from None
        self._started = True
        return Decision(action, thought)
