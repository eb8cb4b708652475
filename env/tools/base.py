"""The protocol that every tool follows. Read this page before you write a tool."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator
from pydantic_core import ErrorDetails

from stackrank.debug_events import KEY, DebugEvent, read_events, relative_path
from stackrank.env.actions import Observation
from stackrank.env.sandbox.base import Refused
from stackrank.env.sandbox.client import ChangedFile, Changes, Sandbox
from stackrank.env.state import Recorded, State, check_state, outcomes_of
from stackrank.env.task import Task
from stackrank.env.tools.servers import ServerConnection
from stackrank.errors import StackrankError
from stackrank.patches.writing import MOST_SHOWN, file_diff, unshown

if TYPE_CHECKING:
    from stackrank.env.terminal.session import Session


class ToolError(StackrankError):
    """The agent asked for something that cannot be done; the message becomes the observation."""


class Arguments(BaseModel):
    """Base class of every tool's arguments. The descriptions of the fields become the schema that models read."""

    model_config = ConfigDict(extra="forbid")

    body: ClassVar[str] = ""
    """The argument, if any, that holds several lines of text, code or commands. Models without tool calling write
    it verbatim below the other arguments."""
    replaces: ClassVar[str] = ""
    """The argument, if any, with the text that `body` replaces. Both may be written below the other arguments."""
    given_schema: ClassVar[Mapping[str, Any] | None] = None
    """The JSON schema, if it comes from a third party; None: it is derived from the fields."""

    @field_validator("*")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        # JSON can hold text that no path, command or file can hold; the guest would mistake it for a bug of its own.
        if isinstance(value, str):
            if "\0" in value:
                raise ValueError("must not contain a NUL character")
            try:
                value.encode()
            except UnicodeEncodeError:
                raise ValueError("must not contain half of a surrogate pair") from None
        return value


@dataclass(frozen=True, slots=True)
class Undoable:
    """An edit that can be undone."""

    path: str
    old: bytes | None
    """None: the file did not exist."""
    new: bytes


@dataclass(slots=True)
class Bench:
    """What a tool works with: one episode's sandbox and task."""

    sandbox: Sandbox
    task: Task
    counts: dict[str, int] = field(default_factory=dict)
    """How often each tool succeeded so far."""
    last_seen: dict[str, bytes | None] = field(default_factory=dict)
    """Path of each file that the agent has changed -> its content when it was last seen; None: the file was gone."""
    paused: dict[str, str] = field(default_factory=dict)
    """Name of a debugger session -> what it was told to debug, while that is paused; empty: the failing tests."""
    edits: list[Undoable] = field(default_factory=list)
    """The edits that have not been undone, oldest first."""
    broken: dict[str, str] = field(default_factory=dict)
    """Path of each changed Python file of the task that does not parse -> the syntax error."""
    outcomes: dict[str, str] = field(default_factory=dict)
    """Test id -> outcome in the last run of the visible tests."""
    overwritten: set[str] = field(default_factory=set)
    """Read-only files that an action changed and that have not been restored yet."""
    must_parse: bool = False
    """Whether an edit after which a file no longer parses is refused."""
    shows_failure_state: bool = False
    """Whether `eval` shows where the program stood when tests failed."""
    own_test: str = ""
    """The test file that the agent is told to write; empty if it is shown a failing test."""
    terminal: Session | None = None
    """The terminal; None until it is used."""
    servers: dict[str, ServerConnection] = field(default_factory=dict)
    """The entrant's MCP servers, by name."""
    last_messages: list[dict[str, Any]] | None = None
    """The messages that the entrant's own program sent to its model last; None if no program runs."""
    investigation: Changes | None = None
    """The workspace before the investigation that is in progress; None if there is none."""

    @property
    def failing(self) -> tuple[str, ...]:
        """Ids of the visible tests that failed when they were run last."""
        return tuple(test for test, outcome in self.outcomes.items() if outcome == "failed")

    def with_changes(self, observation: Observation) -> Observation:
        """Add to an observation what changed in the workspace since the last one, whichever tool changed it.

        Also add what was said to MCP servers and by them. Raises ValueError if the tool reports events that are none.
        """
        self.outcomes = outcomes_of(observation.state) or self.outcomes
        changed = {file.path: file for file in self.sandbox.news()}
        self.overwritten |= {path for path in changed if path in self.task.files and not self.task.may_edit(path)}
        state: dict[str, Any] = dict(check_state(observation.state))
        if state["kind"] == "branch":
            state["kind"] = "other"  # only the environment goes back
        if KEY in state:
            state[KEY] = self._located(read_events(state[KEY]))
        diff = self._diff_of(changed.values())
        if diff or state["kind"] in ("edit", "command", "terminal"):
            state["diff"] = diff
        broken = {path: file.syntax_error for path, file in changed.items() if file.syntax_error}
        self.broken = {path: error for path, error in self.broken.items() if path not in changed} | broken
        if broken:
            state["broken"] = broken
        if spoken := [line for server in self.servers.values() for line in server.spoken()]:
            state["spoken"] = spoken
        return replace(observation, state=cast(State, state))

    def changes_since(self, other: Bench) -> Recorded:
        """Return what a step changed that led from another bench to this one, as far as both have seen it."""
        seen = [{**self.task.files, **bench.last_seen} for bench in (other, self)]
        paths = [path for path in sorted({*seen[0], *seen[1]}) if seen[0].get(path) != seen[1].get(path)]
        parts: list[str] = []
        for path in paths:
            is_large = sum(map(len, parts)) > MOST_SHOWN
            parts.append(unshown(path) if is_large else file_diff(path, seen[0].get(path), seen[1].get(path)))
        broken = {path: self.broken[path] for path in paths if path in self.broken}
        return {"diff": "".join(parts), **({"broken": broken} if broken else {})}

    def _located(self, events: list[DebugEvent]) -> list[DebugEvent]:
        """Return events with paths relative to the workspace, where they are in it."""
        for event in events:
            if "file" in event:
                event["file"] = relative_path(event["file"], self.sandbox.root)
        return events

    def restore_readonly(self) -> str:
        """Restore read-only files before a program is run. Returns notes for the agent about the restored files."""
        notes = []
        for path in sorted(self.overwritten):
            try:
                if self._read_if_present(path) != self.task.files[path]:
                    self.sandbox.restore(path, self.task.files[path])
                    notes.append(f"[{path} is read-only: your change to it was undone first]")
            except Refused as refused:
                notes.append(f"[{path} is read-only, but your change to it could not be undone: {refused}]")
        self.overwritten.clear()
        return "".join(f"{note}\n" for note in notes)

    def _read_if_present(self, path: str) -> bytes | None:
        try:
            return self.sandbox.read(path)
        except Refused:
            return None

    def _diff_of(self, changed: Iterable[ChangedFile]) -> str:
        """Return the diff of files since they were last seen, and remember them as seen.

        Files that would make the diff too large are named and not shown.
        """
        parts: list[str] = []
        room = MOST_SHOWN
        for path, size, _ in changed:
            old = self.last_seen[path] if path in self.last_seen else self.task.files.get(path)
            try:
                if size is not None and (size > MOST_SHOWN or room <= 0):
                    raise Refused(f"{path} is too large")
                new = None if size is None else self.sandbox.read(path)
            except Refused:
                parts.append(unshown(path))
                continue
            self.last_seen[path] = new
            parts.append(file_diff(path, old, new))
            room -= len(parts[-1])
        return "".join(parts)


