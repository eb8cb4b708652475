"""What can be configured about a language model."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from stackrank.agents.episode.protocol import SetupError

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"
NO_KEY = "none"
"""The key that the user's own servers get if none is set."""
PLACEHOLDERS = frozenset({"", NO_KEY, "empty", "dummy", "ollama", "test", "unused", "x", "xxx"})
"""Keys that people set for a server that needs none. They are not secret, and may well be words of an answer."""

_SECRET = re.compile(
    r"(?i:api[_-]?key|(access|secret|private|auth)[_-]?(key|token)|secret|passw|authorization|credential|cookie|bearer)"
    r"|[A-Z0-9]_(KEY|TOKEN|PAT|PWD)$"  # environment variables; `prompt_cache_key` is a field of requests
)
_SECRET_VALUE = re.compile(
    r"(Bearer |Basic |sk-|gsk_|hf_|gh[pousr]_|github_pat_|glpat-|xai-|xox[abeoprs]-|AKIA|AIza|eyJ[\w-]+\.eyJ)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
"""How keys and tokens of well-known services begin."""
_VARIABLE = re.compile(r"\$[A-Za-z_]\w*")
_OPERATIONAL = frozenset(
    {"api_key_env", "api_key_file", "request_timeout_s", "retry_s", "stream"}
    | {"max_concurrency", "requests_per_minute", "tokens_per_minute"}
)


def may_be_secret(name: str, value: str) -> bool:
    """Return whether a value looks like a key or a password, by its name or by itself. It must not be stored then."""
    return bool(_SECRET.search(name) or _SECRET_VALUE.match(value.strip()))


class Settings(BaseModel):
    """An entrant's `config`, for agents that use a model. It holds no keys: they come from the environment."""

    model_config = ConfigDict(extra="forbid")

    provider: Literal["openai", "azure"] | None = None
    """`openai`: OpenAI or any compatible server. Default: `azure` if `AZURE_OPENAI_ENDPOINT` is set and none of
    `base_url`, `OPENAI_BASE_URL` and `OPENAI_API_KEY` is; else `openai`."""
    base_url: str | None = None
    """The address of the endpoint. Default: `OPENAI_BASE_URL`, `AZURE_OPENAI_ENDPOINT` or, for Messages,
    `ANTHROPIC_BASE_URL`, else the provider's own address."""
    api_version: str | None = None
    """The version of Azure's API. Default: `OPENAI_API_VERSION`."""
    api: Literal["chat", "responses", "messages"] | None = None
    """Chat Completions, Responses, or Anthropic's Messages. Default: Responses for
    reasoning models at OpenAI's own address, because the newer ones take tools in no other API; Messages for Claude if
    `ANTHROPIC_API_KEY` is set and nothing of OpenAI's or Azure's is; else Chat Completions."""
    syntax: Literal["tools", "text"] = "tools"
    """`text` is for models without tool calling: one action in a fenced block, observations as JSON."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key. Default: `OPENAI_API_KEY`, `AZURE_OPENAI_API_KEY` or
    `ANTHROPIC_API_KEY`. The variable of the same name with `_FILE` at the end names a file that holds the key."""
    api_key_file: str | None = None
    """A file that holds the key."""
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    seed: int | None = None
    """The seed that is sent to the endpoint. Default: the episode's seed, if that is not 0."""
    max_tokens: int | None = Field(None, ge=1)
    """Most tokens of one answer. Messages requires a limit; its default is 32,000."""
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    """How much a model thinks. For Messages, this turns on adaptive thinking; older models take
    `extra_body: {thinking: {type: enabled, budget_tokens: 8000}}` instead."""
    verbatim: bool = True
    """Whether an answer is sent back with every field that it had (reasoning, signatures), as thinking models need.
    `false`: only its text and its tool calls, for servers that refuse their own fields."""
    stream: bool = False
    """Whether answers are streamed, for servers that do nothing else."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the request, which only some servers understand. A text `$NAME` stands for the value of an
    environment variable, so that a secret is not stored."""
    parallel_tool_calls: bool | None = None
    """Whether an answer may have several calls; None leaves it to the endpoint. They are carried out in order."""
    context_tokens: int = Field(100_000, ge=1000)
    """The conversation is kept below this estimated number of tokens."""
    request_timeout_s: float = Field(300.0, gt=0)
    """Seconds one answer may take."""
    retry_s: float = Field(300.0, ge=0)
    """Seconds for which a failed request is retried before the endpoint counts as failed."""
    max_concurrency: int | None = Field(None, ge=1)
    """Most concurrent requests to the endpoint, for all episodes together."""
    requests_per_minute: float | None = Field(None, gt=0)
    """Most requests to the endpoint per minute, for all episodes together."""
    tokens_per_minute: float | None = Field(None, gt=0)
    """Most tokens of requests and answers per minute, for all episodes together."""
    price: dict[str, float] | None = None
    """USD per million tokens: `input`, `cached_input`, `cache_write`, `output`. Replaces the price table."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """Jinja templates that replace the built-in ones: NAME is the text, NAME_file a file that holds it."""

    @field_validator("base_url")
    @classmethod
    def _without_secrets(cls, value: str | None) -> str | None:
        # The address is stored with the run, and is part of the entrant's identity.
        parts = urlsplit(value or "")
        if "@" in parts.netloc or any(may_be_secret(*pair) for pair in parse_qsl(parts.query)):
            raise PydanticCustomError(
                "secret",
                "it contains a password or a key, and settings are stored: put the key into an environment variable "
                "(api_key_env), or the whole address into OPENAI_BASE_URL",
            )
        return value

    @field_validator("extra_body")
    @classmethod
    def _secrets_by_name(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name, text in _walk_texts(value):
            if not _VARIABLE.fullmatch(text) and may_be_secret(name, text):
                raise PydanticCustomError(
                    "secret",
                    "{name} looks like a secret, and settings are stored: write $NAME, and put the value into the "
                    "environment variable NAME",
                    {"name": name},
                )
        return value

    def secrets(self) -> dict[str, str]:
        """Return what `$NAME` in `extra_body` stands for: `$NAME` -> its value. Raises SetupError if one is not set."""
        values = {}
        for name, text in _walk_texts(self.extra_body):
            if _VARIABLE.fullmatch(text):
                if not os.environ.get(text[1:]):
                    raise SetupError(f"extra_body.{name} is {text}, but that environment variable is not set")
                values[text] = os.environ[text[1:]]
        return values

    @property
    def is_anthropic(self) -> bool:
        """Whether the endpoint speaks Anthropic's Messages API."""
        return self.api == "messages"

    @property
    def only_anthropic(self) -> bool:
        """Whether the environment has a key for Anthropic, and neither it nor the configuration names another
        endpoint."""
        names = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "AZURE_OPENAI_ENDPOINT")
        names_other = self.provider or self.base_url or self.api_key_env or any(os.environ.get(name) for name in names)
        anthropic_key = os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_API_KEY_FILE")
        return bool(anthropic_key and not names_other)

    @property
    def names_no_endpoint(self) -> bool:
        """Whether neither the configuration nor the environment says which endpoint to ask."""
        names = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "AZURE_OPENAI_ENDPOINT")
        configured = self.provider or self.base_url or self.api_key_env or self.api_key_file
        return not configured and not any(os.environ.get(name) for name in names) and not self.only_anthropic

    @property
    def is_azure(self) -> bool:
        """Whether the endpoint is Azure OpenAI."""
        if self.is_anthropic:
            return False
        if self.provider is not None:
            return self.provider == "azure"
        names_other = self.base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_KEY")
        return bool(os.environ.get("AZURE_OPENAI_ENDPOINT")) and not names_other

    @property
    def is_openai(self) -> bool:
        """Whether the endpoint is OpenAI's own."""
        return not self.is_azure and not self.is_anthropic and self.url.rstrip("/") == OPENAI_URL

    @property
    def url(self) -> str:
        """The endpoint's address. Raises SetupError for Azure if none is set."""
        if self.is_anthropic:
            return self.base_url or os.environ.get("ANTHROPIC_BASE_URL") or ANTHROPIC_URL
        if self.is_azure:
            url = self.base_url or os.environ.get("AZURE_OPENAI_ENDPOINT")
            if not url:
                raise SetupError(
                    "no address given for Azure OpenAI: set AZURE_OPENAI_ENDPOINT to that of your resource"
                )
            return url
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL

    @property
    def shown_url(self) -> str:
        """The endpoint's address for messages: without any user name, password or query."""
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()

    @property
    def url_source(self) -> str:
        """Where the endpoint's address comes from, for messages."""
        if self.base_url:
            return "base_url in the entrant's config"
        if self.is_anthropic:
            return "ANTHROPIC_BASE_URL"
        return "AZURE_OPENAI_ENDPOINT" if self.is_azure else "OPENAI_BASE_URL"

    @property
    def azure_version(self) -> str:
        """The version of Azure's API; empty if none is set."""
        return self.api_version or os.environ.get("OPENAI_API_VERSION", "")

    def azure_token(self) -> str:
        """Return the Entra token from the environment, if there is one."""
        return os.environ.get("AZURE_OPENAI_AD_TOKEN", "").strip() if self.is_azure else ""

    @property
    def _key_variable(self) -> str:
        default = (
            "ANTHROPIC_API_KEY" if self.is_anthropic else "AZURE_OPENAI_API_KEY" if self.is_azure else "OPENAI_API_KEY"
        )
        return self.api_key_env or default

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
        """Return the key; empty for Azure with an Entra login. The user's own servers need none. Raises SetupError."""
        key = "" if self.api_key_file else os.environ.get(self._key_variable, "").strip()
        if not key and self._key_file:
            try:
                key = Path(self._key_file).expanduser().read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise SetupError(f"the key file {self._key_file} cannot be read ({error})") from None
            if not key:
                raise SetupError(f"the key file {self._key_file} is empty")
        if key or self.is_azure:
            return key
        if self.is_openai or self.url.rstrip("/") == ANTHROPIC_URL:
            raise SetupError(
                f"the environment variable {self._key_variable} is not set: put a key for {self.shown_url} there, "
                f"or a file's name in {self._key_variable}_FILE, or name another endpoint with {self.url_source}"
            )
        return NO_KEY


