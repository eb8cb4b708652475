"""One conversation with a model: its messages, its cost, and how it is continued after an interruption."""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stackrank.agents.episode.protocol import GaveUp, Setup
from stackrank.agents.episode.step import Exchange, Usage
from stackrank.agents.llm import history
from stackrank.agents.llm.endpoints import limits
from stackrank.agents.llm.endpoints.chat import ChatCompletions
from stackrank.agents.llm.endpoints.endpoint import ContextTooLong, Endpoint, Message, Reply, Timing
from stackrank.agents.llm.endpoints.messages import Messages, is_claude
from stackrank.agents.llm.endpoints.prices import Price, find_price
from stackrank.agents.llm.endpoints.responses import Responses, is_reasoning
from stackrank.agents.llm.scripted.in_process import SCRIPTED, scripted_url
from stackrank.agents.llm.settings import Settings
from stackrank.storable import storable_json
from stackrank.terms import HISTORY_CUT, StopReason

PASSED_ON = "passed_on"
"""Marks a recorded request that the entrant's own program wrote, in another form than ours. It holds the `headers` that
were sent with the request, and `cached`: whether its last message was marked as the end of the cache."""


def make_endpoint(model: str, settings: Settings) -> Endpoint:
    """Return the endpoint that the settings describe. Raises SetupError."""
    if model == SCRIPTED and settings.names_no_endpoint:
        settings = settings.model_copy(update={"base_url": scripted_url()})
    if settings.api is None and is_claude(model) and settings.only_anthropic:
        settings = settings.model_copy(update={"api": "messages"})
    if settings.api == "messages":
        return Messages(model, settings)
    if settings.api == "responses" or (settings.api is None and settings.is_openai and is_reasoning(model)):
        return Responses(model, settings)
    return ChatCompletions(model, settings)


def make_setup(identity: Mapping[str, Any], models: Sequence[tuple[str, Settings]]) -> Setup:
    """Return what a run has to know about an agent that asks these models. Raises SetupError."""
    endpoints = [make_endpoint(model, settings) for model, settings in models]

    def check() -> None:
        for endpoint in endpoints:
            endpoint.check()

    unpriced = tuple(model for model, settings in models if find_price(model, settings.price) is None)
    model_names = tuple(endpoint.model for endpoint in endpoints)
    return Setup(
        identity, tuple(endpoint.settings for endpoint in endpoints), unpriced, check=check, models=model_names
    )


