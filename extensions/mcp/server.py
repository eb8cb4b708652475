"""Description of an MCP server: how it is started, and what it offers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from stackrank.env.environment import Environment
from stackrank.errors import InfrastructureError


class McpServerFailed(InfrastructureError):
    """An entrant's server cannot be used before the agent ran anything. This is never the entrant's failure."""


class McpServerChanged(McpServerFailed):
    """A server offers different tools than those of the entrant's identity."""


class McpServer(BaseModel):
    """An MCP server: a program that is started in the sandbox of every episode and communicates over standard input and
    output. An entrant gets its tools with `tools: SET+NAME`."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    command: list[str] = Field(min_length=1)
    """The program and its arguments, started in the workspace. `TASK_PYTHON` in its environment is the task's
    Python."""
    requirements: list[str] = Field(default_factory=list)
    """Requirements that pip installs for it, in a separate environment whose programs come first on its `PATH`.
    Pin the versions: packages are installed only once."""
    env: dict[str, str] = Field(default_factory=dict)
    """Additional environment variables."""
    tools: list[str] | None = Field(default=None, min_length=1)
    """The tools that the entrant gets, by the server's names. Absent: all."""
    varies: list[str] = Field(default_factory=list)
    """Regular expressions for parts of its answers that vary from run to run, such as ports. They are replaced by
    `...`, because a replay would otherwise find differences."""

    @field_validator("command", "requirements")
    @classmethod
    def _no_nul(cls, value: list[str]) -> list[str]:
        if any("\0" in each for each in value):
            raise ValueError("it holds a NUL character")
        return value

    @field_validator("varies")
    @classmethod
    def _expressions(cls, value: list[str]) -> list[str]:
        for each in value:
            try:
                re.compile(each)
            except re.error as error:
                raise ValueError(f"{each!r} is not a regular expression: {error}") from None
        return value

    @field_validator("env")
    @classmethod
    def _variables(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if not name or "=" in name or "\0" in name + text:
                raise ValueError(f"{name!r} cannot be the name of an environment variable")
        return value

    def steady(self, answer: str) -> str:
        """Return an answer with the parts that vary replaced."""
        for each in self.varies:
            answer = re.sub(each, "...", answer)
        return answer

    def identity(self) -> dict[str, Any]:
        """Return what identifies the server: if it changes, the entrant is another one."""
        return self.model_dump()

    @property
    def prefix(self) -> Environment | None:
        """The environment that the server's packages are installed in; None if it needs none."""
        return Environment(requirements=tuple(self.requirements)) if self.requirements else None


@dataclass(frozen=True)
class Offer:
    """A server, with what it offered when it was asked before the first episode."""

    name: str
    """The server's name in the run's specification."""
    server: McpServer
    version: str
    """The name and version that the server itself states."""
    tools: tuple[Mapping[str, Any], ...]
    """The tools that the entrant gets, each as the server described it."""

    def identity(self) -> dict[str, Any]:
        """Return what identifies the offer: if it changes, the entrant is another one."""
        return {"version": self.version, "tools": [dict(each) for each in self.tools]}


def difference(before: Offer, now: Offer) -> str:
    """Say in words how a later offer of the same server differs; empty if it does not."""
    old = {each["name"]: each for each in before.tools}
    new = {each["name"]: each for each in now.tools}
    said = [f"no {name}" for name in old if name not in new]
    said += [f"{name}, which is new" for name in new if name not in old]
    said += [f"{name}, described otherwise" for name in new if name in old and new[name] != old[name]]
    if not said and before.version != now.version:
        said = [f"the version {now.version} in the place of {before.version}"]
    return ", ".join(said[:5]) + (", ..." if len(said) > 5 else "")
