"""Actions as text, for models without tool calling: one fenced block, observations as JSON.

The first line of a block is the tool and its arguments, by position or by name. An argument of several lines (code,
commands) follows below it unchanged, so that nothing has to be escaped:

    ```action
    rewrite cart.py 5 6
        for item in items:
            total += item.price
    ```

A JSON object, {"tool": ..., "arguments": {...}}, is understood too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackrank.agents.llm import prompting
from stackrank.agents.llm.endpoints.endpoint import Message, Reply
from stackrank.agents.llm.repairs.json_object import MAX_CALL, MAX_SHOWN
from stackrank.agents.llm.repairs.thoughts import blank_thoughts
from stackrank.agents.llm.syntaxes.syntax import BadCall, parse_json, unknown_tool
from stackrank.agents.llm.syntaxes.tool_call import ToolCall
from stackrank.env.actions import Action, Observation
from stackrank.env.tools.base import Described, descriptions, schema
from stackrank.env.tools.describe import usage

_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_WORD = re.compile(r"""(?:(?P<name>\w+)=)?(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>\S+))""")


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block."""

    info: str
    text: str
    end: int
    """Index of the first line after the block."""
    closed: bool


class FencedText:
    """The syntax of one action in a fenced block."""

    def __init__(self, tools: Sequence[Described]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._schemas = {tool.name: schema(tool) for tool in tools}

    def describe_tools(self) -> list[dict[str, Any]]:
        """Empty: the prompt describes the tools."""
        return []

    def write_help(self) -> str:
        """Return how to write an action, and each tool with its arguments."""
        tools = [
            {
                "name": name,
                "usage": self._usage(name),
                "description": tool.description,
                "arguments": descriptions(self._schemas[name]),
                "body": tool.arguments.body,
            }
            for name, tool in self._tools.items()
        ]
        return prompting.render("text", tools=tools)

    def find_calls(self, reply: Reply) -> Sequence[ToolCall]:
        """Return the first action; what follows it is not carried out."""
        block = self._block(reply)
        if block is None:
            return ()
        text = block.text.strip("\n")
        name = text.split(maxsplit=1)[0] if text.strip() else ""
        if text.lstrip().startswith("{"):
            name = str((_json_call(text) or {}).get("tool", ""))
        return (ToolCall("", name, text),)

    def trim_text(self, reply: Reply) -> str:
        """Return the reply up to the end of its action: what the model makes up after that would mislead it."""
        block = self._block(reply)
        lines = reply.text.split("\n")
        return reply.text if block is None or not "".join(lines[block.end :]).strip() else "\n".join(lines[: block.end])

    def read_action(self, call: ToolCall) -> tuple[Action, str]:
        """Return the action that a block stands for; nothing is repaired. Raises BadCall."""
        return self._action(call), ""

    def _action(self, call: ToolCall) -> Action:
        if len(call.arguments) > MAX_CALL:
            raise BadCall(f"The action has more than {MAX_CALL:,} characters. Nothing was done; write a shorter one.")
        if call.arguments.lstrip().startswith("{"):
            return self._from_json(call.arguments)
        if not call.name:
            raise BadCall("Your action block is empty. Its first line must be a tool and its arguments.")
        if call.name not in self._tools:
            raise unknown_tool(call.name, list(self._tools.values()))
        head, _, below = call.arguments.partition("\n")
        head_text = head.strip()[len(call.name) :].strip()
        body = self._tools[call.name].arguments.body
        if not body:
            if below.strip():
                raise BadCall(
                    f"{call.name} takes nothing below its first line: {self._usage(call.name)}. "
                    "Nothing was done; write only one action per answer."
                )
            return Action(call.name, self._words(call.name, head_text))
        if next(iter(self._schemas[call.name]["properties"])) == body:
            arguments, head_text = self._leading(call.name, head_text)
            lines = [head_text, below] if head_text and below else [head_text or below]
            text = "\n".join(lines).strip("\n")
            return Action(call.name, {body: text, **arguments} if text or body not in arguments else arguments)
        arguments = self._words(call.name, head_text)
        replaces = self._tools[call.name].arguments.replaces
        if replaces and replaces not in arguments and (replacement := _old_and_new(below)):
            return Action(call.name, {**arguments, replaces: replacement[0], body: replacement[1]})
        if replaces and below:
            arguments[body] = below  # the text may be part of a line
        elif below:
            # Text of a file ends with a newline.
            arguments[body] = below if below.endswith("\n") else below + "\n"
        elif body not in arguments:
            raise BadCall(
                f"{call.name} needs {body} on the lines below the first: {self._usage(call.name)}. "
                f'Nothing was done. To leave it empty, write {body}="" on the first line.'
            )
        return Action(call.name, arguments)

    def correct_missing_call(self, reply: Reply) -> str:
        """Return the correction for a reply without an action."""
        if reply.cut_off:
            return "Your answer was cut off at the length limit before its action ended. Be brief."
        names = ", ".join(self._tools)
        return (
            "Your answer contains no action. End every answer with one block: a line ```action, a line with a tool and "
            f"its arguments, a line ```. Tools: {names}."
        )

    def write_opening(self, observation: Observation) -> str:
        """Return the observation as JSON."""
        return observation.as_json()

    def write_result(self, call: ToolCall | None, observation: Observation) -> Message:
        """Return the observation as JSON."""
        return {"role": "user", "content": observation.as_json()}

    def _usage(self, name: str) -> str:
        described = self._schemas[name]
        return usage(name, described["required"], list(described["properties"]), self._tools[name].arguments.body)

    def _block(self, reply: Reply) -> _Block | None:
        """Return the block with the action: the first that is marked as one, else the only one that looks like one."""
        blocks = [block for block in _blocks(blank_thoughts(reply.text)) if block.closed or not reply.cut_off]
        marked = [block for block in blocks if block.info == "action"]
        if marked:
            return marked[0]
        candidates = [block for block in blocks if self._looks_like_one(block.text)]
        return candidates[0] if len(candidates) == 1 else None

    def _looks_like_one(self, text: str) -> bool:
        words = text.split(maxsplit=1)
        return bool(words) and (words[0] in self._tools or "tool" in (_json_call(text) or {}))

    def _from_json(self, text: str) -> Action:
        decoded = _json_call(text)
        if decoded is None:
            raise BadCall(
                f"The action is not valid JSON: {text[:MAX_SHOWN]!r}. Nothing was done; write the tool and its "
                "arguments on one line, and code on the lines below it."
            )
        name, arguments = decoded.get("tool"), decoded.get("arguments", {})
        if not isinstance(name, str) or name not in self._tools:
            raise unknown_tool(str(name), list(self._tools.values()))
        if not isinstance(arguments, dict):
            raise BadCall(f"The arguments of {name} must be a JSON object; nothing was done.")
        return Action(name, arguments)

    def _words(self, tool: str, text: str) -> dict[str, Any]:
        """Parse the arguments on a first line, by position or by name. Raises BadCall."""
        properties: Mapping[str, Any] = self._schemas[tool]["properties"]
        arguments: dict[str, Any] = {}
        for word in _WORD.finditer(text):
            name = word["name"]
            if name is None:
                free = [
                    argument
                    for argument in properties
                    if argument not in arguments and argument != self._tools[tool].arguments.body
                ]
                if not free:
                    raise BadCall(f"Too many arguments at {word[0]!r}: {self._usage(tool)}. Nothing was done.")
                name = free[0]
            elif name not in properties:
                raise BadCall(
                    f"{tool} has no argument {name!r}: {self._usage(tool)}. Nothing was done; put a value that "
                    "contains = or spaces in quotes."
                )
            arguments[name] = _value(word, properties[name])
        return arguments

    def _leading(self, tool: str, text: str) -> tuple[dict[str, Any], str]:
        """Return the named arguments at the beginning of a line, and the rest of the line."""
        properties: Mapping[str, Any] = self._schemas[tool]["properties"]
        arguments: dict[str, Any] = {}
        while (word := _WORD.match(text)) and word["name"] in properties:
            arguments[word["name"]] = _value(word, properties[word["name"]])
            text = text[word.end() :].lstrip()
        return arguments, text


def _blocks(text: str) -> list[_Block]:
    lines = text.split("\n")
    blocks: list[_Block] = []
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number].rstrip())
        number += 1
        if opening is None:
            continue
        info, _, head = opening["info"].strip().partition(" ")
        content = [head] if head else []
        closed = False
        while number < len(lines) and not closed:
            closed = _closes(lines[number], opening["marks"])
            if not closed:
                content.append(lines[number].removeprefix(opening["indent"]).rstrip("\r"))
            number += 1
        blocks.append(_Block(info.lower(), "\n".join(content), number, closed))
    return blocks


