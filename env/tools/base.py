"""What a tool is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict, field_validator

from env.actions import Observation
from env.sandbox.client import Sandbox
from env.task import Task


class ToolError(Exception):
    """The agent asked for something that cannot be done; the message becomes the observation."""


class Arguments(BaseModel):
    """Base of every tool's arguments. Fields carry descriptions: they become the schema that models read."""

    model_config = ConfigDict(extra="forbid")

    body: ClassVar[str] = ""
    """The argument that is several lines of text, code or commands, if there is one. Models without tool calling write
    it below the others, as it is."""

    @field_validator("*")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        # JSON can write what no path, command or file can hold; the guest would take it for a fault of its own.
        if isinstance(value, str):
            if "\0" in value:
                raise ValueError("it holds a NUL character")
            try:
                value.encode()
            except UnicodeEncodeError:
                raise ValueError("it holds half of a surrogate pair, which is no character") from None
        return value


@dataclass(slots=True)
class Bench:
    """What a tool works with: one episode's sandbox and task."""

    sandbox: Sandbox
    task: Task
    counts: dict[str, int] = field(default_factory=dict)
    """How often each tool succeeded so far."""


class Tool(Protocol):
    """One thing an agent can do. Stateless: what has to be remembered lives in the sandbox or on the bench."""

    name: str
    description: str
    """What a model reads: when to use it and what comes back."""

    @property
    def arguments(self) -> type[Arguments]:
        """The model that its arguments are validated by."""
        ...

    def __call__(self, bench: Bench, arguments: Any) -> Observation:
        """Carry it out. Raises ToolError or Refused for what the agent can mend, SandboxError for what it cannot."""
        ...


class Described(Protocol):
    """A tool, as far as those who call it are told."""

    @property
    def name(self) -> str:
        """What it is called by."""
        ...

    @property
    def description(self) -> str:
        """When to use it and what comes back."""
        ...

    @property
    def arguments(self) -> type[Arguments]:
        """What it takes."""
        ...


def schema(tool: Described) -> dict[str, Any]:
    """The tool's arguments as JSON schema: the one source of function-calling schemas, help texts and tables."""
    full = tool.arguments.model_json_schema()
    properties = {
        name: {key: value for key, value in entry.items() if key != "title"}
        for name, entry in full.get("properties", {}).items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": full.get("required", []),
        "additionalProperties": False,
    }