class InvestigatorSettings(BaseModel):
    """The model that answers the questions of the tool `investigate`, and what an answer may cost."""

    model_config = ConfigDict(extra="forbid")

    model: str = ""
    """The investigator's model. Empty: the entrant's own."""
    config: dict[str, Any] = Field(default_factory=dict)
    """Fields of `llm` that are different for the investigator, for instance `base_url`. A different model needs its own
    `price` here."""
    steps: int = Field(12, ge=1)
    """Steps that one investigation may take, and never more than half of those that the episode has left."""
    tokens: int | None = Field(200_000, ge=1)
    """Tokens that one investigation may use. `null`: no limit but the episode's."""
    cost_usd: float | None = Field(None, gt=0)
    """Dollars that one investigation may cost. `null`: no limit but the episode's."""


class LlmSettings(Settings):
    """What can be configured for the agent `llm`."""

    investigator: InvestigatorSettings = InvestigatorSettings()  # type: ignore[call-arg]
    """For tool sets with the tool `investigate`."""


def identity(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a configuration that change what the agent does or costs, not only how it is connected."""
    return {name: value for name, value in config.items() if name not in _OPERATIONAL}


def _walk_texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts in a JSON value, each with the path of names that leads to it."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk_texts(inner, f"{name}.{key}".lstrip("."))
    elif isinstance(value, list):
        for inner in value:
            yield from _walk_texts(inner, name)


S = TypeVar("S", bound=Settings)


def read_settings(config: Mapping[str, Any], kind: type[S]) -> S:
    """Check a configuration. Raises SetupError with the field, its value and what it should be."""
    try:
        return kind.model_validate(config)
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(map(str, first["loc"]))
        value = "" if first["type"] in ("extra_forbidden", "secret") else f" (it is {first['input']!r})"
        choices = f"; known fields: {', '.join(kind.model_fields)}" if first["type"] == "extra_forbidden" else ""
        raise SetupError(f"the entrant's config is invalid at {location}{value}: {first['msg']}{choices}") from None
