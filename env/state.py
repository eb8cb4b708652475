"""What a step showed, as data in addition to its text: each kind of tool result has its own kind of state (`kind`).

A state is JSON, and is stored with the step unchanged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NotRequired, Required, cast

from typing_extensions import TypedDict

from stackrank.debug_events import DebugEvent


class Spoken(TypedDict):
    """A line that was sent to an entrant's MCP server, or came from it."""

    server: str
    sent: bool
    """False: the server wrote it."""
    line: str
    """The line exactly as it was transmitted."""


class Recorded(TypedDict, total=False):
    """What the state of any step may hold, whichever tool was used. All but the last is added by the environment."""

    diff: str
    """What the step changed in the workspace: a unified diff with git's headers. It is empty for an edit, a command or
    a step in the terminal that changed nothing."""
    broken: dict[str, str]
    """Each Python file of the task that the step changed and that does not parse now -> the syntax error."""
    spoken: list[Spoken]
    """The lines that were sent to the entrant's MCP servers or came from them, if there were any."""
    debug_events: list[DebugEvent]
    """What a debugger or an observer saw of the program, in order. Any tool may report it."""


class NoState(Recorded):
    """No data: the text says everything."""

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
    """Whether the visible tests no longer show the bug."""
    tests: NotRequired[TestCounts]
    """Only present if the test command is pytest."""
    messages: NotRequired[dict[str, str]]
    """Id of a failed test -> the message of its failure."""
    failure_state: NotRequired[str]
    """Where the program stood when tests failed, as the agent was shown it at the end of the text."""


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
    """The path of the file."""
    lines: list[int]
    """The first and the last line that the edit changed, numbered as in the file before the edit."""
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
    """The program that has the terminal when the step ends; empty for the shell."""
    timed_out: bool


class ServerState(Recorded):
    """A tool of an MCP server was called."""

    kind: Literal["server"]
    server: str
    tool: str
    """The name that the server itself gives the tool."""


class Breakpoint(TypedDict):
    """One row of the debugger's table."""

    number: int
    file: str
    line: int
    condition: str | None
    temporary: bool
    enabled: bool
    ignore: int
    hits: int
    commands: list[str]
    silent: bool
    entered: str


class StackRow(TypedDict):
    """One of the calls that led to where a program stands."""

    file: str
    line: int
    function: str
    current: bool


class DebuggerState(Recorded, total=False):
    """Where the debugger stands. Without `file` the program is not paused: it has not started, or has ended."""

    kind: Required[Literal["debugger"]]
    alive: Required[bool]
    """Whether a program is being debugged."""
    breakpoints: Required[list[Breakpoint]]
    event: str
    """Why the program is paused: `start`, `line`, `call`, `return`, `exception`, `post_mortem`, `interrupted`, ..."""
    file: str
    line: int
    function: str
    depth: int
    thread: str
    exception: str
    locals: dict[str, str]
    source: list[str]
    """The numbered lines around the current one, which is marked."""
    stack: list[StackRow]
    ended: str
    """How the program ended: `finished` or `quit`."""
    exit: int
    outcomes: dict[str, str]
    """Test id -> outcome, if the program that ended was pytest."""
    died: str
    """How the debugged process was lost."""
    timed_out: bool
    restarted: bool


class FollowedState(Recorded, total=False):
    """A program was run under an observer. If there is a `file`, that is where it failed or was stopped."""

    kind: Required[Literal["followed"]]
    exit: Required[int]
    timed_out: Required[bool]
    outcomes: dict[str, str]
    """Test id -> outcome."""
    event: str
    """`failed`, `raised`, `interrupted`, `called`, `stopped`."""
    file: str
    line: int
    function: str
    exception: str
    locals: dict[str, str]
    stack: list[StackRow]


class ProgramState(Recorded):
    """The entrant's own program ran until it asked its model, ended, or the time was up."""

    kind: Literal["program"]
    event: Literal["asks", "ended", "silent"]
    path: NotRequired[str]
    """The path of the question's address."""
    request: NotRequired[dict[str, Any]]
    """The question. Its `messages` (whatever the question itself calls them) lack the first `kept`, which are the same
    as in the previous question. Absent if the question cannot be read."""
    headers: NotRequired[dict[str, str]]
    """The question's headers that say something about it, if there are any."""
    cached: NotRequired[bool]
    """True: the program marked up to where its messages are to be cached. The marks move from question to question, and
    are left out of `request`."""
    wrong: NotRequired[str]
    """Why the question cannot be read."""
    kept: NotRequired[int]
    exit: NotRequired[int]


class SubmittedState(Recorded):
    """The work was handed in."""

    kind: Literal["submitted"]
    submitted: Literal[True]


class InvestigationState(Recorded):
    """An investigation began, or ended with an answer. What the text says is only a claim, and proves nothing."""

    kind: Literal["investigation"]
    event: Literal["asked", "answered"]


class BranchState(Recorded):
    """The episode went back to an earlier step. `diff` leads from the files before to those of then."""

    kind: Literal["branch"]
    at: int
    """The step that it went back to: the parent of this one."""


class MalformedState(Recorded):
    """The agent's reply was not an action."""

    kind: Literal["malformed"]
    malformed: Literal[True]


class OtherState(Recorded):
    """The state of a plug-in's tool, with keys of its own."""

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
    | BranchState
    | MalformedState
    | OtherState
)


def read_state(fields: Mapping[str, Any]) -> State:
    """Return the state of a tool. A plug-in's state without a kind gets the kind `other`, or `none` if it is empty."""
    return cast(State, fields if "kind" in fields else {"kind": "other" if fields else "none", **fields})


def check_state(state: State) -> State:
    """Return the state; unless it has the shape of its kind, as kind `other`: a plug-in's keys may mean anything."""
    return state if _fits()(state) else cast(State, {**state, "kind": "other"})


@functools.cache
def _fits() -> Callable[[State], bool]:
    from pydantic import Field, TypeAdapter, ValidationError

    adapter: TypeAdapter[State] = TypeAdapter(Annotated[State, Field(discriminator="kind")])

    def fits(state: State) -> bool:
        try:
            adapter.validate_python(state)
        except ValidationError:
            return False
        return True

    return fits


def outcomes_of(state: State) -> dict[str, str]:
    """Return test id -> outcome if the visible tests were run and reported; else empty."""
    return state["tests"]["ids"] if state["kind"] == "tests" and "tests" in state else {}


def hanging_test(state: State) -> str:
    """Return the id of the test that was running when the time of the visible tests was up; empty if not known.

    Outcomes are in the order in which the tests run.
    """
    if state["kind"] != "tests" or not state.get("timed_out"):
        return ""
    return next((test for test, outcome in outcomes_of(state).items() if outcome == "missing"), "")


def messages_of(state: State) -> dict[str, str]:
    """Return failed test's id -> its message if the visible tests were run and reported; else empty."""
    return state.get("messages", {}) if state["kind"] == "tests" else {}
