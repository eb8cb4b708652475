"""A model that acts: a conversation in which every answer is read as actions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from agents.base import Exchange, Malformed, Usage
from agents.llm.conversation import Conversation
from agents.llm.endpoint import Call
from agents.llm.settings import Settings
from agents.llm.syntax import BadCall, Syntax
from agents.llm.text import FencedText
from agents.llm.tool_calling import ToolCalling
from env.actions import Action, Observation
from env.tools.base import Described


class Dialogue:
    """Asks a model what to do; several calls of one answer are handed out one by one, in order."""

    def __init__(self, model: str, settings: Settings, name: str = "") -> None:
        """Asks nothing yet. Raises SetupError."""
        self._conversation = Conversation(model, settings, name)
        self._kind: type[ToolCalling] | type[FencedText] = FencedText if settings.syntax == "text" else ToolCalling
        self._queue: deque[Call] = deque()
        self._open: Call | None = None
        """The call whose result the next observation is."""
        self._waiting = False
        """Whether the next observation is the answer to something the model said."""

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The model, if its price is unknown."""
        return self._conversation.unpriced

    def recall(self, past: Iterable[Exchange]) -> None:
        """Take the next answers from these exchanges, before the endpoint is asked."""
        self._conversation.recall(past)

    def check(self) -> None:
        """Whether the endpoint takes the key and knows the model. Raises SetupError, EndpointError."""
        self._conversation.check()

    def syntax(self, tools: Sequence[Described]) -> Syntax:
        """How the model writes its actions."""
        return self._kind(tools)

    def start(self, syntax: Syntax, system: str, task: str, seed: int) -> None:
        """Begin anew."""
        self._syntax = syntax
        self._queue.clear()
        self._waiting = False
        messages = [{"role": "system", "content": system}, {"role": "user", "content": task}]
        self._conversation.start(messages, syntax.described(), seed)

    def next(self, observation: Observation, deadline: float | None) -> tuple[Action, str, tuple[Exchange, ...]]:
        """The next action, what was thought, and what was asked for it; `observation`: what came of the last.

        Raises Malformed, EndpointError, OutOfTime, SetupError.
        """
        if self._waiting:
            self._conversation.add(self._syntax.answer(self._open, observation))
            self._waiting = False
        exchanges: tuple[Exchange, ...] = ()
        thought = ""
        if not self._queue:
            reply, exchange = self._conversation.ask(deadline)
            exchanges, thought = (exchange,), reply.text
            self._conversation.add(self._syntax.said(reply))
            self._queue.extend(self._syntax.calls(reply))
            self._waiting = True
            if not self._queue:
                self._open = None
                raise malformed(self._syntax.no_call(reply), reply.text, exchanges)
        self._open, self._waiting = self._queue.popleft(), True
        try:
            return self._syntax.read(self._open), thought, exchanges
        except BadCall as error:
            said = f"{thought}\n{self._open.name}({self._open.arguments})".strip()
            raise malformed(str(error), said, exchanges) from None


def malformed(correction: str, said: str, exchanges: tuple[Exchange, ...]) -> Malformed:
    """What to raise for an answer that is no action."""
    return Malformed(correction, said=said, usage=total(exchanges), exchanges=exchanges)


def total(exchanges: Iterable[Exchange]) -> Usage:
    """What exchanges cost together."""
    return sum((each.usage for each in exchanges), Usage())
