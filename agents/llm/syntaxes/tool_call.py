"""One tool call: as a model wrote it, and in a form that servers accept when it is sent back."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from stackrank.agents.llm.repairs.json_object import Unclear, read_object

WRAPPERS = ("arguments", "parameters", "input", "args")
"""What models and servers call the arguments of a call."""


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


def read_call(fields: Any, number: int, taken: Collection[str], id_field: str = "id") -> ToolCall:
    """Return the call with these fields, which servers name differently. Its id is none of those that are `taken`.

    `number`: the position in the answer, which stands for a missing id. Raises AttributeError for other fields.
    """
    call_id = str(fields.get(id_field) or f"call_{number}")
    function = fields.get("function")
    if function is None or isinstance(function, str):
        function = {"name": function, **fields} if function else fields
    arguments = next((function[name] for name in WRAPPERS if function.get(name) is not None), None)
    return ToolCall(
        call_id if call_id not in taken else f"{call_id}_{number}",
        str(function.get("name") or ""),
        arguments_text(arguments),
    )


def make_sendable(call: ToolCall) -> dict[str, str]:
    """Return the name and the arguments of a call in a form that servers accept back."""
    return {"name": make_name_sendable(call.name), "arguments": make_arguments_sendable(call.arguments)}


def make_name_sendable(name: Any) -> str:
    """Return the name of a tool in a form that servers accept back."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", str(name or ""))[:64] or "none"


def make_arguments_sendable(arguments: str) -> str:
    """Return arguments in a form that servers accept back: unchanged if they are a JSON object, else as the object that
    they mean, else as an empty object."""
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    try:
        return json.dumps(read_object(arguments, objects=())[0])
    except Unclear:
        return "{}"
