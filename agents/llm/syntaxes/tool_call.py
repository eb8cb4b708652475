"""One tool call: as a model wrote it, and in a form that servers accept when it is sent back."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call as the model wrote it."""

    id: str
    name: str
    arguments: str
    """JSON, if the model got it right."""


def arguments_text(arguments: Any) -> str:
    """Return a call's arguments as text; some servers send them as a JSON object."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""


def make_sendable(call: ToolCall) -> dict[str, str]:
    """Return the name and the arguments of a call in a form that servers accept back."""
    return {"name": make_name_sendable(call.name), "arguments": make_arguments_sendable(call.arguments)}


def make_name_sendable(name: Any) -> str:
    """Return the name of a tool in a form that servers accept back."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", str(name or ""))[:64] or "none"


def make_arguments_sendable(arguments: str) -> str:
    """Return arguments in a form that servers accept back: unchanged if they are a JSON object, else as the object that
    they can be read as, else as an empty object."""
    for strict in (True, False):
        try:
            decoded = json.loads(arguments, strict=strict)
            if isinstance(decoded, str):
                decoded, strict = json.loads(decoded, strict=False), False
        except (ValueError, RecursionError):
            continue
        if isinstance(decoded, dict):
            return arguments if strict else json.dumps(decoded)
    decoded = find_single_object(arguments)
    return "{}" if decoded is None else json.dumps(decoded)


def find_single_object(text: str) -> dict[str, Any] | None:
    """Return the object that a text of several JSON objects means, if all non-empty ones are equal; else None.

    Gateways put an empty object before the one that the model wrote, and some servers send an object once more as a
    whole after they have sent it in pieces.
    """
    decoder, values, at = json.JSONDecoder(strict=False), list[Any](), 0
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            values.append(value)
            at += len(text[at:]) - len(text[at:].lstrip())
    except (ValueError, RecursionError):
        return None
    candidates = [candidate for candidate in values if candidate != {}] or values
    is_unique = len(values) > 1 and all(candidate == candidates[0] for candidate in candidates)
    return candidates[0] if is_unique and isinstance(candidates[0], dict) else None
