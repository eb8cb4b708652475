"""Sends messages to a chat: one POST of the JSON that Slack, Mattermost, Rocket.Chat and others accept."""

from __future__ import annotations

import os

import httpx

from stackrank.errors import InfrastructureError
from stackrank.settings import settings

TIMEOUT_S = 10.0


class WebhookError(InfrastructureError):
    """The message was not delivered. The error text omits the address, which is a secret."""


def webhook_url(setting: str) -> str:
    """Return the address in a specification (`$NAME` means an environment variable), else `STACKRANK_WEBHOOK`.

    Returns an empty text if neither is set. Raises WebhookError if the value is not an address.
    """
    url = os.path.expandvars(setting) or settings().webhook
    if url and not _is_address(url):
        source = setting if setting.startswith("$") else "STACKRANK_WEBHOOK or `webhook:`"
        raise WebhookError(f"{source} is not an http or https address: set it to the URL of the webhook")
    return url


def _is_address(url: str) -> bool:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return parsed.scheme in ("http", "https") and bool(parsed.host)


def post(url: str, text: str) -> None:
    """Send `text`. Raises WebhookError."""
    host = httpx.URL(url).host
    try:
        answer = httpx.post(url, json={"text": text}, timeout=TIMEOUT_S)
    except httpx.HTTPError as error:
        raise WebhookError(f"the webhook at {host} does not answer ({type(error).__name__}): check its URL") from None
    if answer.status_code >= 400:
        raise WebhookError(f"the webhook at {host} answered {answer.status_code}: check its URL")
