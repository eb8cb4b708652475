"""Mends calls that are not written as the protocol says, but still have only one meaning.

Servers and models differ: a name in other capitals or after `functions.`, arguments encoded twice or wrapped in another
object, raw newlines in JSON, `null` for no arguments, one argument too many, a call as text. The model is told what was
mended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from stackrank.agents.llm.syntaxes.syntax import LONGEST, SHOWN, BadCall, parse_json, unknown_tool
from stackrank.agents.llm.syntaxes.tool_call import ToolCall, find_single_object
from stackrank.env.actions import Action
from stackrank.env.tools.base import Described, schema

_HERMES = re.compile(r"<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=(\w+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_NAMED = re.compile(r"functions\.([\w-]+):\s*(\{.*?\})?\s*(?=functions\.[\w-]+:|\Z)", re.DOTALL)
_AROUND = re.compile(r"\A(functions|tools|default_api)[.:]|(<\|.*|:\d+)\Z", re.DOTALL)
"""What models and servers put around a tool's name: a module, the model's special tokens, the number of the call."""
_WRAPPERS = ("arguments", "parameters", "input")


def repair_call(call: ToolCall, tools: Sequence[Described]) -> tuple[Action, str]:
    """Return the action that a call means, and a note on what had to be mended, empty if nothing. Raises BadCall."""
    tool = _tool(call.name, tools)
    described = schema(tool)
    properties: Mapping[str, Any] = described["properties"]
    # Schemas of foreign tools may allow arguments that they do not name.
    closed = described.get("additionalProperties") is False
    notes = [] if tool.name == call.name else [f"the tool {tool.name}"]
    arguments = _arguments(call, tool.name, notes)
    if (closed or properties) and len(arguments) == 1 and not properties.keys() & arguments.keys():
        (name, inner), *_ = arguments.items()
        if name in _WRAPPERS and isinstance(inner, dict):
            arguments = inner
            notes.append(f"the arguments inside {name}")
    if closed and (unknown_names := [name for name in arguments if name not in properties]):
        if len(unknown_names) == len(arguments) and properties:
            # None of its arguments is known: what was meant can only be guessed.
            raise BadCall(
                f"{tool.name} has no argument {', '.join(map(repr, unknown_names))[:SHOWN]}; it takes {', '.join(properties)}. "
                "Nothing was done."
            )
        arguments = {name: value for name, value in arguments.items() if name in properties}
        notes.append(f"no {', '.join(unknown_names)[:SHOWN]}, which {tool.name} does not take")
    for name, value in arguments.items():
        if (
            _is_text(properties.get(name))
            and value
            and isinstance(value, list)
            and all(isinstance(e, str) for e in value)
        ):
            arguments = {**arguments, name: "\n".join(value)}
            notes.append(f"{name} as lines")
    return Action(tool.name, arguments), f"[Your call was taken with {' and '.join(notes)}.]" if notes else ""


def find_calls_in_text(text: str) -> tuple[ToolCall, ...]:
    """Return the calls that a server left in the text: in the forms that models are trained with (Hermes, Qwen-Coder),
    or in that of llama-cpp-python, which leaves them there if a model first begins a message."""
    calls = []
    for body in _HERMES.findall(text):
        try:
            decoded = parse_json(body, "")
        except BadCall:
            continue
        if isinstance(decoded, dict) and isinstance(decoded.get("name"), str):
            arguments: Any = next((decoded[name] for name in _WRAPPERS if name in decoded), {})
            calls.append(
                ToolCall("", decoded["name"], arguments if isinstance(arguments, str) else json.dumps(arguments))
            )
    for name, body in () if calls else _FUNCTION.findall(text):
        values = {parameter: _value(value) for parameter, value in _PARAMETER.findall(body)}
        calls.append(ToolCall("", name, json.dumps(values)))
    if not calls and text.lstrip().startswith("functions."):
        calls = [ToolCall("", name, arguments) for name, arguments in _NAMED.findall(text)]
    return tuple(calls)


def _value(text: str) -> Any:
    """Return a parameter between tags as null, a number or a truth value if it looks like one, else as text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if value is None or isinstance(value, int | float) else text


def _is_text(described: Any) -> bool:
    return isinstance(described, dict) and described.get("type") == "string"


def _tool(name: str, tools: Sequence[Described]) -> Described:
    by_name = {tool.name: tool for tool in tools}
    if name in by_name:
        return by_name[name]
    normalized = _AROUND.sub("", name.strip()).lower().replace("-", "_")
    matches = [tool for tool in tools if tool.name.lower().replace("-", "_") == normalized]
    if len(matches) != 1:
        raise unknown_tool(name, tools)
    return matches[0]


def _arguments(call: ToolCall, tool: str, notes: list[str]) -> dict[str, Any]:
    """Return the arguments of a call, and add to `notes` what was mended. Raises BadCall."""
    label = f"The JSON of the arguments of {tool}"
    text = call.arguments.strip()
    try:
        arguments = parse_json(text, label) if text else {}
    except BadCall:
        if (arguments := find_single_object(text)) is None or len(text) > LONGEST:
            raise
        notes.append("the only arguments that it has")
    if isinstance(arguments, str):
        arguments = parse_json(arguments, label) if arguments.strip() else {}
        notes.append("its arguments decoded twice")
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise BadCall(f"The arguments of {tool} have to be a JSON object; nothing was done.")
    return arguments
