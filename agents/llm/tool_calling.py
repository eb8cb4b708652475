"""Actions as tool calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agents.llm.endpoint import Call, Message, Reply
from agents.llm.syntax import SHOWN, BadCall, unknown
from env.actions import Action, Observation
from env.tools.base import Described, schema


class ToolCalling:
    """The function calling of the OpenAI protocol."""

    def __init__(self, tools: Sequence[Described]) -> None:
        self._tools = tools

    def described(self) -> list[dict[str, Any]]:
        """The tools, as a request describes them."""
        return [
            {"name": tool.name, "description": tool.description, "parameters": schema(tool)} for tool in self._tools
        ]

    def help(self) -> str:
        """The request describes the tools."""
        return ""

    def calls(self, reply: Reply) -> Sequence[Call]:
        """The calls, as the endpoint reports them."""
        return reply.calls

    def said(self, reply: Reply) -> Message:
        """The reply as a message of the conversation."""
        message: Message = {"role": "assistant", "content": reply.text or None}
        if reply.items:
            message["items"] = [_sound(item) for item in reply.items]
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
        if call.name not in (tool.name for tool in self._tools):
            raise unknown(call.name, self._tools)
        try:
            arguments = json.loads(call.arguments or "{}")
        except ValueError as error:
            raise BadCall(
                f"The arguments of {call.name} are not valid JSON ({error}): {call.arguments[:SHOWN]!r}. "
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
        names = ", ".join(tool.name for tool in self._tools)
        return f"Your answer calls no tool. Every answer has to call one of: {names}."

    def opening(self, observation: Observation) -> str:
        """Its text."""
        return observation.text

    def answer(self, call: Call | None, observation: Observation) -> Message:
        """What came of a call as a message; of a reply without one where `call` is None."""
        if call is None:
            return {"role": "user", "content": observation.text}
        return {"role": "tool", "tool_call_id": call.id, "content": observation.text}


def _sound(item: dict[str, Any]) -> dict[str, Any]:
    if item.get("type") != "function_call":
        return item
    return {**item, "name": item.get("name") or "none", "arguments": _valid(item.get("arguments") or "")}


def _valid(arguments: str) -> str:
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except ValueError:
        return "{}"
