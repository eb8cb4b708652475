"""One tool call: as a model wrote it, and in a form that servers accept when it is sent back."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call as the model wrote it."""

    id: str
    name: str
    arguments: str
    """JSON, if the model got it right."""


def as_text(arguments: Any) -> str:
    """Return a call's arguments as text; some servers send them as a JSON object."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""


def sound(call: Call) -> dict[str, str]:
    """Return the name and the arguments of a call in a form that servers accept back."""
    return {"name": sound_name(call.name), "arguments": sound_arguments(call.arguments)}


def sound_name(said: Any) -> str:
    """Return the name of a tool in a form that servers accept back."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", str(said or ""))[:64] or "none"


def sound_arguments(arguments: str) -> str:
    """Return arguments in a form that servers accept back: unchanged if they are a JSON object, else as the object that
    they can be read as, else as an empty object."""
    for strict in (True, False):
        try:
            said = json.loads(arguments, strict=strict)
            if isinstance(said, str):
                said, strict = json.loads(said, strict=False), False
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict):
            return arguments if strict else json.dumps(said)
    said = one_object(arguments)
    return "{}" if said is None else json.dumps(said)


def one_object(text: str) -> dict[str, Any] | None:
    """Return the object that a text of several JSON objects means, if all non-empty ones are equal; else None.

    Gateways put an empty object before the one that the model wrote, and some servers send an object once more as a
    whole after they have sent it in pieces.
    """
    decoder, found, at = json.JSONDecoder(strict=False), list[Any](), 0
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            found.append(value)
            at += len(text[at:]) - len(text[at:].lstrip())
    except (ValueError, RecursionError):
        return None
    said = [each for each in found if each != {}] or found
    alike = len(found) > 1 and all(each == said[0] for each in said)
    return said[0] if alike and isinstance(said[0], dict) else None
