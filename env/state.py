"""What a step showed, as data beside its text: one kind of state for each kind of tool result, told apart by `kind`.

A state is JSON: it is stored with the step as it is. States from before there was `kind` are told by their keys.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, Required, cast

from typing_extensions import TypedDict


class Spoken(TypedDict):
    """A line that went to a server of an entrant's, or came from it."""

    server: str
    sent: bool
    """False: the server wrote it."""
    line: str
    """As it went over the wire."""


class Recorded(TypedDict, total=False):
    """What the environment adds to the state of any step, whichever tool it was."""

    diff: str
    """What the step changed in the workspace: unified, with git's headers. An edit, a command or a step in the terminal
    that changed nothing has an empty one. Steps of older versions may have none."""
    broken: dict[str, str]
    """The Python files of the task that the step changed and that do not parse now -> the syntax error."""
    spoken: list[Spoken]
    """What was said to the entrant's MCP servers and by them, where there was anything."""


class NoState(Recorded):
    """The text says all."""

    kind: Literal["none"]


class TestCounts(TypedDict):
    """The tests of one run."""

    passed: int
    failed: int
    ids: dict[str, str]
    """Test id -> outcome."""


class TestsState(Recorded):
    """The visible tests were run, by `eval` or the reset."""

    kind: Literal["tests"]
    exit: int
    timed_out: bool
    solved: bool
    """Whether all that is visible shows the bug no more."""
    tests: NotRequired[TestCounts]
    """Only where the test command is pytest."""
    messages: NotRequired[dict[str, str]]
    """Id of a failed test -> the message of its failure."""


class ShownState(Recorded):
    """A file or a folder was looked at."""

    kind: Literal["shown"]
    path: str
    lines: NotRequired[list[int]]
    """The first and the last line that were shown."""


class EditState(Recorded):
    """A file was edited."""

    kind: Literal["edit"]
    edited: str
    """Its path."""
    lines: list[int]
    """The first and the last line, in the file as it was before, that differ now."""
    syntax_error: NotRequired[str]


class CommandState(Recorded):
    """A shell command was run."""

    kind: Literal["command"]
    exit: int
    timed_out: bool


class TerminalState(Recorded):
    """Something was typed into the terminal, or waited for there."""

    kind: Literal["terminal"]
    event: str
    """Why the step ended; see `env.terminal.session.Step`."""
    program: str
    """What the terminal belongs to then; empty for the shell."""
    timed_out: bool


class ServerState(Recorded):
    """A tool of an MCP server was called."""

    kind: Literal["server"]
    server: str
    tool: str
    """By the server's own name."""


class Breakpoint(TypedDict):
    """A row of the debugger's table."""

    number: int
    file: str
    line: int
    temporary: bool
    enabled: bool
    condition: str | None
    ignore: int
    hits: int
    commands: list[str]
    silent: bool


class DebuggerState(Recorded, total=False):
    """Where the debugger stands. Without `file` the program is not paused: it has not started, or has ended."""

    kind: Required[Literal["debugger"]]
    alive: Required[bool]
    """Whether a program is being debugged."""
    breakpoints: Required[list[Breakpoint]]
    event: str
    """Why it is paused: `start`, `line`, `call`, `return`, `exception`, `post_mortem`, `interrupted`, ..."""
    file: str
    line: int
    function: str
    depth: int
    thread: str
    exception: str | None
    locals: dict[str, str]
    source: list[str]
    """The lines around, numbered, the current one marked."""
    stack: list[dict[str, Any]]
    ended: bool | str
    """How: `finished` or `quit`. True in steps of older versions."""
    exit: int
    outcomes: dict[str, str]
    """Test id -> outcome, where the program that ended was pytest."""
    died: str
    """How the debugged process was lost."""
    timed_out: bool
    restarted: bool


class ReachedPlace(TypedDict):
    """A place that was asked for, and how often a run came there."""

    file: str
    line: int
    function: str
    hits: int
    shown: int
    """How many of the hits were shown with their values."""


