"""Tool servers: programs in a sandbox that offer tools to an entrant. Their definition, offers, errors, connections."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, field_validator

from stackrank.debug_events import DebugEvent
from stackrank.env.environment import Environment
from stackrank.env.local_packages import identify
from stackrank.env.state import Spoken
from stackrank.errors import StackrankError

log = logging.getLogger(__name__)


class ToolServerFailed(StackrankError):
    """A tool server does not start. Before a run, its description is wrong; in an episode, the entrant that brought the
    server has failed, as if its own program had."""


class ToolServerChanged(ToolServerFailed):
    """A tool server offers different tools than those of the entrant's identity."""


class ToolServer(BaseModel):
    """An MCP server: a program that is started in the sandbox of every episode and communicates over standard input and
    output. An entrant gets its tools with `tools: SET+NAME`."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    command: list[str] = Field(min_length=1)
    """The program and its arguments, started in the workspace. `TASK_PYTHON` in its environment is the task's
    Python."""
    requirements: list[str] = Field(default_factory=list)
    """Requirements that pip installs for it, in a separate environment whose programs come first on its `PATH`.
    Pin the versions: packages are installed only once. The whole path of a folder, a wheel or an archive is a
    requirement, too; its content is part of the entrant."""
    env: dict[str, str] = Field(default_factory=dict)
    """Additional environment variables."""
    tools: list[str] | None = Field(default=None, min_length=1)
    """The tools that the entrant gets, by the server's names. Absent: all."""
    varies: list[str] = Field(default_factory=list)
    """Regular expressions for parts of its answers that vary from run to run, such as ports. They are replaced by
    `...`, because a replay would otherwise find differences."""

    @field_validator("command", "requirements")
    @classmethod
    def _reject_nul(cls, words: list[str]) -> list[str]:
        if any("\0" in word for word in words):
            raise ValueError("must not contain a NUL character")
        return words

    @field_validator("varies")
    @classmethod
    def _check_patterns(cls, patterns: list[str]) -> list[str]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except (re.error, OverflowError, RecursionError, ValueError) as error:  # of a count, of nested groups
                raise ValueError(f"{pattern[:100]!r} is not a regular expression: {error}") from None
        return patterns

    @field_validator("env")
    @classmethod
    def _check_variables(cls, variables: dict[str, str]) -> dict[str, str]:
        for name, text in variables.items():
            if not name or "=" in name or "\0" in name + text:
                raise ValueError(f"{name!r} cannot be the name of an environment variable")
        return variables

    def mask_varying(self, answer: str) -> str:
        """Return an answer with the parts that vary replaced."""
        for pattern in self.varies:
            answer = re.sub(pattern, "...", answer)
        return answer

    def identity(self) -> dict[str, Any]:
        """Return what identifies the server: if it changes, the entrant is another one."""
        return {**self.model_dump(), "requirements": identify(self.requirements)}

    @property
    def prefix(self) -> Environment | None:
        """The environment that the server's packages are installed in; None if it needs none."""
        return Environment(requirements=tuple(self.requirements)) if self.requirements else None


@dataclass(frozen=True)
class Offer:
    """A server, with the tools that it offered before the first episode."""

    name: str
    """The server's name in the run's specification."""
    server: ToolServer
    version: str
    """The name and version that the server itself states."""
    tools: tuple[Mapping[str, Any], ...]
    """The tools that the entrant gets, each as the server described it."""

    def identity(self) -> dict[str, Any]:
        """Return what identifies the offer: if it changes, the entrant is another one."""
        return {"version": self.version, "tools": [dict(tool) for tool in self.tools]}


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a server's tool."""

    text: str
    ok: bool
    """False if the server says that its tool failed."""
    events: list[DebugEvent] | None = None
    """What the tool saw of the program; None if it reports nothing of this kind."""


class ServerConnection(Protocol):
    """The host's end of one server in one sandbox."""

    def open(self) -> Offer:
        """Start the server and ask for its tools. Raises ToolServerFailed, ToolServerChanged, SandboxError."""
        ...

    def call(self, tool: str, arguments: Mapping[str, Any], timeout_s: float) -> ToolAnswer:
        """Call a tool. Raises Refused if there is no valid answer, SandboxError.

        A server that fails is stopped, and started again with the next call.
        """
        ...

    def close(self) -> None:
        """Stop the server. Raises SandboxError."""
        ...

    def spoken(self) -> list[Spoken]:
        """Return the lines that were sent and received since the last call of this method."""
        ...


def open_connection(connection: ServerConnection) -> None:
    """Start a server of the entrant; if it fails, once more. Raises ToolServerFailed, SandboxError."""
    try:
        connection.open()
    except ToolServerChanged:
        raise
    except ToolServerFailed as error:
        log.warning("%s; it is started again", error)
        connection.close()
        connection.open()
