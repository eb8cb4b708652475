"""Replies of the debugger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from stackrank.env.sandbox.replies.decoder import Few, File, Line, Name, Number, Outcomes, Status, Text, Variables
from stackrank.env.sandbox.replies.workspace import Changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakpoint:
    """One row of the debugger's table."""

    number: Number
    file: File
    line: Line
    condition: Text | None
    temporary: bool
    enabled: bool
    ignore: Number
    hits: Number
    commands: Few[Text]
    silent: bool
    entered: Text
    """The function in whose calls it stops, if its definition is on the same line; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in the program."""

    file: File
    line: Line
    function: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Place):
    """One of the calls that led to where the program is paused."""

    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStarted:
    """No line of the program has run yet."""

    event: Literal["start"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """Where the program is paused."""

    event: Literal["line", "call", "return", "exception", "post_mortem", "interrupted"]
    file: File
    line: Line
    function: Name
    depth: Number
    thread: Name | None
    """The thread's name; None: the main thread."""
    exception: Text | None
    locals: Variables
    source: Few[Name]
    """The numbered lines around the current one, which is marked."""
    stack: Few[Call]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The program ended under the debugger."""

    event: Literal["finished", "quit"]
    exit: Status
    outcomes: Outcomes
    """Empty unless the program was pytest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Died:
    """The debugged process was lost."""

    event: Literal["died"]
    reason: Text


Standing = Annotated[NotStarted | Paused | Ended | Died, Field(discriminator="event")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Debugged(Changed):
    """The result of pdb commands; see the guest's `Debugger.act`."""

    header_limit: ClassVar[int] = 8 << 20

    text: Text
    program: Text
    dropped: Number
    notes: Few[Text]
    standing: Standing
    breakpoints: Few[Breakpoint]
    points: Few[Breakpoint]
    """All breakpoints that existed during this action, also those that are gone."""
    stood: Few[Place]
    """Where the program stood during this action, in order."""
    alive: bool
    timed_out: bool
    restarted: bool
    moved: bool
    breakpoints_changed: bool
