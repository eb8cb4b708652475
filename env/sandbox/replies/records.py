"""The records of an observer (`trace`, `calls`, `snapshot`): lines of JSON, each with its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from stackrank.env.sandbox.base import BadReply
from stackrank.env.sandbox.replies.decoder import (
    Counts,
    Few,
    File,
    Line,
    Many,
    Name,
    Number,
    Seconds,
    Status,
    Text,
    Variables,
    decode,
)

LONGEST_RECORD = 8 << 20
"""The most bytes of one record; a path through the program is the longest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place in the program."""

    file: File
    line: Line
    function: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame(Location):
    """A call in progress, with its local variables."""

    source: Name
    locals: Variables
    skipped: Number
    """How many frames were left out before this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine(Location):
    """A place, and what is written there."""

    source: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """An exception that led to another one."""

    error: Text
    frames: Few[Frame]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """A moment at which the run was stopped, in a test."""

    test: Name
    frames: Few[Frame]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(SourceLine):
    """A line that ran, with the variables that had changed when it was about to run."""

    number: Number
    changed: Variables


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What ran before a moment of the run: counts, and the last steps."""

    calls: Number
    lines: Number
    counted: bool
    """Whether all lines could be counted."""
    tired: bool
    """Whether there were too many lines to look at."""
    stops: Few[Step]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What was asked for cannot be observed."""

    kind: Literal["refused"]
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class TestEnd:
    """A test ended."""

    __test__ = False  # not a test, whatever pytest thinks of the name

    kind: Literal["test"]
    test: Name
    outcome: Name
    seconds: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A test, or the program, failed."""

    kind: Literal["failure"]
    test: Name
    error: Text
    assertion: bool
    frames: Few[Frame]
    causes: Few[Cause]
    where: Before | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted(Stopped):
    """The time was up."""

    kind: Literal["interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured(Stopped):
    """The requested moment."""

    kind: Literal["captured"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """A statement, with what it printed and its value."""

    code: Text
    value: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected(Stopped):
    """Code was run at the requested place, when it was reached for that time."""

    kind: Literal["inspected"]
    number: Number
    values: Few[Evaluated]


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised(Stopped):
    """The requested exception was raised."""

    kind: Literal["raised"]
    error: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Exited:
    """The program called `os._exit`."""

    kind: Literal["exited"]
    status: Status
    frames: Few[Frame]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How the run ended."""

    kind: Literal["end"]
    how: Literal["finished", "interrupted", "os._exit", "raised", "captured"]
    exit: Status
    notes: Few[Text]
    others: Number
    """How many other processes the program started, which are not followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Location):
    """A place was reached."""

    kind: Literal["hit"]
    number: Number
    place: Number
    test: Name
    values: Variables


@dataclass(frozen=True, slots=True, kw_only=True)
class Place(Location):
    """A place that was asked for."""

    name: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached(Place):
    """How often a place was reached."""

    reached: Number
    hits: Number
    shown: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """The totals of a trace."""

    kind: Literal["hits"]
    places: Many[Reached]
    problems: Counts
    met: Number
    told: Number
    raised: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedCall(Location):
    """A call of the function that was asked for."""

    kind: Literal["call"]
    number: Number
    test: Name
    arguments: Variables
    caller: Location | None
    result: Text | None
    raised: Text | None
    """The exception that left the call. If neither is given, the call had not ended when the run did."""
    yielded: Few[Text]
    yields: Number
    changed: Few[Text]
    more: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The totals of the calls of a function."""

    kind: Literal["calls"]
    count: Number
    raised: Few[Number]
    raised_too: Number
    matching: Few[Number]
    """The numbers of the calls that meet the condition."""
    problems: Counts
    places: Few[Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment(Before):
    """Where the run stood when it was ended."""

    kind: Literal["moment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The lines of the program that ran, in order."""

    kind: Literal["path"]
    places: Many[SourceLine]
    path: Many[Number]
    """Numbers of `places`."""
    tired: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Location):
    """A node of the tree of calls."""

    depth: Number
    count: Number
    recursive: Number
    raised: Number
    counted: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Who called whom."""

    kind: Literal["tree"]
    rows: Many[Row]
    tired: bool


Record = (
    Refusal | TestEnd | Failure | Interrupted | Captured | Inspected | Raised | Exited | End | Hit | Hits
    | ObservedCall | Calls | Moment | Path | Tree
)  # fmt: skip
_RECORD = cast(Any, Annotated[Record, Field(discriminator="kind")])


def read_record(line: bytes) -> Record:
    """Return one record. Raises BadReply."""
    if len(line) > LONGEST_RECORD:
        raise BadReply("a record is too long")
    record: Record = decode(_RECORD, line)
    return record
