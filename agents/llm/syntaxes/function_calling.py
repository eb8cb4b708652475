"""Actions as tool calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stackrank.agents.llm.endpoints.endpoint import Message, Reply
from stackrank.agents.llm.repairs.calls import repair_call
from stackrank.agents.llm.repairs.leaked_calls import Leaked, find_leaked
from stackrank.agents.llm.syntaxes.tool_call import ToolCall
from stackrank.env.actions import Action, Observation
from stackrank.env.tools.base import Described, schema


class FunctionCalling:
    """The function calling of the OpenAI protocol."""

    def __init__(self, tools: Sequence[Described]) -> None:
        self._tools = tools

    def describe_tools(self) -> list[dict[str, Any]]:
        """Return the tools as a request describes them."""
        return [
            {"name": tool.name, "description": tool.description, "parameters": schema(tool)} for tool in self._tools
        ]

    def write_help(self) -> str:
        """Empty: the request itself describes the tools."""
        return ""

    def find_calls(self, reply: Reply) -> Sequence[ToolCall]:
        """Return the calls that the endpoint reports, else those that it left in the text."""
        if reply.calls or reply.cut_off:  # a call in a text that is cut off may have had more arguments
            return reply.calls
        return self._leaked(reply).calls

    def _leaked(self, reply: Reply) -> Leaked:
        return find_leaked(reply.text, reply.reasoning, [tool.name for tool in self._tools])

    def trim_text(self, reply: Reply) -> str:
        """Return the reply's text unchanged."""
        return reply.text

    def read_action(self, call: ToolCall) -> tuple[Action, str]:
        """Return the action that a call stands for, and a note on what was repaired. Raises BadCall."""
        return repair_call(call, self._tools)

    def correct_missing_call(self, reply: Reply) -> str:
        """Return the correction for a reply without a call."""
        if reply.cut_off:
            return "Your answer was cut off at the length limit before it called a tool. Be brief, and call one tool."
        names = ", ".join(tool.name for tool in self._tools)
        reasons = filter(None, ["Your answer calls no tool.", self._leaked(reply).refusal])
        return f"{' '.join(reasons)} Every answer must call one of: {names}."

    def write_opening(self, observation: Observation) -> str:
        """Return the observation's text unchanged."""
        return observation.text

    def write_result(self, call: ToolCall | None, observation: Observation) -> Message:
        """Return the result of a call as a message. `call` is None for a reply that had no call."""
        if call is None or not call.id:  # a call in the text has no result of its own
            return {"role": "user", "content": observation.text}
        return {"role": "tool", "tool_call_id": call.id, "content": observation.text}
