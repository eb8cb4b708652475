"""What can be configured about a language model."""

from __future__ import annotations

import os
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.base import SetupError

OPENAI_URL = "https://api.openai.com/v1"


class Prompts(BaseModel):
    """Jinja templates that replace the built-in ones."""

    model_config = ConfigDict(extra="forbid")

    system: str | None = None
    """Given the tools (`tools`: name, description, note) and the limit (`max_steps`)."""
    task: str | None = None
    """Given the first observation (`observation`), which holds the statement and the failing tests."""


class Settings(BaseModel):
    """An entrant's `config`, for agents that use a model. Keys are not among it: they come from the environment."""

    model_config = ConfigDict(extra="forbid")

    base_url: str | None = None
    """The endpoint; `OPENAI_BASE_URL` where it is not given, OpenAI's own where neither is."""
    api_key_env: str = "OPENAI_API_KEY"
    """Name of the environment variable that holds the key."""
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
    price: dict[str, float] | None = None
    """USD per million tokens: `input`, `cached_input`, `output`. Replaces the price table."""
    prompts: Prompts = Field(default_factory=Prompts)

    @property
    def url(self) -> str:
        """The endpoint that is asked."""
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL

    @property
    def shown_url(self) -> str:
        """The endpoint for messages: without a user name or password that may be part of it."""
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()

    def api_key(self) -> str:
        """The key. Servers of one's own need none. Raises SetupError."""
        key = os.environ.get(self.api_key_env, "").strip()
        if key:
            return key
        if self.url.rstrip("/") == OPENAI_URL:
            raise SetupError(
                f"the environment variable {self.api_key_env} is not set: put a key for {self.shown_url} there, "
                "or name another endpoint with OPENAI_BASE_URL"
            )
        return "none"


def read_settings(config: dict[str, Any]) -> Settings:
    """Check a configuration. Raises SetupError with the field, its value and what it should be."""
    try:
        return Settings.model_validate(config)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        value = "" if first["type"] == "extra_forbidden" else f" (it is {first['input']!r})"
        known = f"; known fields: {', '.join(Settings.model_fields)}" if first["type"] == "extra_forbidden" else ""
        raise SetupError(f"the model's config is wrong at {where}{value}: {first['msg']}{known}") from None
