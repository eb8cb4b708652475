"""Actions as tool calls: from a reply to actions, from observations to messages. Another syntax is another class."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agents.llm.endpoint import Call, Message, Reply
from env.actions import Action, Observation
from env.tools import ToolSet, find_tool
from env.tools.base import schema

_SHOWN = 200
"""Characters of a wrong call that its correction repeats."""


class BadCall(Exception):
    """A call that is no action; the message is the correction."""


class ToolCalling:
    """The function calling of the OpenAI protocol."""

    def __init__(self, tools: ToolSet) -> None:
        self._names = tools.tools

    def described(self) -> list[dict[str, Any]]:
        """The tools, as a request describes them."""
        tools = (find_tool(name) for name in self._names)
        return [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": schema(tool)},
            }
            for tool in tools
        ]

    def said(self, reply: Reply) -> Message:
        """The reply as a message of the conversation."""
        message: Message = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    # Servers refuse a conversation that holds arguments which are no JSON.
                    "function": {"name": call.name or "none", "arguments": _valid(call.arguments)},
                }
                for call in reply.calls
            ]
        elif not reply.text:
            message["content"] = "(nothing)"
        return message

    def read(self, call: Call) -> Action:
        """The action that a call stands for. Raises BadCall."""
        tools = ", ".join(self._names)
        if call.name not in self._names:
            raise BadCall(f"There is no tool {call.name!r}. Tools: {tools}.")
        try:
            arguments = json.loads(call.arguments or "{}")
        except ValueError as error:
            raise BadCall(
                f"The arguments of {call.name} are not valid JSON ({error}): {call.arguments[:_SHOWN]!r}. "
                "Nothing was done; send the call again."
            ) from None
        if not isinstance(arguments, dict):
            raise BadCall(f"The arguments of {call.name} have to be a JSON object; nothing was done.")
        return Action(call.name, arguments)

    def no_call(self, reply: Reply) -> str:
        """The correction of a reply without a call."""
        if reply.cut_off:
            return (
                "Your answer was cut off at its greatest length before it called a tool. Be brief, and call one tool."
            )
        return f"Your answer calls no tool. Every answer has to call one of: {', '.join(self._names)}."

    def answer(self, call: Call | None, observation: Observation) -> Message:
        """What came of a call as a message; of a reply without one where `call` is None."""
        if call is None:
            return {"role": "user", "content": observation.text}
        return {"role": "tool", "tool_call_id": call.id, "content": observation.text}


def notes(tools: ToolSet) -> Sequence[dict[str, str]]:
    """What a prompt says about each tool: its name, and from when on it can be used."""
    locked = dict(tools.after_rewrites)
    return [
        {
            "name": name,
            "description": find_tool(name).description,
            "note": f"becomes available after {locked[name]} successful rewrites" if name in locked else "",
        }
        for name in tools.tools
    ]


def _valid(arguments: str) -> str:
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except ValueError:
        return "{}"
