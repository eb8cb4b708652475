"""The clients of the providers' packages: OpenAI's, Azure's, any compatible server's, and Anthropic's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stackrank.agents.episode.protocol import SetupError
from stackrank.agents.llm.endpoints.transport import Transport, make_bounded_client
from stackrank.agents.llm.settings import Settings

if TYPE_CHECKING:
    import openai

_ENTRA_SCOPE = "https://cognitiveservices.azure.com/.default"


def make_client(settings: Settings, key: str) -> Transport:
    """The client for an endpoint. Raises SetupError."""
    if settings.is_anthropic:
        return _anthropic_client(settings.url, key)
    import openai

    return Transport(openai, _openai_client(settings, key))


def _openai_client(settings: Settings, key: str) -> openai.OpenAI:
    if not settings.is_azure:
        return _client(settings.url, key)
    url = settings.url
    if not settings.azure_version:
        raise SetupError("Azure OpenAI needs an API version: set OPENAI_API_VERSION")
    return _azure_client(url, settings.azure_version, key, settings.azure_token())


# A client is safe to share between threads, and takes a while to make. It opens up to 1000 connections and keeps 100.
@functools.lru_cache(maxsize=16)
def _client(url: str, key: str) -> openai.OpenAI:
    import openai

    return openai.OpenAI(base_url=url, api_key=key, max_retries=0, http_client=make_bounded_client(openai))


@functools.lru_cache(maxsize=16)
def _anthropic_client(url: str, key: str) -> Transport:
    import anthropic

    client = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0, http_client=make_bounded_client(anthropic))
    return Transport(anthropic, client, "/v1/models?limit=1000")


@functools.lru_cache(maxsize=16)
def _azure_client(url: str, version: str, key: str, token: str) -> openai.AzureOpenAI:
    import openai

    credentials: dict[str, Any] = {"azure_ad_token": token} if token else {"api_key": key}
    if not token and not key:
        credentials = {"azure_ad_token_provider": _entra_tokens()}
    http = make_bounded_client(openai)
    return openai.AzureOpenAI(azure_endpoint=url, api_version=version, max_retries=0, http_client=http, **credentials)


def _entra_tokens() -> Callable[[], str]:
    """Return a provider of Entra tokens for the identity that is logged in on this machine. Raises SetupError."""
    try:
        from azure.identity import DefaultAzureCredential, get_bearer_token_provider
    except ImportError:
        raise SetupError(
            "no key for Azure OpenAI: set AZURE_OPENAI_API_KEY or AZURE_OPENAI_AD_TOKEN, or install stackrank[azure] "
            "for an Entra login"
        ) from None
    return get_bearer_token_provider(DefaultAzureCredential(), _ENTRA_SCOPE)
