"""Repairs malformed calls that can still have only one meaning.

Servers and models differ: a name in other capitals or after `functions.`, arguments encoded twice or wrapped in another
object, raw newlines in JSON, `null` for no arguments, one argument too many, a call as text. A note tells the model
what was repaired.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from stackrank.agents.llm.syntaxes.syntax import MAX_CALL, MAX_SHOWN, BadCall, parse_json, unknown_tool
from stackrank.agents.llm.syntaxes.tool_call import ToolCall, find_single_object
from stackrank.env.actions import Action
from stackrank.env.tools.base import Described, schema

_HERMES_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|\Z)", re.DOTALL)
_QWEN_CALL = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_QWEN_PARAMETER = re.compile(r"<parameter=(\w+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_LLAMA_CALL = re.compile(r"functions\.([\w-]+):\s*(\{.*?\})?\s*(?=functions\.[\w-]+:|\Z)", re.DOTALL)
_NAME_DECORATION = re.compile(r"\A(functions|tools|default_api)[.:]|(<\|.*|:\d+)\Z", re.DOTALL)
"""What models and servers put around a tool's name: a module, the model's special tokens, the number of the call."""
_WRAPPERS = ("arguments", "parameters", "input")


def repair_call(call: ToolCall, tools: Sequence[Described]) -> tuple[Action, str]:
    """Return the action that a call means, and a note on what was repaired, empty if nothing. Raises BadCall."""
    tool = _find_tool(call.name, tools)
    described = schema(tool)
    properties: Mapping[str, Any] = described["properties"]
    # Schemas of foreign tools may allow arguments that they do not name.
    closed = described.get("additionalProperties") is False
    notes = [] if tool.name == call.name else [f"used the tool {tool.name}"]
    arguments = _read_arguments(call, tool.name, notes)
    if (closed or properties) and len(arguments) == 1 and not properties.keys() & arguments.keys():
        (name, inner), *_ = arguments.items()
        if name in _WRAPPERS and isinstance(inner, dict):
            arguments = inner
            notes.append(f"took the arguments out of {name}")
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
        if is_list_of_lines and _is_text(properties.get(name)):
            arguments = {**arguments, name: "\n".join(value)}
            notes.append(f"joined the lines of {name}")
    return Action(tool.name, arguments), f"[Your call was corrected: {'; '.join(notes)}.]" if notes else ""


def find_calls_in_text(text: str) -> tuple[ToolCall, ...]:
    """Return the calls that a server left in the text: in the forms that models are trained with (Hermes, Qwen-Coder),
    or in that of llama-cpp-python, which leaves them there if a model first begins a message."""
    calls = []
    for body in _HERMES_CALL.findall(text):
        try:
            decoded = parse_json(body, "")
        except BadCall:
            continue
        if isinstance(decoded, dict) and isinstance(decoded.get("name"), str):
            arguments: Any = next((decoded[name] for name in _WRAPPERS if name in decoded), {})
            calls.append(
                ToolCall("", decoded["name"], arguments if isinstance(arguments, str) else json.dumps(arguments))
            )
    for name, body in () if calls else _QWEN_CALL.findall(text):
        values = {parameter: _parse_scalar(value) for parameter, value in _QWEN_PARAMETER.findall(body)}
        calls.append(ToolCall("", name, json.dumps(values)))
    if not calls and text.lstrip().startswith("functions."):
        calls = [ToolCall("", name, arguments) for name, arguments in _LLAMA_CALL.findall(text)]
    return tuple(calls)


def _parse_scalar(text: str) -> Any:
    """Return a parameter between tags as null, a number or a truth value if it looks like one, else as text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if value is None or isinstance(value, int | float) else text


def _is_text(described: Any) -> bool:
    return isinstance(described, dict) and described.get("type") == "string"


def _find_tool(name: str, tools: Sequence[Described]) -> Described:
    by_name = {tool.name: tool for tool in tools}
    if name in by_name:
        return by_name[name]
    normalized = _NAME_DECORATION.sub("", name.strip()).lower().replace("-", "_")
    matches = [tool for tool in tools if tool.name.lower().replace("-", "_") == normalized]
    if len(matches) != 1:
        raise unknown_tool(name, tools)
    return matches[0]


def _read_arguments(call: ToolCall, tool: str, notes: list[str]) -> dict[str, Any]:
    """Return the arguments of a call, and add to `notes` what was repaired. Raises BadCall."""
    label = f"The JSON of the arguments of {tool}"
    text = call.arguments.strip()
    try:
        arguments = parse_json(text, label) if text else {}
    except BadCall:
        if (arguments := find_single_object(text)) is None or len(text) > MAX_CALL:
            raise
        notes.append("used the only JSON object in its arguments")
    if isinstance(arguments, str):
        arguments = parse_json(arguments, label) if arguments.strip() else {}
        notes.append("decoded its arguments twice")
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise BadCall(f"The arguments of {tool} must be a JSON object; nothing was done.")
    return arguments