class Conversation:
    """A conversation with a model. It only grows, except when it is cut to stay within the model's context."""

    def __init__(self, model: str, settings: Settings, name: str = "") -> None:
        """Send no request yet. Raises SetupError."""
        self._settings = settings
        self._name = name
        self._price = find_price(model, settings.price)
        self._endpoint = make_endpoint(model, settings)
        self._past: deque[Exchange] = deque()
        self._messages: list[Message] = []
        self._parameters: dict[str, Any] = {}
        self._recorded_parameters: dict[str, Any] = {}
        """The parameters of the last exchange."""
        self._recorded_count = 0
        """Index of the first message that no exchange has recorded yet."""

    def recall(self, past: Iterable[Exchange]) -> None:
        """Take the next answers from this conversation's exchanges in `past` instead of asking the endpoint."""
        self._past = deque(exchange for exchange in past if exchange.conversation == self._name)

    def start(self, messages: Iterable[Message], tools: Sequence[dict[str, Any]], seed: int | None) -> None:
        """Start a new conversation."""
        self._messages = [storable_json(message) for message in messages]
        self._recorded_count = 0
        configured_seed = self._settings.seed
        self._parameters = self._endpoint.parameters(
            tools, configured_seed if configured_seed is not None else seed or None
        )

    def duplicate(self, name: str, number: int) -> Conversation:
        """Return another conversation that goes on from here, under another name.

        Its first exchange records all messages. `number`: added to the seed, if one is sent, so that answers differ.
        """
        duplicate = copy.copy(self)
        duplicate._name, duplicate._past, duplicate._messages = name, deque(), list(self._messages)
        duplicate._recorded_parameters, duplicate._recorded_count = {}, 0
        if "seed" in self._parameters:
            duplicate._parameters = {**self._parameters, "seed": self._parameters["seed"] + number}
        return duplicate

    def add(self, message: Message) -> None:
        """Add a message without asking the model yet."""
        # Kept in its recorded form, so that it can be sent whatever a program printed, and is the same in a replay.
        self._messages.append(storable_json(message))

    def ask(self) -> tuple[Reply, Exchange]:
        """Ask the model to answer the conversation so far. Raises EndpointError, GaveUp, SetupError."""
        if self._past:
            exchange = self._past.popleft()
            if cut_to := exchange.request.get(HISTORY_CUT):
                self._messages = history.shrink(self._messages, cut_to)
        else:
            exchange = self._make_exchange()
        self._endpoint.answers += 1
        self._recorded_parameters, self._recorded_count = self._parameters, len(self._messages)
        return self._endpoint.read(exchange.answer), exchange

    def add_answer(self, reply: Reply, text: str) -> None:
        """Add the model's answer, with its text replaced by `text` if the two differ."""
        message = reply.message
        self.add(message if text == reply.text else self._endpoint.with_text(message, text))

    def _make_exchange(self) -> Exchange:
        uncut = self._messages
        cut_to = self._cut(self._settings.context_tokens)
        try:
            answer, timing = self._send()
        except ContextTooLong:
            # The estimate was wrong, or the model's context is smaller than configured: try once more, with half.
            half = history.estimate_tokens(self._messages) // 2
            # Cut the whole conversation again, so that one number in the record says what was cut.
            self._messages = uncut
            cut_to = self._cut(half)
            try:
                answer, timing = self._send()
            except ContextTooLong as error:
                raise GaveUp(
                    "the conversation does not fit into the model's context even when it is cut: "
                    f"set context_tokens below {half} in the entrant's config ({error})",
                    StopReason.CONTEXT_LIMIT,
                ) from None
        reply = self._endpoint.read(answer)
        return Exchange(
            model=self._endpoint.model,
            request=self._recorded_request(cut_to),
            answer=answer,
            usage=measure_usage(reply, timing, self._price, self._messages, self._parameters),
            conversation=self._name,
            reasoning=reply.reasoning,
        )

    def _send(self) -> tuple[dict[str, Any], Timing]:
        estimated = history.estimate_tokens(self._messages)
        answer, timing = self._endpoint.ask(self._parameters, self._messages, estimated)
        reply = self._endpoint.read(answer)
        limits.of_endpoint(self._settings).correct_estimate(estimated, reply.tokens_in + reply.tokens_out)
        return answer, timing

    def _cut(self, tokens: int) -> int | None:
        """Cut the conversation to `tokens`. Returns None if there was nothing to cut."""
        uncut = self._messages
        self._messages = history.shrink(uncut, tokens)
        return None if self._messages is uncut else tokens

    def _recorded_request(self, cut_to: int | None) -> dict[str, Any]:
        """Return the part of a request that is recorded; tools only if they have changed since the last exchange."""
        request = dict(self._parameters)
        if self._recorded_parameters.get("tools") == request.get("tools"):
            request.pop("tools", None)
        new = self._messages
        if cut_to is not None:
            request[HISTORY_CUT] = cut_to
        else:
            new = new[self._recorded_count :]
        return {**request, "messages": self._endpoint.wire(new)}


def measure_usage(
    reply: Reply, timing: Timing, price: Price | None, messages: list[Message], parameters: Mapping[str, Any]
) -> Usage:
    """Return the usage of an answer; tokens that the endpoint did not count are estimated."""
    tokens_in, tokens_out = reply.tokens_in, reply.tokens_out
    if not reply.counted:
        tokens_in = tokens_in or history.estimate_tokens(messages) + _estimate_tokens(parameters.get("tools"))
        tokens_out = tokens_out or _estimate_tokens(reply.message) + _estimate_tokens(reply.reasoning)
    cost = None
    if price is not None:
        cost = price.of(tokens_in, reply.tokens_cached, tokens_out, reply.tokens_written)
    return Usage(
        tokens_in,
        tokens_out,
        cost,
        timing.model_ms,
        reply.tokens_cached,
        reply.tokens_reasoning,
        estimated=not reply.counted,
        waited_ms=timing.waited_ms,
    )


def _estimate_tokens(content: Any) -> int:
    return int(len(json.dumps(content)) / history.CHARACTERS_PER_TOKEN) if content else 0
