"""One question to a model, one reply: the Chat Completions API of OpenAI, or of any server that speaks it."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from agents.base import EndpointError, SetupError
from agents.llm import retries
from agents.llm.settings import OPENAI_URL, Settings

if TYPE_CHECKING:
    import openai

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call as the model wrote it."""

    id: str
    name: str
    arguments: str
    """JSON, if the model got it right."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    text: str
    calls: tuple[Call, ...] = ()
    cut_off: bool = False
    """The answer ended at the limit of its length."""
    tokens_in: int = 0
    tokens_cached: int = 0
    """How many of `tokens_in` came from the endpoint's cache."""
    tokens_out: int = 0
    """Reasoning included."""
    model_ms: float = field(default=0.0, compare=False)


class ContextTooLong(Exception):
    """The conversation does not fit into the model's context."""


class Endpoint(Protocol):
    """A model that can be asked. Another interface (the Responses API, Azure) is another class."""

    def ask(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], seed: int | None) -> Reply:
        """Raises ContextTooLong, EndpointError, SetupError."""
        ...


@functools.lru_cache(maxsize=8)
def _client(url: str, key: str, timeout_s: float) -> openai.OpenAI:
    """A client is safe to share between threads, and takes a while to make."""
    import openai

    return openai.OpenAI(base_url=url, api_key=key, timeout=timeout_s, max_retries=0)


class ChatCompletions:
    """The Chat Completions API."""

    def __init__(self, model: str, settings: Settings) -> None:
        """Asks nothing yet. Raises SetupError without a key."""
        self._model = model
        self._settings = settings
        self._key = settings.api_key()
        self._client = _client(settings.url, self._key, settings.request_timeout_s)
        self._answered = False

    def ask(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], seed: int | None) -> Reply:
        """One reply; what fails for a while is tried again. Raises ContextTooLong, EndpointError, SetupError."""
        import openai

        started = time.monotonic()
        tries = 0
        try:
            for attempt in retries.patiently(self._settings.retry_s, first_contact=not self._answered):
                with attempt:
                    tries += 1
                    answer = self._request(messages, tools, seed)
        except (openai.OpenAIError, retries.Garbled) as error:
            raise self._failure(error, tries, time.monotonic() - started) from None
        self._answered = True
        return _read(answer, (time.monotonic() - started) * 1000)

    def _request(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], seed: int | None) -> Any:
        settings = self._settings
        # OpenAI's newer models refuse the old name; other servers do not know the new one.
        limit = "max_completion_tokens" if settings.url.rstrip("/") == OPENAI_URL else "max_tokens"
        optional = {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "seed": seed,
            limit: settings.max_tokens,
            "reasoning_effort": settings.reasoning_effort,
            "parallel_tool_calls": settings.parallel_tool_calls if tools else None,
            "tools": list(tools) or None,
            "extra_body": settings.extra_body or None,
        }
        given: dict[str, Any] = {name: value for name, value in optional.items() if value is not None}
        try:
            answer = self._client.chat.completions.create(model=self._model, messages=cast(Any, messages), **given)
        except json.JSONDecodeError as error:
            raise retries.Garbled(f"its answer is no JSON ({error.msg})") from None
        choices = getattr(answer, "choices", None)
        if not choices or getattr(choices[0], "message", None) is None:
            raise retries.Garbled("its answer holds no choice")
        return answer

    def _failure(self, error: Exception, tries: int, seconds: float) -> Exception:
        """The exception to raise for what the endpoint did in the end."""
        import openai

        where = f"the endpoint {self._settings.shown_url}, asked for the model {self._model},"
        said = self._clean(error)
        if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError)):
            key = self._settings.api_key_env
            return SetupError(f"{where} refused the key: check the environment variable {key} ({said})")
        if isinstance(error, openai.NotFoundError):
            return SetupError(f"{where} does not know it: check the model's name and OPENAI_BASE_URL ({said})")
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


def _read(answer: Any, model_ms: float) -> Reply:
    choice, usage = answer.choices[0], getattr(answer, "usage", None)
    calls = []
    for number, each in enumerate(choice.message.tool_calls or []):
        function = getattr(each, "function", None)
        name, arguments = (function.name, function.arguments) if function is not None else (each.type, "")
        calls.append(Call(each.id or f"call_{number}", name or "", arguments or ""))
    return Reply(
        text=choice.message.content or getattr(choice.message, "refusal", None) or "",
        calls=tuple(calls),
        cut_off=choice.finish_reason == "length",
        tokens_in=getattr(usage, "prompt_tokens", 0) or 0,
        tokens_cached=getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None) or 0,
        tokens_out=getattr(usage, "completion_tokens", 0) or 0,
        model_ms=model_ms,
    )
