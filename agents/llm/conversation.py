"""One conversation with a model: what is said, what it cost, and how it is taken up again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from agents.base import Exchange, SetupError, Usage
from agents.llm import history, limits
from agents.llm.chat import ChatCompletions
from agents.llm.endpoint import ContextTooLong, Endpoint, Message, Reply
from agents.llm.prices import find_price
from agents.llm.responses import Responses, is_reasoning
from agents.llm.settings import Settings

_CUT = "history_cut_to_tokens"


def make_endpoint(model: str, settings: Settings) -> Endpoint:
    """The endpoint as configured. Raises SetupError."""
    if settings.api == "responses" or (settings.api is None and settings.is_openai and is_reasoning(model)):
        return Responses(model, settings)
    return ChatCompletions(model, settings)


class Conversation:
    """A conversation that only grows, but for the rare cuts that keep it within the model's context."""

    def __init__(self, model: str, settings: Settings, name: str = "") -> None:
        """Asks nothing yet. Raises SetupError."""
        self._settings = settings
        self._name = name
        self._price = find_price(model, settings.price)
        self._endpoint = make_endpoint(model, settings)
        self._past: deque[Exchange] = deque()
        self._messages: list[Message] = []
        self._parameters: dict[str, Any] = {}
        self._told: dict[str, Any] = {}
        """What the last exchange recorded of the parameters."""
        self._new = 0
        """The first message that no exchange has recorded."""

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The model, if its price is unknown."""
        return (self._endpoint.model,) if self._price is None else ()

    def recall(self, past: Iterable[Exchange]) -> None:
        """Take the next answers from the exchanges of this conversation among these, before the endpoint is asked."""
        self._past = deque(each for each in past if each.conversation == self._name)

    def check(self) -> None:
        """Whether the endpoint takes the key and knows the model. Raises SetupError, EndpointError."""
        self._endpoint.check()

    def start(self, messages: Iterable[Message], tools: Sequence[dict[str, Any]], seed: int | None) -> None:
        """Begin anew."""
        self._messages = list(messages)
        self._new = 0
        chosen = self._settings.seed
        self._parameters = self._endpoint.parameters(tools, chosen if chosen is not None else seed or None)

    def add(self, message: Message) -> None:
        """Say something; nothing is asked yet."""
        self._messages.append(message)

    def ask(self, deadline: float | None = None) -> tuple[Reply, Exchange]:
        """The model's answer to all that was said. Raises EndpointError, OutOfTime, SetupError."""
        if self._past:
            exchange = self._past.popleft()
            if cut_to := exchange.request.get(_CUT):
                self._messages = history.shrink(self._messages, cut_to)
        else:
            exchange = self._exchange(deadline)
        self._told, self._new = self._parameters, len(self._messages)
        return self._endpoint.read(exchange.answer), exchange

    def _exchange(self, deadline: float | None) -> Exchange:
        cut_to = self._cut(self._settings.context_tokens)
        try:
            answer, model_ms = self._asked(deadline)
        except ContextTooLong:
            # The estimate was wrong, or the model's context is smaller than configured: once more, with half.
            half = history.estimate(self._messages) // 2
            cut_to = self._cut(half) or cut_to
            try:
                answer, model_ms = self._asked(deadline)
            except ContextTooLong as error:
                raise SetupError(
                    "the conversation does not fit into the model's context even when it is cut: "
                    f"set context_tokens below {half} in the entrant's config ({error})"
                ) from None
        return Exchange(
            model=self._endpoint.model,
            request=self._request(cut_to),
            answer=answer,
            usage=self._usage(self._endpoint.read(answer), model_ms),
            conversation=self._name,
        )

    def _asked(self, deadline: float | None) -> tuple[dict[str, Any], float]:
        estimated = history.estimate(self._messages)
        answer, model_ms = self._endpoint.ask(self._parameters, self._messages, deadline, estimated)
        reply = self._endpoint.read(answer)
        limits.of(self._settings).used(estimated, reply.tokens_in + reply.tokens_out)
        return answer, model_ms

    def _cut(self, tokens: int) -> int | None:
        """Cut to that many tokens; None if there was nothing to cut."""
        before = self._messages
        self._messages = history.shrink(before, tokens)
        return None if self._messages is before else tokens

    def _request(self, cut_to: int | None) -> dict[str, Any]:
        """What the record keeps of a request: tools only where they are not those of the exchange before."""
        request = dict(self._parameters)
        if self._told.get("tools") == request.get("tools"):
            request.pop("tools", None)
        new = self._messages
        if cut_to is not None:
            request[_CUT] = cut_to
        else:
            new = new[self._new :]
        return {**request, "messages": self._endpoint.wire(new)}

    def _usage(self, reply: Reply, model_ms: float) -> Usage:
        cost = None
        if self._price is not None:
            cost = self._price.of(reply.tokens_in, reply.tokens_cached, reply.tokens_out)
        return Usage(reply.tokens_in, reply.tokens_out, cost, model_ms, reply.tokens_cached, reply.tokens_reasoning)