def _closes(line: str, marks: str) -> bool:
    line = line.strip()
    return len(line) >= len(marks) and set(line) == {marks[0]}


def _json_call(text: str) -> dict[str, Any] | None:
    try:
        decoded = parse_json(text, "")
    except BadCall:
        return None
    return decoded if isinstance(decoded, dict) else None


def _old_and_new(below: str) -> tuple[str, str] | None:
    """Return the old and the new lines of a text in the form of a merge conflict; None if it is not one."""
    lines = below.strip("\n").split("\n")
    middle = [number for number, line in enumerate(lines) if line.rstrip() == "======="]
    if len(middle) != 1 or not lines[0].startswith("<<<<<<<") or not lines[-1].startswith(">>>>>>>"):
        return None
    old, new = lines[1 : middle[0]], lines[middle[0] + 1 : -1]
    return "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)


def _value(word: re.Match[str], described: Any) -> Any:
    text = next(word[group] for group in ("double", "single", "plain") if word[group] is not None)
    if "string" in _types(described):
        return text
    for spelled in (text, text.lower()):
        try:
            return parse_json(spelled, "")
        except BadCall:
            continue
    return text


def _types(described: Any) -> set[str]:
    """Return the types that a schema names; empty if it leaves them open."""
    if not isinstance(described, dict):
        return set()
    types = described.get("type", ())
    inner = [subschema for key in ("anyOf", "oneOf") for subschema in described.get(key, ())]
    return {types} if isinstance(types, str) else {*types, *(kind for subschema in inner for kind in _types(subschema))}
