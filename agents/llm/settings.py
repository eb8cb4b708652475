"""What can be configured about a language model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.base import SetupError

OPENAI_URL = "https://api.openai.com/v1"

_OPERATIONAL = frozenset(
    {"api_key_env", "api_key_file", "request_timeout_s", "retry_s"}
    | {"max_concurrency", "requests_per_minute", "tokens_per_minute"}
)


class Settings(BaseModel):
    """An entrant's `config`, for agents that use a model. Keys are not among it: they come from the environment."""

    model_config = ConfigDict(extra="forbid")

    provider: Literal["openai", "azure"] | None = None
    """`openai`: OpenAI or any compatible server. Where it is not given: `azure` if `AZURE_OPENAI_ENDPOINT` is set and
    neither `base_url`, `OPENAI_BASE_URL` nor `OPENAI_API_KEY` is."""
    base_url: str | None = None
    """The endpoint. Where it is not given: `OPENAI_BASE_URL` or `AZURE_OPENAI_ENDPOINT`, else OpenAI's own."""
    api_version: str | None = None
    """Of Azure's interface; `OPENAI_API_VERSION` where it is not given."""
    api: Literal["chat", "responses"] | None = None
    """Chat Completions or Responses. Where it is not given: Responses for reasoning models at OpenAI's own address,
    of which the newer take tools in no other way, else Chat Completions."""
    syntax: Literal["tools", "text"] = "tools"
    """`text` is for models without tool calling: one action in a fenced block, observations as JSON."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key: `OPENAI_API_KEY` or `AZURE_OPENAI_API_KEY`. With `_FILE`
    after its name, the variable names a file that holds it."""
    api_key_file: str | None = None
    """A file that holds the key."""
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    seed: int | None = None
    """Sent to the endpoint. Where it is not given, the episode's seed is, if that is not 0."""
    max_tokens: int | None = Field(None, ge=1)
    """Most tokens of one answer."""
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the request, for what only some servers understand."""
    parallel_tool_calls: bool | None = None
    """Whether several calls may come at once; None leaves it to the endpoint. They are carried out in order."""
    context_tokens: int = Field(100_000, ge=1000)
    """The conversation is kept below this many tokens, as far as they can be estimated."""
    request_timeout_s: float = Field(300.0, gt=0)
    """Seconds one answer may take."""
    retry_s: float = Field(300.0, ge=0)
    """Seconds that one question may spend on tries that fail, before the endpoint counts as failed."""
    max_concurrency: int | None = Field(None, ge=1)
    """Questions to the endpoint at the same time, by all episodes together."""
    requests_per_minute: float | None = Field(None, gt=0)
    """Questions to the endpoint, of all episodes together."""
    tokens_per_minute: float | None = Field(None, gt=0)
    """Tokens of questions and answers, of all episodes together."""
    price: dict[str, float] | None = None
    """USD per million tokens: `input`, `cached_input`, `output`. Replaces the price table."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """Jinja templates that replace the built-in ones: NAME is the text, NAME_file a file that holds it."""

    @property
    def is_azure(self) -> bool:
        """Whether the endpoint is Azure OpenAI."""
        if self.provider is not None:
            return self.provider == "azure"
        others = self.base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_KEY")
        return bool(os.environ.get("AZURE_OPENAI_ENDPOINT")) and not others

    @property
    def is_openai(self) -> bool:
        """Whether the endpoint is OpenAI's own."""
        return not self.is_azure and self.url.rstrip("/") == OPENAI_URL

    @property
    def url(self) -> str:
        """The endpoint that is asked. Raises SetupError for Azure without one."""
        if self.is_azure:
            url = self.base_url or os.environ.get("AZURE_OPENAI_ENDPOINT")
            if not url:
                raise SetupError("Azure OpenAI has no common address: set AZURE_OPENAI_ENDPOINT to that of your own")
            return url
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL

    @property
    def shown_url(self) -> str:
        """The endpoint for messages: without a user name or password that may be part of it."""
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()

    @property
    def url_source(self) -> str:
        """Where the endpoint's address comes from, for messages."""
        if self.base_url:
            return "base_url in the entrant's config"
        return "AZURE_OPENAI_ENDPOINT" if self.is_azure else "OPENAI_BASE_URL"

    @property
    def azure_version(self) -> str:
        """The version of Azure's interface; empty where none is set."""
        return self.api_version or os.environ.get("OPENAI_API_VERSION", "")

    def azure_token(self) -> str:
        """The Entra token that the environment holds, if any."""
        return os.environ.get("AZURE_OPENAI_AD_TOKEN", "").strip() if self.is_azure else ""

    @property
    def _key_variable(self) -> str:
        return self.api_key_env or ("AZURE_OPENAI_API_KEY" if self.is_azure else "OPENAI_API_KEY")

    @property
    def _key_file(self) -> str:
        return self.api_key_file or os.environ.get(f"{self._key_variable}_FILE", "")

    @property
    def key_source(self) -> str:
        """Where the key comes from, for messages."""
        if self.azure_token():
            return "the environment variable AZURE_OPENAI_AD_TOKEN"
        if self._key_file and (self.api_key_file or not os.environ.get(self._key_variable)):
            return f"the file {self._key_file}"
        return f"the environment variable {self._key_variable}"

    def api_key(self) -> str:
        """The key; empty for Azure with an Entra login. Servers of one's own need none. Raises SetupError."""
        key = "" if self.api_key_file else os.environ.get(self._key_variable, "").strip()
        if not key and self._key_file:
            try:
                key = Path(self._key_file).expanduser().read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise SetupError(f"the key's file {self._key_file} cannot be read ({error})") from None
            if not key:
                raise SetupError(f"the key's file {self._key_file} is empty")
        if key or self.is_azure:
            return key
        if self.is_openai:
            raise SetupError(
                f"the environment variable {self._key_variable} is not set: put a key for {self.shown_url} there, "
                f"or a file's name in {self._key_variable}_FILE, or name another endpoint with OPENAI_BASE_URL"
            )
        return "none"


def identity(config: dict[str, Any]) -> dict[str, Any]:
    """What of a configuration changes what the agent does or costs, and not only how an endpoint is reached."""
    return {name: value for name, value in config.items() if name not in _OPERATIONAL}


S = TypeVar("S", bound=Settings)


def read_settings(config: dict[str, Any], kind: type[S]) -> S:
    """Check a configuration. Raises SetupError with the field, its value and what it should be."""
    try:
        return kind.model_validate(config)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        value = "" if first["type"] == "extra_forbidden" else f" (it is {first['input']!r})"
        known = f"; known fields: {', '.join(kind.model_fields)}" if first["type"] == "extra_forbidden" else ""
        raise SetupError(f"the model's config is wrong at {where}{value}: {first['msg']}{known}") from None
