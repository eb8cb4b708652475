"""What a syntax of actions is: from a reply to calls, from a call to an action, from an observation to a message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from agents.llm.endpoint import Call, Message, Reply
from env.actions import Action, Observation
from env.tools.base import Described

SHOWN = 200
"""Characters of a wrong call that its correction repeats."""


class BadCall(Exception):
    """A call that is no action; the message is the correction."""


class Syntax(Protocol):
    """How a model writes its actions."""

    def described(self) -> list[dict[str, Any]]:
        """The tools, as a request describes them: name, description, parameters. Empty: the prompt does."""
        ...

    def help(self) -> str:
        """What the prompt has to say about writing actions; empty where the request describes the tools."""
        ...

    def calls(self, reply: Reply) -> Sequence[Call]:
        """The calls in a reply, in order."""
        ...

    def said(self, reply: Reply) -> Message:
        """The reply as a message of the conversation."""
        ...

    def read(self, call: Call) -> Action:
        """The action that a call stands for. Raises BadCall."""
        ...

    def no_call(self, reply: Reply) -> str:
        """The correction of a reply without a call."""
        ...

    def opening(self, observation: Observation) -> str:
        """The first observation as the task's prompt shows it."""
        ...

    def answer(self, call: Call | None, observation: Observation) -> Message:
        """What came of a call as a message; of a reply without one where `call` is None."""
        ...


def unknown(name: str, tools: Sequence[Described]) -> BadCall:
    """The correction of a call of a tool that there is not."""
    return BadCall(f"There is no tool {name!r}. Tools: {', '.join(tool.name for tool in tools)}.")
