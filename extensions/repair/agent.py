"""The agent: carries out what the search decides."""

from __future__ import annotations

from collections.abc import Generator

from stackrank.agents.episode.protocol import Agent, Briefing, Decision, GaveUp
from stackrank.env.actions import Observation
from stackrank.extensions.repair.search import Search
from stackrank.extensions.repair.workspace import PlannedStep


class Repair(Agent):
    """Localises, proposes small changes, tries them, keeps what helps."""

    version = "7"
    debuggers = frozenset({"pdb", "trace"})
    needs_tools = ("rewrite", "eval", "view")
    uses_servers = False

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Start from the failing tests."""
        self._plan: Generator[PlannedStep, Observation, None] = Search(briefing, observation).plan()
        self._started = False

    def act(self, observation: Observation) -> Decision:
        """Return the next step of the plan."""
        try:
            action, thought = self._plan.send(observation) if self._started else next(self._plan)
        except StopIteration:
            raise GaveUp("no candidate changes are left") from None
        self._started = True
        return Decision(action, thought)
