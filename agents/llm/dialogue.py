"""A conversation in which every answer of the model is read as actions."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from stackrank.agents.episode.protocol import MalformedAction
from stackrank.agents.episode.step import Exchange, Usage
from stackrank.agents.llm.conversation import Conversation
from stackrank.agents.llm.settings import Settings
from stackrank.agents.llm.syntaxes.function_calling import FunctionCalling
from stackrank.agents.llm.syntaxes.syntax import BadCall, Syntax
from stackrank.agents.llm.syntaxes.text import FencedText
from stackrank.agents.llm.syntaxes.tool_call import ToolCall
from stackrank.env.actions import Action, Observation
from stackrank.env.tools.base import Described


class Dialogue:
    """Asks a model what to do; several calls of one answer are returned one by one, in order."""

    def __init__(self, model: str, settings: Settings, name: str = "") -> None:
        """Send no request yet. Raises SetupError."""
        self._conversation = Conversation(model, settings, name)
        self._kind: type[FunctionCalling] | type[FencedText] = (
            FencedText if settings.syntax == "text" else FunctionCalling
        )
        self._queue: deque[ToolCall] = deque()
        self._open: ToolCall | None = None
        """The call that the next observation answers."""
        self._waiting = False
        """Whether the next observation is the answer to something the model said."""
        self._note = ""
        """A note to put before the next observation: how the call was understood."""

    def recall(self, past: Iterable[Exchange]) -> None:
        """Take the next answers from these exchanges instead of asking the endpoint."""
        self._conversation.recall(past)

    def syntax(self, tools: Sequence[Described]) -> Syntax:
        """Return the syntax in which the model writes its actions."""
        return self._kind(tools)

    def start(self, syntax: Syntax, system: str, task: str, seed: int) -> None:
        """Start a new conversation."""
        self._syntax = syntax
        self._queue.clear()
        self._waiting = False
        messages = [{"role": "system", "content": system}, {"role": "user", "content": task}]
        self._conversation.start(messages, syntax.describe_tools(), seed)

    def duplicate(self, name: str, number: int) -> Dialogue:
        """Return another dialogue that goes on from here, under another name; see `Conversation.duplicate`."""
        duplicate = copy.copy(self)
        duplicate._conversation = self._conversation.duplicate(name, number)
        duplicate._queue = deque(self._queue)
        return duplicate

    def next(self, observation: Observation) -> tuple[Action, str, tuple[Exchange, ...]]:
        """Return the next action, the thought and the exchanges it took. `observation`: the result of the last action.

        Raises MalformedAction, EndpointError, SetupError.
        """
        self._take_observation(observation)
        exchanges: tuple[Exchange, ...] = ()
        thought = ""
        if not self._queue:
            reply, exchange = self._conversation.ask()
            exchanges, thought = (exchange,), reply.text
            self._conversation.add_answer(reply, self._syntax.trim_text(reply))
            self._queue.extend(self._syntax.find_calls(reply))
            self._waiting = True
            if not self._queue:
                self._open = None
                raise malformed(self._syntax.correct_missing_call(reply), reply.text, exchanges)
        self._open, self._waiting = self._queue.popleft(), True
        try:
            action, self._note = self._syntax.read_action(self._open)
            return action, thought, exchanges
        except BadCall as error:
            output = f"{thought}\n{self._open.name}({self._open.arguments})".strip()
            raise malformed(str(error), output, exchanges) from None

    def refuse_pending_calls(self, observation: Observation, reason: str) -> None:
        """Take the last action's observation, and answer the calls that were not returned yet with `reason`."""
        self._take_observation(observation)
        while self._queue:
            self._conversation.add(self._syntax.write_result(self._queue.popleft(), Observation(reason, False)))

    def _take_observation(self, observation: Observation) -> None:
        if self._waiting:
            annotated = replace(observation, text=f"{self._note}\n{observation.text}") if self._note else observation
            self._conversation.add(self._syntax.write_result(self._open, annotated))
            self._waiting, self._note = False, ""


def malformed(correction: str, output: str, exchanges: tuple[Exchange, ...]) -> MalformedAction:
    """The exception to raise for an answer that is not an action."""
    return MalformedAction(correction, output=output, usage=total(exchanges), exchanges=exchanges)


def total(exchanges: Iterable[Exchange]) -> Usage:
    """The total cost of exchanges."""
    return sum((exchange.usage for exchange in exchanges), Usage())