class Tool(Protocol):
    """One thing an agent can do. A tool has no state: what it must remember lives in the sandbox or on the bench."""

    name: str
    version: str
    """Changes when the tool's behaviour changes; part of the entrant's identity."""
    description: str
    """What a model reads: when to use the tool and what it returns."""

    @property
    def arguments(self) -> type[Arguments]:
        """The Pydantic model that validates its arguments."""
        ...

    def __call__(self, bench: Bench, arguments: Any) -> Observation:
        """Run the tool. Raises ToolError or Refused if the agent can correct the problem, SandboxError if it cannot.

        Any other error is a bug. The agent is told that the tool failed, and the verdict's notes say how.
        """
        ...


def read_arguments(tool: Tool, arguments: Mapping[str, Any]) -> Any:
    """Return the arguments of a call as the tool takes them. Raises ToolError, which says what is wrong with each."""
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError as error:
        problems = "; ".join(map(_describe_problem, error.errors()))
        raise ToolError(f"Invalid arguments for {tool.name}: {problems}") from None


def _describe_problem(problem: ErrorDetails) -> str:
    """Say what is wrong with an argument."""
    name = ".".join(map(str, problem["loc"]))
    if problem["type"] == "missing":
        return f"{name} is required"
    if problem["type"] == "extra_forbidden":
        return f"there is no argument {name}"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{name}: {message}" if name else message


class Described(Protocol):
    """The parts of a tool that its callers see."""

    @property
    def name(self) -> str:
        """The name by which the tool is called."""
        ...

    @property
    def description(self) -> str:
        """When to use the tool and what it returns."""
        ...

    @property
    def arguments(self) -> type[Arguments]:
        """The Pydantic model of its arguments."""
        ...


@functools.lru_cache(256)
def _full_schema(arguments: type[Arguments]) -> dict[str, Any]:
    """Return the schema, cached because every episode of every entrant describes the same tools."""
    return arguments.model_json_schema()


def schema(tool: Described) -> dict[str, Any]:
    """Return a tool's arguments as JSON schema: the one source of function-calling schemas, help texts and tables."""
    if tool.arguments.given_schema is not None:
        return {"type": "object", "properties": {}, "required": [], **tool.arguments.given_schema}
    full = _full_schema(tool.arguments)
    properties = {name: _simplify(entry) for name, entry in full.get("properties", {}).items()}
    return {
        "type": "object",
        "properties": properties,
        "required": full.get("required", []),
        "additionalProperties": False,
    }


def _simplify(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an argument's schema without its title and, for an optional argument, without the alternative null.

    Models take null for a value to pass, and some servers refuse it. A null that a model passes is still accepted.
    """
    fields = {key: value for key, value in entry.items() if key != "title"}
    types = [option for option in fields.get("anyOf", ()) if option != {"type": "null"}]
    if len(types) != 1 or fields.get("default", ...) is not None:
        return fields
    return {**types[0], **{key: value for key, value in fields.items() if key not in ("anyOf", "default")}}


def descriptions(definition: Mapping[str, Any]) -> dict[str, str]:
    """Return each argument's description in a schema; if it has none, its own schema as JSON."""
    properties = definition["properties"].items()
    return {name: _description(entry) or json.dumps(entry, ensure_ascii=False) for name, entry in properties}


def _description(entry: Any) -> str:
    return str(entry.get("description") or "") if isinstance(entry, dict) else ""
