"""The protocol of a syntax: it reads calls from a reply and actions from calls, and writes observations as messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from stackrank.agents.llm.endpoints.endpoint import Message, Reply
from stackrank.agents.llm.repairs.json_object import MAX_SHOWN, Unclear, decode
from stackrank.agents.llm.syntaxes.tool_call import ToolCall
from stackrank.env.actions import Action, Observation
from stackrank.env.state import hanging_test
from stackrank.env.tools.base import Described
from stackrank.errors import StackrankError


class BadCall(StackrankError):
    """A call that is not an action; the message is the correction."""


def write_first_observation(syntax: Syntax, observation: Observation) -> str:
    """Return the first observation for the task's prompt, with the test that hangs, which its text does not name."""
    test = hanging_test(observation.state)
    return syntax.write_opening(observation) + (f"\n\nThe tests hung in {test}." if test else "")


def parse_json(text: str, label: str) -> Any:
    """Parse JSON from a model; texts may hold raw newlines. `label`: its name in the correction. Raises BadCall."""
    try:
        return decode(text)
    except Unclear as error:
        raise BadCall(f"{label} is {error}: {text[:MAX_SHOWN]!r}. Nothing was done.") from None


class Syntax(Protocol):
    """How a model writes its actions."""

    def describe_tools(self) -> list[dict[str, Any]]:
        """Return the tools for a request: name, description, parameters. Empty if the prompt describes them."""
        ...

    def write_help(self) -> str:
        """Return what the prompt says about writing actions; empty if the request describes the tools."""
        ...

    def find_calls(self, reply: Reply) -> Sequence[ToolCall]:
        """Return the calls in a reply, in order."""
        ...

    def trim_text(self, reply: Reply) -> str:
        """Return the part of the reply's text that stays in the conversation: all of it, or what precedes observations
        that the model makes up."""
        ...

    def read_action(self, call: ToolCall) -> tuple[Action, str]:
        """Return the action that a call stands for, and a note on what was repaired in it. Raises BadCall."""
        ...

    def correct_missing_call(self, reply: Reply) -> str:
        """Return the correction for a reply without a call."""
        ...

    def write_opening(self, observation: Observation) -> str:
        """Return the first observation as the task's prompt shows it."""
        ...

    def write_result(self, call: ToolCall | None, observation: Observation) -> Message:
        """Return the result of a call as a message. `call` is None for a reply that had no call."""
        ...


def unknown_tool(name: str, tools: Sequence[Described]) -> BadCall:
    """Return the correction for a call of an unknown tool."""
    return BadCall(f"There is no tool {name[:MAX_SHOWN]!r}. Tools: {', '.join(tool.name for tool in tools)}.")
