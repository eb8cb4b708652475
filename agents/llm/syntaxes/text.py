"""Actions as text, for models without tool calling: a fenced block in the notation of `notation`; plain observations.

A JSON object, {"tool": ..., "arguments": {...}}, is understood too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stackrank.agents.llm import prompting
from stackrank.agents.llm.endpoints.endpoint import Message, Reply
from stackrank.agents.llm.repairs.json_object import MAX_CALL, MAX_SHOWN
from stackrank.agents.llm.syntaxes.blocks import Block, find_blocks, write_block
from stackrank.agents.llm.syntaxes.notation import Notation
from stackrank.agents.llm.syntaxes.syntax import BadCall, parse_json, unknown_tool
from stackrank.agents.llm.syntaxes.tool_call import ToolCall
from stackrank.env.actions import Action, Observation
from stackrank.env.tools.base import Described, descriptions, schema

_LOOP = "    for item in items:\n        total {}= item.price\n"
EXAMPLES = (
    Action("view", {"path": "src/cart.py", "start": 1, "end": 40}),
    Action("rewrite", {"path": "src/cart.py", "start": 5, "end": 6, "new_code": _LOOP.format("+")}),
    Action("str_replace", {"path": "src/cart.py", "old_str": _LOOP.format(""), "new_str": _LOOP.format("+")}),
    Action("pdb", {"command": "b src/cart.py:12 if total > 3\nc\np total\n"}),
    Action("inspect", {"place": "src/cart.py:12", "code": "total\n[item.price for item in items]\n"}),
    Action("trace", {"place": "Cart.add", "count": 5, "code": "item.price\n"}),
    Action("calls", {"place": "Cart.add", "condition": "result is None"}),
    Action("investigate", {"question": "Why is total 7 in test_discount, and which line makes it so?\n"}),
    Action("bash", {"command": "grep -n 'total' src/*.py\n"}),
)
"""The actions that the prompt shows, if the model has their tools."""
MOST_EXAMPLES = 3


class FencedText:
    """The syntax of one action in a fenced block."""

    def __init__(self, tools: Sequence[Described]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._notations = {tool.name: Notation(tool) for tool in tools}

    def describe_tools(self) -> list[dict[str, Any]]:
        """Empty: the prompt describes the tools."""
        return []

    def write_help(self) -> str:
        """Return how to write an action, and each tool with its arguments."""
        tools = [
            {
                "usage": self._notations[name].usage(),
                "description": tool.description,
                "arguments": descriptions(schema(tool)),
            }
            for name, tool in self._tools.items()
        ]
        examples = [self.write(example) for example in EXAMPLES if example.tool in self._tools][:MOST_EXAMPLES]
        return prompting.render("text", tools=tools, examples=examples)

    def write(self, action: Action, unnamed: int | None = None) -> str:
        """Return an action as a model writes it; for `unnamed` see `Notation.write`."""
        return write_block("action", self._notations[action.tool].write(action.arguments, unnamed))

    def find_calls(self, reply: Reply) -> Sequence[ToolCall]:
        """Return the first action; what follows it is not carried out."""
        block = self._block(reply)
        if block is None:
            return ()
        lines = _without_blank_beginning(block.lines)
        text = "\n".join(lines)
        name = lines[0].split()[0] if lines else ""
        if name.startswith("{"):
            name = _tool_of(_read_object(text) or {})
        return (ToolCall("", name, text),)

    def trim_text(self, reply: Reply) -> str:
        """Return the reply up to the end of its action: what the model makes up after that would mislead it."""
        block = self._block(reply)
        lines = reply.text.split("\n")
        return reply.text if block is None or not "".join(lines[block.end :]).strip() else "\n".join(lines[: block.end])

    def read_action(self, call: ToolCall) -> tuple[Action, str]:
        """Return the action that a block stands for; nothing is repaired. Raises BadCall."""
        return self._read(call), ""

    def _read(self, call: ToolCall) -> Action:
        if len(call.arguments) > MAX_CALL:
            raise BadCall(f"The action has more than {MAX_CALL:,} characters. Nothing was done; write a shorter one.")
        if call.arguments.startswith("{"):
            return self._from_json(call.arguments)
        if not call.name:
            raise BadCall("Your action block is empty. Its first line must be a tool and its arguments.")
        if call.name not in self._tools:
            raise unknown_tool(call.name, list(self._tools.values()))
        return Action(call.name, self._notations[call.name].read(call.arguments.split("\n")))

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
        """Return the observation's text unchanged."""
        return observation.text

    def write_result(self, call: ToolCall | None, observation: Observation) -> Message:
        """Return the observation's text below a line that says whether the action was carried out."""
        return {"role": "user", "content": f"{'ok' if observation.ok else 'refused'}\n{observation.text}"}

    def _block(self, reply: Reply) -> Block | None:
        """Return the block with the action: the first that is marked as one, else the only one that looks like one."""
        blocks = [block for block in find_blocks(reply.text) if block.closed or not reply.cut_off]
        marked = [block for block in blocks if block.info == "action"]
        if marked:
            return marked[0]
        candidates = [block for block in blocks if self._looks_like_one(block)]
        return candidates[0] if len(candidates) == 1 else None

    def _looks_like_one(self, block: Block) -> bool:
        lines = _without_blank_beginning(block.lines)
        if not lines:
            return False
        return lines[0].split()[0] in self._tools or _tool_of(_read_object("\n".join(lines)) or {}) != ""

    def _from_json(self, text: str) -> Action:
        decoded = _read_object(text)
        if decoded is None:
            raise BadCall(
                f"The action is not valid JSON: {text[:MAX_SHOWN]!r}. Nothing was done; write the tool and its "
                "arguments on one line, and code on the lines below it."
            )
        name = _tool_of(decoded)
        if name not in self._tools:
            raise unknown_tool(name, list(self._tools.values()))
        arguments = decoded.get("arguments", {})
        if not isinstance(arguments, dict):
            raise BadCall(f"The arguments of {name} must be a JSON object; nothing was done.")
        beside = {key: value for key, value in decoded.items() if key not in ("tool", "arguments")}
        return Action(name, {**beside, **arguments})


def _tool_of(decoded: dict[str, Any]) -> str:
    return str(decoded.get("tool", ""))


def _without_blank_beginning(lines: Sequence[str]) -> Sequence[str]:
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    return [lines[first].lstrip(), *lines[first + 1 :]] if first < len(lines) else []


def _read_object(text: str) -> dict[str, Any] | None:
    try:
        decoded = parse_json(text, "")
    except BadCall:
        return None
    return decoded if isinstance(decoded, dict) else None
