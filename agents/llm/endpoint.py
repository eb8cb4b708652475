"""What can be asked of a model: one question, one answer, whatever the interface behind it."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.base import AccessError, EndpointError, OutOfTime, SetupError
from agents.llm import limits, retries
from agents.llm.client import make_client
from agents.llm.settings import Settings

_CHECK_TIMEOUT_S = 60.0
_CHECK_TOKENS = 16
"""The fewest that every interface allows."""

Message = dict[str, Any]
"""A message of a conversation, in the form of Chat Completions. `items`, where present, are the answer's own items,
which the Responses API wants back as they were."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call as the model wrote it."""

    id: str
    name: str
    arguments: str
    """JSON, if the model got it right."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What an answer says."""

    text: str
    calls: tuple[Call, ...] = ()
    cut_off: bool = False
    """The answer ended at the limit of its length."""
    tokens_in: int = 0
    tokens_cached: int = 0
    """How many of `tokens_in` came from the endpoint's cache."""
    tokens_out: int = 0
    """Reasoning included."""
    tokens_reasoning: int = 0
    items: tuple[dict[str, Any], ...] = ()
    """The answer's own items, where the interface wants them back."""


class ContextTooLong(Exception):
    """The conversation does not fit into the model's context."""


class Endpoint(ABC):
    """A model that can be asked. Another interface is another subclass."""

    path: str
    conversation_name: str
    """What the conversation is called in a request."""

    def __init__(self, model: str, settings: Settings) -> None:
        """Asks nothing yet. Raises SetupError without a key."""
        self.model = model
        self._settings = settings
        self._key = settings.api_key()
        self._client = make_client(settings, self._key)
        self._answered = False

    @property
    @abstractmethod
    def limit_name(self) -> str:
        """The parameter for the most tokens of an answer."""

    @abstractmethod
    def parameters(self, tools: Sequence[dict[str, Any]], seed: int | None) -> dict[str, Any]:
        """What a request says besides the conversation. `tools`: name, description, parameters (JSON schema)."""

    @abstractmethod
    def wire(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Messages as they go over the wire."""

    @abstractmethod
    def read(self, answer: dict[str, Any]) -> Reply:
        """What an answer says. Raises Garbled, LookupError, TypeError or AttributeError for one that is none."""

    def ask(
        self,
        parameters: dict[str, Any],
        messages: Sequence[Message],
        deadline: float | None = None,
        tokens: int = 0,
    ) -> tuple[dict[str, Any], float]:
        """One answer, and how many milliseconds it took; what fails for a while is tried again.

        `deadline`: of `time.monotonic`; `tokens`: roughly how many the question has, for limits by the minute.
        Raises ContextTooLong, EndpointError, OutOfTime, SetupError.
        """
        import openai

        started = time.monotonic()
        tries = 0
        wire = self.wire(messages)
        try:
            for attempt in retries.patiently(
                self._settings.retry_s, first_contact=not self._answered, deadline=deadline
            ):
                with attempt, limits.of(self._settings).slot(tokens, deadline):
                    tries += 1
                    answer = self._request(parameters, wire, deadline)
        except (openai.OpenAIError, retries.Garbled) as error:
            raise self._failure(error, tries, time.monotonic() - started) from None
        self._answered = True
        return answer, (time.monotonic() - started) * 1000

    def _send(self, parameters: dict[str, Any], messages: list[dict[str, Any]], timeout_s: float) -> str:
        """The body of the answer. Raises OpenAIError."""
        # Not the methods for the single interfaces: they go through every message again, which takes several times as
        # long as all the rest.
        body = {**parameters, self.conversation_name: messages}
        return self._client.post(self.path, cast_to=str, body=body, options={"timeout": timeout_s})

    def check(self) -> None:
        """Whether the endpoint is there, takes the key and knows the model. Raises SetupError, EndpointError.

        Servers need not list their models, nor list all names that they know: what the list does not settle is asked
        with a question of a few tokens. Faults that pass by themselves settle nothing, and are no reason to refuse.
        """
        import openai

        started, tries = time.monotonic(), 0
        try:
            for attempt in retries.patiently(min(self._settings.retry_s, retries.FIRST_CONTACT_S), first_contact=True):
                with attempt:
                    tries += 1
                    if self.model not in self._listed():
                        self._probe()
        except (openai.BadRequestError, openai.UnprocessableEntityError):
            return
        except openai.OpenAIError as error:
            unreachable = isinstance(error, openai.APIConnectionError) and not isinstance(error, openai.APITimeoutError)
            if retries.is_passing(error) and not unreachable:
                return
            raise self._failure(error, tries, time.monotonic() - started) from None

    def _listed(self) -> Sequence[str]:
        """The models that the endpoint lists; none where it does not. Raises OpenAIError where nobody answers."""
        import openai

        try:
            listed = json.loads(self._client.models.with_raw_response.list(timeout=_CHECK_TIMEOUT_S).text)
            return [each["id"] for each in listed["data"]]
        except (openai.APIStatusError, ValueError, LookupError, TypeError):
            return ()

    def _probe(self) -> None:
        """A question of a few tokens. Raises OpenAIError."""
        parameters = {**self.parameters((), None), self.limit_name: _CHECK_TOKENS}
        self._send(parameters, [{"role": "user", "content": "Say yes."}], _CHECK_TIMEOUT_S)

    def _request(
        self, parameters: dict[str, Any], messages: list[dict[str, Any]], deadline: float | None
    ) -> dict[str, Any]:
        import openai

        timeout_s = self._settings.request_timeout_s
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise OutOfTime
        try:
            body = self._send(parameters, messages, timeout_s if left is None else min(timeout_s, left))
        except openai.APITimeoutError:
            # The endpoint was given no more time than the episode had.
            if left is not None and left < timeout_s:
                raise OutOfTime from None
            raise
        try:
            # An endpoint that repeats the key must not bring it into the database.
            answer = json.loads(body.replace(self._key, "***") if len(self._key) > 8 else body)
            self.read(answer)
        except ValueError as error:
            raise retries.Garbled(f"its answer is no JSON ({error})") from None
        except (LookupError, TypeError, AttributeError):
            raise retries.Garbled("its answer does not have the form that the protocol says") from None
        assert isinstance(answer, dict)
        return answer

    def _failure(self, error: Exception, tries: int, seconds: float) -> Exception:
        """The exception to raise for what the endpoint did in the end."""
        import openai

        where = f"the endpoint {self._settings.shown_url}, asked for the model {self.model},"
        said = self._clean(error)
        if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError)):
            return AccessError(f"{where} refused the key: check {self._settings.key_source} ({said})")
        if isinstance(error, openai.NotFoundError):
            return AccessError(
                f"{where} does not know it: check the model's name and {self._settings.url_source} ({said})"
            )
        if isinstance(error, (openai.BadRequestError, openai.UnprocessableEntityError)):
            if retries.is_too_long(error):
                return ContextTooLong(said)
            return SetupError(f"{where} does not accept the request: check the entrant's config ({said})")
        times = "at once" if tries == 1 else f"after {tries} tries in {seconds:.0f} s"
        return EndpointError(f"{where} failed {times}: {said}")

    def _clean(self, error: Exception) -> str:
        """What an error says, in one line and without the key, however the server repeats it."""
        status = getattr(error, "status_code", None)
        body = getattr(error, "body", None)
        said = str(body.get("message") or error) if isinstance(body, dict) else str(error)
        if len(self._key) > 8:
            # Servers shorten keys to a head and a tail.
            for piece in (self._key, self._key[:8], self._key[-4:]):
                said = said.replace(piece, "***")
        said = " ".join(said.split())[:300] or type(error).__name__
        return f"{status}: {said}" if status is not None else said
