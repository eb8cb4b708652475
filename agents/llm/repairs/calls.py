"""Repairs calls that can still have only one meaning, by the schema of the tool. A note tells the model what was
repaired."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from stackrank.agents.llm.repairs.json_object import MAX_SHOWN, Unclear, decode, read_object
from stackrank.agents.llm.repairs.names import find_name
from stackrank.agents.llm.syntaxes.syntax import BadCall, unknown_tool
from stackrank.agents.llm.syntaxes.tool_call import WRAPPERS, ToolCall
from stackrank.env.actions import Action
from stackrank.env.tools.base import Described, schema

_WHOLE_FLOAT = re.compile(r"-?\d{1,18}\.0+")
_PYTHON_NAMES: Mapping[str, Any] = {"True": True, "False": False, "None": None}


def repair_call(call: ToolCall, tools: Sequence[Described]) -> tuple[Action, str]:
    """Return the action that a call means, and a note on what was repaired, empty if nothing. Raises BadCall."""
    tool = _find_tool(call, tools)
    described = schema(tool)
    properties: Mapping[str, Any] = described["properties"]
    # Schemas of foreign tools may allow arguments that they do not name.
    closed = described.get("additionalProperties") is False
    notes = [] if tool.name == call.name else [f"used the tool {tool.name}"]
    objects = [name for name, entry in properties.items() if not _types(entry) or "object" in _types(entry)]
    try:
        arguments, note = read_object(call.arguments, objects)
        notes += [note] if note else []
        if (closed or properties) and len(arguments) == 1 and not properties.keys() & arguments.keys():
            (name, inner), *_ = arguments.items()
            if name in WRAPPERS and isinstance(inner, dict | str):
                arguments, note = (inner, "") if isinstance(inner, dict) else read_object(inner, objects)
                notes += [f"took the arguments out of {name}", *([note] if note else [])]
    except Unclear as error:
        raise BadCall(
            f"The arguments of {tool.name} are {error}: {call.arguments[:MAX_SHOWN]!r}. "
            "They must be one JSON object. Nothing was done."
        ) from None
    if closed and (unknown_names := [name for name in arguments if name not in properties]):
        if len(unknown_names) == len(arguments) and properties:
            # None of its arguments is known: what was meant can only be guessed.
            raise BadCall(
                f"{tool.name} has no argument {', '.join(map(repr, unknown_names))[:MAX_SHOWN]}; "
                f"it takes {', '.join(properties)}. Nothing was done."
            )
        arguments = {name: value for name, value in arguments.items() if name in properties}
        notes.append(f"ignored {', '.join(unknown_names)[:MAX_SHOWN]}, which {tool.name} does not take")
    for name, value in arguments.items():
        is_list_of_lines = isinstance(value, list) and value and all(isinstance(line, str) for line in value)
        if is_list_of_lines and _types(properties.get(name)) == {"string"}:
            arguments = {**arguments, name: "\n".join(value)}
            notes.append(f"joined the lines of {name}")
        else:
            arguments = {**arguments, name: _with_type(value, _types(properties.get(name)))}
    return Action(tool.name, arguments), f"[Your call was corrected: {'; '.join(notes)}.]" if notes else ""


def _find_tool(call: ToolCall, tools: Sequence[Described]) -> Described:
    by_name = {tool.name: tool for tool in tools}
    # Some servers leave the name out, and Kimi's models put it into the id, as in `functions.view:0`.
    said = call.name if call.name.strip() else call.id
    name = find_name(said, by_name)
    if name is None:
        raise unknown_tool(call.name, tools)
    return by_name[name]


def _types(described: Any) -> set[str]:
    """Return the types of an argument; empty if its schema does not say it simply."""
    kind = described.get("type") if isinstance(described, dict) else None
    return {kind} if isinstance(kind, str) else set(kind) if isinstance(kind, list) else set()


def _with_type(value: Any, types: set[str]) -> Any:
    """Return a value as one of the types: models write numbers as text, and text that looks like a number as one."""
    if types == {"string"} and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not types or "string" in types:
        return value
    text = value.strip()
    read: Any
    if text in _PYTHON_NAMES:
        read = _PYTHON_NAMES[text]
    elif types == {"integer"} and _WHOLE_FLOAT.fullmatch(text):
        read = int(text.partition(".")[0])
    else:
        try:
            read = decode(text)
        except Unclear:
            return value  # the tool says what it expects
    return read if read is None or any(kind in types for kind in _kinds(read)) else value


def _kinds(value: Any) -> tuple[str, ...]:
    """Return the types of JSON Schema that a value has."""
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, int):
        return "integer", "number"
    return {float: ("number",), list: ("array",), dict: ("object",)}.get(type(value), ())
