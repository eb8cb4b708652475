"""`oracle`: the agent that knows the fix. It proves that a benchmark can be solved and that the scorer sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stackrank.agents.episode.protocol import Agent, Briefing, Decision, GaveUp, SetupError
from stackrank.env.actions import Action, Observation
from stackrank.env.patches import apply_patch
from stackrank.env.task import Task


class Oracle(Agent):
    """Applies the known fix through the ordinary tools, then submits."""

    version = "1"
    knows_fix = True
    reference = True
    needs_tools = ("rewrite",)
    uses_servers = False

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Raises SetupError when the task has no known fix."""
        super().__init__(config=config)
        if task is None or not task.fix:
            raise SetupError(f"the oracle needs a known fix, and {task.id if task else 'the task'} has none")
        self._task = task
        self._actions: Iterator[Action] = iter(())

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Work out the edits."""
        fixed = apply_patch(self._task.files, self._task.fix)
        actions = []
        for path, content in fixed.items():
            if self._task.files.get(path) != content:
                actions.append(Action("rewrite", {"path": path, "new_code": content.decode()}))
        for path in self._task.files:
            if path not in fixed:
                actions.append(Action("rewrite", {"path": path, "new_code": ""}))
        last = "eval" if "eval" in briefing.tools.tools else "submit"
        self._actions = iter([*actions, Action(last), Action("submit")])

    def act(self, observation: Observation) -> Decision:
        """Return the next edit."""
        for action in self._actions:
            return Decision(action)
        raise GaveUp("the known fix has been applied and submitted")
