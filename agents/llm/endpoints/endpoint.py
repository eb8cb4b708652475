"""A model's endpoint: one request, one answer, for every API."""

from __future__ import annotations

import json
import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlsplit

from stackrank.agents.episode.protocol import (
    AccessError,
    EndpointDown,
    EndpointError,
    GaveUp,
    SetupError,
    model_at,
)
from stackrank.agents.llm.endpoints import limits, retries
from stackrank.agents.llm.endpoints.client import make_client
from stackrank.agents.llm.endpoints.transport import Failed, Garbled, make_failure
from stackrank.agents.llm.settings import PLACEHOLDERS, Settings
from stackrank.agents.llm.syntaxes.tool_call import ToolCall
from stackrank.errors import StackrankError
from stackrank.host import awake
from stackrank.storable import storable_json
from stackrank.terms import StopReason
from stackrank.wording import count_of

_CHECK_TIMEOUT_S = 60.0
_CHECK_TOKENS = 16
"""The smallest limit that every API accepts."""
_MOST_TOKENS = 10**7
"""More than any request or answer has; a larger count of an endpoint is wrong. A step may have hundreds of requests."""
_BAD_REQUEST = (400, 422)
"""HTTP statuses of a request that the endpoint does not understand."""

_TOO_MANY_REQUESTS = 429
"""The HTTP status of too many requests: not the fault of this request, even if others are answered."""

Message = dict[str, Any]
"""A message of a conversation, in the form of Chat Completions; the model's answers keep the form of their own API."""
EMPTY_TEXT = "(nothing)"
"""Stands for an empty answer: servers refuse a message without any content."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer, in the same form for every API."""

    text: str
    message: Message = field(default_factory=dict)
    """The answer as it is sent back: with every field that it had, since reasoning models continue their reasoning.
    Only what a server would refuse is repaired: the name of a tool, arguments that are not JSON."""
    reasoning: str = ""
    """The part of the model's reasoning that the endpoint shows."""
    calls: tuple[ToolCall, ...] = ()
    cut_off: bool = False
    """Whether the answer ended because it reached its greatest length."""
    tokens_in: int = 0
    tokens_cached: int = 0
    """How many of `tokens_in` came from the endpoint's cache."""
    tokens_out: int = 0
    """Includes `tokens_reasoning`."""
    tokens_reasoning: int = 0
    tokens_written: int = 0
    """How many of `tokens_in` were written into the endpoint's cache, if that has a price."""

    @property
    def counted(self) -> bool:
        """Whether the endpoint counted the tokens of the request and of the answer."""
        return bool(self.tokens_in and (self.tokens_out or not (self.text or self.reasoning or self.calls)))

    def __post_init__(self) -> None:
        """Raises TypeError for an answer whose texts are not strings, as servers sometimes send."""
        if not isinstance(self.text, str) or not isinstance(self.reasoning, str):
            raise TypeError("what a model says is a text")


WITHHELD = "(the endpoint's content filter withheld this answer)"


def count(usage: Any, *names: str) -> int:
    """Return the number of tokens at this path in an answer's usage; 0 if there is no number."""
    for name in names:
        usage = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(usage, float) and usage.is_integer():
        usage = int(usage)
    number = isinstance(usage, int) and not isinstance(usage, bool)
    return usage if number and 0 <= usage <= _MOST_TOKENS else 0


def count_in(usage: Any, name: str) -> tuple[int, int]:
    """Return how many tokens a request had, by the field's name in the usage, and how many came from the cache. Some
    servers leave the latter out of the former."""
    tokens, cached = count(usage, name), count(usage, f"{name}_details", "cached_tokens")
    return (tokens if cached <= tokens else tokens + cached), cached


@dataclass(frozen=True, slots=True)
class Timing:
    """How the time for an answer was spent."""

    model_ms: float
    """Time of the try that was answered."""
    waited_ms: float
    """Time before that try: waiting for the endpoint's limits, and tries that failed."""


class ContextTooLong(StackrankError):
    """The conversation does not fit into the model's context."""


