"""A language model that debugs."""

from __future__ import annotations

from collections import deque
from typing import Any

from agents.base import Briefing, Decision, Malformed, SetupError, Usage
from agents.llm import history, prompting
from agents.llm.endpoint import Call, ChatCompletions, ContextTooLong, Endpoint, Message, Reply
from agents.llm.prices import find_price
from agents.llm.settings import read_settings
from agents.llm.tool_calling import BadCall, ToolCalling, notes
from env.actions import Observation
from env.task import Task

_VALUES = ("tools", "max_steps", "statement", "test_command", "observation")
"""What a template can use."""


class LlmAgent:
    """Asks a model what to do and does it; several calls of one answer are carried out in order."""

    version = f"1+{prompting.digest()}"
    needs_model = True
    knows_fix = False

    def __init__(self, *, model: str, config: dict[str, Any] | None = None, task: Task | None = None) -> None:
        """Asks nothing yet. Raises SetupError: no model, no key, a field that is wrong."""
        if not model:
            raise SetupError("the agent llm needs a model: name one with --model")
        self._settings = read_settings(config or {})
        self._price = find_price(model, self._settings.price)
        for name in ("system", "task"):
            prompting.render(name, getattr(self._settings.prompts, name), **dict.fromkeys(_VALUES, ""))
        self._endpoint: Endpoint = ChatCompletions(model, self._settings)
        self._messages: list[Message] = []
        self._queue: deque[Call] = deque()
        self._open: Call | None = None
        """The call whose result the next observation is."""
        self._waiting = False
        """Whether the next observation is the answer to something the model said."""

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Start the conversation."""
        self._syntax = ToolCalling(briefing.tools)
        self._tools = self._syntax.described()
        seed = self._settings.seed
        self._seed = seed if seed is not None else briefing.seed or None
        own = self._settings.prompts
        given = (notes(briefing.tools), briefing.max_steps, briefing.statement, briefing.test_command, observation.text)
        values = dict(zip(_VALUES, given, strict=True))
        self._messages = [
            {"role": "system", "content": prompting.render("system", own.system, **values)},
            {"role": "user", "content": prompting.render("task", own.task, **values)},
        ]

    def act(self, observation: Observation) -> Decision:
        """The next call. Raises Malformed, EndpointError, SetupError."""
        if self._waiting:
            self._messages.append(self._syntax.answer(self._open, observation))
            self._waiting = False
        usage, thought = Usage(), ""
        if not self._queue:
            reply = self._ask()
            usage, thought = self._usage(reply), reply.text
            self._messages.append(self._syntax.said(reply))
            self._queue.extend(reply.calls)
            if not reply.calls:
                self._open, self._waiting = None, True
                raise Malformed(self._syntax.no_call(reply), said=reply.text, usage=usage)
        self._open, self._waiting = self._queue.popleft(), True
        try:
            action = self._syntax.read(self._open)
        except BadCall as error:
            said = f"{thought}\n{self._open.name}({self._open.arguments})".strip()
            raise Malformed(str(error), said=said, usage=usage) from None
        return Decision(action, thought, usage)

    def _ask(self) -> Reply:
        self._messages = history.shrink(self._messages, self._settings.context_tokens)
        try:
            return self._endpoint.ask(self._messages, self._tools, self._seed)
        except ContextTooLong:
            # The estimate was wrong, or the model's context is smaller than configured: once more, with half.
            half = history.estimate(self._messages) // 2
            self._messages = history.shrink(self._messages, half)
        try:
            return self._endpoint.ask(self._messages, self._tools, self._seed)
        except ContextTooLong as error:
            raise SetupError(
                "the conversation does not fit into the model's context even when it is cut: "
                f"set context_tokens below {half} in the entrant's config ({error})"
            ) from None

    def _usage(self, reply: Reply) -> Usage:
        cost = None
        if self._price is not None:
            cost = self._price.of(reply.tokens_in, reply.tokens_cached, reply.tokens_out)
        return Usage(reply.tokens_in, reply.tokens_out, cost, reply.model_ms, reply.tokens_cached)