class FollowedState(Recorded, total=False):
    """A program was run and followed. With `file`: where it failed, or was stopped."""

    kind: Required[Literal["followed"]]
    exit: Required[int]
    timed_out: Required[bool]
    places: list[ReachedPlace]
    """The places that were asked for, those that were not reached too."""
    outcomes: dict[str, str]
    """Test id -> outcome."""
    event: str
    """`failed`, `raised`, `interrupted`, `called`, `stopped`."""
    file: str
    line: int
    function: str
    exception: str
    locals: dict[str, str]
    stack: list[dict[str, Any]]


class ProgramState(Recorded):
    """The entrant's own program went on until it asked its model, ended, or the time was up."""

    kind: Literal["program"]
    event: Literal["asks", "ended", "silent"]
    path: NotRequired[str]
    """Of its question's address."""
    request: NotRequired[dict[str, Any]]
    """The question; of its `messages` (by whatever name the question has them) those after the first `kept`, which are
    as in the question before. Absent where it cannot be read."""
    headers: NotRequired[dict[str, str]]
    """What the question says of itself in headers, where it does."""
    cached: NotRequired[bool]
    """True: the program marked up to where its messages are to be cached. The marks move from question to question, and
    are left out of `request`."""
    wrong: NotRequired[str]
    """Why it cannot."""
    kept: NotRequired[int]
    exit: NotRequired[int]


class SubmittedState(Recorded):
    """The work was handed in."""

    kind: Literal["submitted"]
    submitted: Literal[True]


class InvestigationState(Recorded):
    """An investigation began, or ended with an answer. What the text says is a claim, and shows nothing by itself."""

    kind: Literal["investigation"]
    event: Literal["asked", "answered"]


class MalformedState(Recorded):
    """What the agent said was no action."""

    kind: Literal["malformed"]
    malformed: Literal[True]


class OtherState(Recorded):
    """What a plug-in's tool says; its other keys are its own."""

    kind: Literal["other"]


State = (
    NoState
    | TestsState
    | ShownState
    | EditState
    | CommandState
    | TerminalState
    | DebuggerState
    | FollowedState
    | ServerState
    | ProgramState
    | SubmittedState
    | InvestigationState
    | MalformedState
    | OtherState
)

# In this order: the first key that is there tells the kind.
_TOLD_BY = {
    "solved": "tests",
    "breakpoints": "debugger",
    "edited": "edit",
    "path": "shown",
    "file": "debugger",
    "submitted": "submitted",
    "malformed": "malformed",
    "exit": "command",
}


def read_state(found: Mapping[str, Any]) -> State:
    """A state as a tool or a stored step has it; the kind is added where it does not say its own."""
    if "kind" in found:
        return cast(State, found)
    kind = next((kind for key, kind in _TOLD_BY.items() if key in found), "other" if found else "none")
    state = {"kind": kind, **found}
    if kind == "debugger" and "tests" in state:
        state["outcomes"] = state.pop("tests")
    return cast(State, state)


def fitting(state: State) -> State:
    """The state if it has the shape of its kind, else as one of kind `other`: a plug-in's keys may mean anything."""
    return state if _fits()(state) else cast(State, {**state, "kind": "other"})


@functools.cache
def _fits() -> Callable[[State], bool]:
    from pydantic import TypeAdapter, ValidationError

    adapter: TypeAdapter[State] = TypeAdapter(State)

    def fits(state: State) -> bool:
        try:
            adapter.validate_python(state)
        except ValidationError:
            return False
        return True

    return fits


def outcomes_of(state: State) -> dict[str, str]:
    """Test id -> outcome where the visible tests were run and reported; else empty."""
    return state["tests"]["ids"] if state["kind"] == "tests" and "tests" in state else {}


def hanging(state: State) -> str:
    """Id of the test that was running when the time of the visible tests was up; empty where none is known.

    Outcomes are in the order in which the tests run.
    """
    if state["kind"] != "tests" or not state.get("timed_out"):
        return ""
    return next((test for test, outcome in outcomes_of(state).items() if outcome == "missing"), "")


def messages_of(state: State) -> dict[str, str]:
    """Id of a failed test -> its message where the visible tests were run and reported; else empty."""
    return state.get("messages", {}) if state["kind"] == "tests" else {}