class Rejected(StackrankError):
    """A request that another program wrote is invalid: the endpoint answers other requests."""

    def __init__(self, message: str, status: int | None) -> None:
        """`status`: the HTTP status; None if the endpoint's answer cannot be read, or did not come in time."""
        super().__init__(message)
        self.status = status


class Endpoint(ABC):
    """A model that can be asked. Each API is a subclass."""

    path: str
    conversation_name: str
    """What the conversation is called in a request."""
    answer_name: str
    """The field that every answer has."""
    stream_options: ClassVar[Mapping[str, Any]] = {}
    """Further fields of a request for a stream."""
    default_fields: ClassVar[frozenset[str]] = frozenset()
    """Fields that `parameters` sets by itself: a program that writes its own requests decides on these itself."""

    def __init__(self, model: str, settings: Settings) -> None:
        """Send no request yet. Raises SetupError without a key."""
        self.model = model
        self.settings = settings
        self._key = settings.api_key()
        self._secrets = settings.secrets()
        password = urlsplit(settings.url).password or ""
        self._masked = [secret for secret in (self._key, password, *self._secrets.values()) if _is_secret(secret)]
        self._client = make_client(settings, self._key)
        self.answers = 0
        """Answers in this conversation so far. After the first, a refusal is hardly about the settings."""

    @property
    @abstractmethod
    def max_tokens_field(self) -> str:
        """The parameter for the most tokens of an answer."""

    @abstractmethod
    def parameters(self, tools: Sequence[dict[str, Any]], seed: int | None) -> dict[str, Any]:
        """Return a request's fields except the conversation. `tools`: name, description, parameters (JSON schema)."""

    @classmethod
    @abstractmethod
    def wire(cls, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Return the messages in the API's own form, in which they are sent."""

    @classmethod
    @abstractmethod
    def reply(cls, answer: dict[str, Any], verbatim: bool = True) -> Reply:
        """Parse an answer. Raises Garbled, LookupError, TypeError or AttributeError if it is not a valid one."""

    def read(self, answer: dict[str, Any]) -> Reply:
        """Parse an answer, with its message in the form that the settings ask for. Raises as `reply` does."""
        return self.reply(answer, self.settings.verbatim)

    @abstractmethod
    def join_stream(self, events: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Assemble a streamed answer from its events. Raises as `read` does."""

    @abstractmethod
    def with_text(self, message: Message, text: str) -> Message:
        """Return the model's message with this text and without tool calls; its reasoning stays."""

    @classmethod
    def extend_wire(cls, wire: list[dict[str, Any]], addition: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Append `addition` to a conversation in wire form, as `wire` would for all messages at once."""
        return [*wire, *addition]

    @classmethod
    def body(cls, parameters: Mapping[str, Any], wire: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a request as it is sent."""
        return {**parameters, cls.conversation_name: wire}

    def ask(
        self,
        parameters: dict[str, Any],
        messages: Sequence[Message],
        tokens: int = 0,
        *,
        foreign: Mapping[str, str] | None = None,
    ) -> tuple[dict[str, Any], Timing]:
        """Return one answer, and how long it took; temporary failures are tried again.

        `tokens`: roughly how many the request has, for the limits per minute. `foreign`: the headers of a request
        that another program wrote; its `messages` are sent unchanged. Raises ContextTooLong, GaveUp, EndpointError,
        SetupError; Rejected for a foreign request that is invalid.
        """
        started = try_started = awake.now()
        failing = math.inf
        tries = 0
        shared = limits.of_endpoint(self.settings)
        request = (
            self.body(parameters, self.wire(messages))
            if foreign is None
            else {**parameters, self.conversation_name: list(messages)}
        )
        try:
            for attempt in retries.attempts(self.settings.retry_s, first_contact=not self.answers):
                with attempt, shared.slot(tokens):
                    tries += 1
                    try_started = awake.now()
                    try:
                        answer = self._request(request, foreign or {})
                    except Failed:
                        failing = min(failing, time.monotonic())
                        raise
        except Failed as error:
            if foreign is not None and self._is_at_fault(error):
                raise Rejected(self._describe(error), error.status) from None
            raise self._to_exception(error, tries, awake.now() - started, failing) from None
        shared.record_answer(self.model)
        return answer, Timing(model_ms=(awake.now() - try_started) * 1000, waited_ms=(try_started - started) * 1000)

    def _is_at_fault(self, error: Failed) -> bool:
        """Return whether a request failed because of its content. If the status does not tell, send a plain one."""
        if error.status is not None and (retries.is_too_long(error) or retries.is_refusal(error)):
            return False  # these are handled separately
        if error.status in _BAD_REQUEST and not retries.is_about_key(error) and not retries.is_about_model(error):
            return True
        try:
            self._request(self._probe_body(), {})
        except Failed:
            return False
        return True

    def _send(self, request: dict[str, Any], headers: Mapping[str, str], timeout_s: float) -> dict[str, Any]:
        """Return the answer, without key and passwords. Raises Failed, ValueError, RecursionError."""
        # Only fields of `extra_body` may name secrets: the others may hold what another program wrote.
        filled_in = {
            name: _fill_in_secrets(request[name], self._secrets) for name in self.settings.extra_body if name in request
        }
        body = {**request, **filled_in}
        if self.settings.stream:
            events = self._client.stream(self.path, {**body, "stream": True, **self.stream_options}, timeout_s, headers)
            if not events:
                raise Garbled("its answer is not a stream: try `stream: false` in the entrant's config")
            text = json.dumps(self.join_stream(events))
        else:
            text = self._client.ask(self.path, body, timeout_s, headers)
            if text.startswith(("data:", "event:", ":")):
                raise Garbled("its answer is a stream: try `stream: true` in the entrant's config")
        # Half of a surrogate pair, which JSON can express, could neither be stored nor sent back.
        answer: dict[str, Any] = storable_json(json.loads(self._mask_secrets(text)))
        if isinstance(answer, dict) and answer.get("error") and not answer.get(self.answer_name):
            raise make_failure(answer["error"])
        return answer

    def check(self) -> None:
        """Check that the endpoint answers, accepts the key and knows the model. Raises SetupError, EndpointError.

        Servers need not list their models, or all names that they know: if the list does not have the model, a request
        of a few tokens is sent. Temporary failures prove nothing, and are no reason to refuse the endpoint.
        """
        started, tries = time.monotonic(), 0
        try:
            for attempt in retries.attempts(min(self.settings.retry_s, retries.FIRST_CONTACT_S), first_contact=True):
                with attempt:
                    tries += 1
                    if self.model not in self._list_models():
                        self._probe()
        except Failed as error:
            unreachable = error.status is None and not error.timed_out and not isinstance(error, Garbled)
            settled = retries.is_about_key(error) or retries.is_about_model(error)
            if (error.status in _BAD_REQUEST and not settled) or (retries.is_temporary(error) and not unreachable):
                return
            raise self._to_exception(error, tries, time.monotonic() - started) from None

    def _list_models(self) -> Sequence[str]:
        """Return the models that the endpoint lists; none if it lists none. Raises Failed if nothing answers."""
        try:
            return [model["id"] for model in json.loads(self._client.models(_CHECK_TIMEOUT_S))["data"]]
        except Failed as error:
            if error.status is None:
                raise
            return ()
        except (ValueError, LookupError, TypeError):
            return ()

    def _probe(self) -> None:
        """Send a request of a few tokens. Raises Failed."""
        with suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
            self._send(self._probe_body(), {}, _CHECK_TIMEOUT_S)

    def _probe_body(self) -> dict[str, Any]:
        """Return a request of a few tokens."""
        parameters = {**self.parameters((), None), self.max_tokens_field: _CHECK_TOKENS}
        return self.body(parameters, self.wire([{"role": "user", "content": "Say yes."}]))

    def _request(self, request: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        # The time limit ignores what the episode has left: only an answer tells a slow model from a hanging endpoint.
        try:
            answer = self._send(request, headers, self.settings.request_timeout_s)
            self.read(answer)
        except RecursionError:
            raise Garbled("its answer is nested too deep") from None
        except ValueError as error:
            raise Garbled(f"its answer is not valid JSON ({error})") from None
        except (LookupError, TypeError, AttributeError):
            raise Garbled("its answer does not have the form that the API specifies") from None
        return answer

    def _mask_secrets(self, text: str) -> str:
        """Mask key and passwords in `text`: an endpoint that repeats them must not bring them into the database."""
        for secret in self._masked:
            # A short secret is masked only as a whole word, because other words may contain it.
            pattern = re.escape(secret) if len(secret) > 8 else rf"(?<!\w){re.escape(secret)}(?!\w)"
            text = re.sub(pattern, "***", text)
        return text

    def _to_exception(self, error: Failed, tries: int, seconds: float, failing: float = math.inf) -> Exception:
        """Return the exception to raise after the last try; `failing`: when tries began to fail (monotonic clock)."""
        subject = f"the endpoint {self.settings.shown_url}, asked for the model {self.model},"
        message = self._describe(error)
        if error.status is not None and retries.is_too_long(error):
            return ContextTooLong(message)
        if error.status in _BAD_REQUEST and retries.is_about_form(error) and self.answers <= 1:
            # If the first answer cannot be sent back, none can: its content is not to blame.
            return SetupError(
                f"{subject} rejects its own answers when they are sent back: try `verbatim: "
                f"{str(not self.settings.verbatim).lower()}` or `stream: {str(not self.settings.stream).lower()}` in "
                f"the entrant's config ({message})"
            )
        about_key, about_model = retries.is_about_key(error), retries.is_about_model(error)
        refused = error.status in _BAD_REQUEST and self.answers and not about_key and not about_model
        if refused or (error.status is not None and retries.is_refusal(error)):
            return GaveUp(f"{subject} refused the conversation ({message})", StopReason.REFUSED)
        if about_key:
            return AccessError(f"{subject} rejected the key: check {self.settings.key_source} ({message})")
        if about_model:
            return AccessError(
                f"{subject} does not know this model: check its name and {self.settings.url_source} ({message})"
            )
        if error.status in _BAD_REQUEST:
            return SetupError(f"{subject} does not accept the request: check the entrant's config ({message})")
        times = "at the first try" if tries == 1 else f"after {count_of(tries, 'try')} in {seconds:.0f} s"
        summary = f"{subject} failed {times}: {message}"
        if not retries.is_temporary(error) or isinstance(error, Garbled):
            return EndpointError(summary)
        shared, url = limits.of_endpoint(self.settings), self.settings.shown_url
        if error.status != _TOO_MANY_REQUESTS and shared.has_answered_since(failing, self.model):
            return EndpointError(summary)
        # An endpoint that answers, if only with a status, may serve other models: limits and overload are per model.
        model_only = error.status is not None or shared.has_answered_since(failing)
        return EndpointDown(summary, model_at(url, self.model) if model_only else url)

    def _describe(self, error: Failed) -> str:
        """Return an error's message in one line and without the key, however the server repeats the key."""
        message = self._mask_secrets(str(error))
        if len(self._key) > 8:
            # Servers shorten keys to a head and a tail.
            for piece in (self._key[:8], self._key[-4:]):
                message = message.replace(piece, "***")
        message = " ".join(message.split())[:300] or type(error).__name__
        return f"{error.status}: {message}" if error.status is not None else message


def _is_secret(text: str) -> bool:
    return text.lower() not in PLACEHOLDERS


def _fill_in_secrets(value: Any, secrets: Mapping[str, str]) -> Any:
    """Return JSON with the names of secrets replaced by their values."""
    if not secrets:
        return value
    if isinstance(value, str):
        return secrets.get(value, value)
    if isinstance(value, dict):
        return {name: _fill_in_secrets(inner, secrets) for name, inner in value.items()}
    return [_fill_in_secrets(inner, secrets) for inner in value] if isinstance(value, list) else value
