"""A language model that debugs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.base import Briefing, Decision, Past, SetupError
from agents.llm.dialogue import Dialogue, total
from agents.llm.prompting import Prompts, digest, notes
from agents.llm.settings import Settings, identity, read_settings
from env.actions import Observation
from env.task import Task
from env.tools import find_tool

_PROMPTS = ("system", "task")


class LlmAgent:
    """Asks a model what to do and does it; several calls of one answer are carried out in order."""

    version = f"2+{digest(*_PROMPTS, 'text')}"
    needs_model = True
    knows_fix = False
    identity = staticmethod(identity)

    def __init__(self, *, model: str, config: dict[str, Any] | None = None, task: Task | None = None) -> None:
        """Asks nothing yet. Raises SetupError: no model, no key, a field that is wrong."""
        if not model:
            raise SetupError("the agent llm needs a model: name one with --model")
        settings = read_settings(config or {}, Settings)
        self.endpoints = (settings,)
        self._prompts = Prompts(_PROMPTS, settings.prompts)
        self._dialogue = Dialogue(model, settings)
        self.unpriced = self._dialogue.unpriced

    def recall(self, past: Sequence[Past]) -> None:
        """Take the answers to the next questions from the past steps."""
        self._dialogue.recall(each for step in past for each in step.exchanges)

    def check(self) -> None:
        """Whether the endpoint takes the key and knows the model. Raises SetupError, EndpointError."""
        self._dialogue.check()

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Start the conversation."""
        self._briefing = briefing
        syntax = self._dialogue.syntax([find_tool(name) for name in briefing.tools.tools])
        values = {
            "tools": notes(briefing.tools),
            "syntax": syntax.help(),
            "max_steps": briefing.max_steps,
            "statement": briefing.statement,
            "test_command": briefing.test_command,
            "observation": syntax.opening(observation),
        }
        system, task = (self._prompts.render(name, **values) for name in _PROMPTS)
        self._dialogue.start(syntax, system, task, briefing.model_seed)

    def act(self, observation: Observation) -> Decision:
        """The next call. Raises Malformed, EndpointError, OutOfTime, SetupError."""
        action, thought, exchanges = self._dialogue.next(observation, self._briefing.deadline())
        return Decision(action, thought, total(exchanges), exchanges)
