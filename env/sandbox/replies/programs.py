"""Replies about programs that ran, or that are running alongside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from stackrank.env.sandbox.replies.decoder import Milliseconds, Number, Seconds, Status, Text
from stackrank.env.sandbox.replies.workspace import Changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran(Changed):
    """How a command ended; see `CommandResult`."""

    exit: Status
    timed_out: bool
    waited_s: Seconds
    dropped: Number
    wall_ms: Milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested(Ran):
    """How a test command ended."""

    report: Annotated[str, Field(max_length=24 << 20)] | None
    """The raw lines of the report; None if the command is not pytest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated(Tested):
    """How a run of the visible tests ended. The body holds the records of its failures, then the output."""

    records: Number
    """Bytes of the records; 0 if the command is not pytest."""
    whole: bool
    """Whether these are all records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed(Ran):
    """How an observed program ended. The body holds the records of the observer, then what the program printed."""

    records: Number
    """Bytes of the records."""
    whole: bool
    """Whether these are all records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged(Changed):
    """What a server sent, and its state; see the guest's `Server.exchange`."""

    ended: bool
    exit: Status | None
    timed_out: bool
    flooded: bool
    used_s: Seconds
    complaints: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed(Changed):
    """The result of typing and waiting in the terminal; see the guest's `Terminal.act`."""

    event: Literal["input", "prompt", "silence", "output", "time", "ended"]
    untyped: Number
    """How many of the texts were not typed, because the time ran out."""
    too_long: bool
    """Whether the first untyped text is longer than the terminal accepts."""
    started: bool
    why: Annotated[str, Field(max_length=200)]
    """Why an earlier terminal had ended; empty if there was none."""
    idle: bool
    """Whether nothing will happen in the terminal until a key is typed."""
    program: Annotated[str, Field(max_length=64)]
    """The program that the terminal belongs to; empty for the shell."""
    exit: Status | None
    """The shell's exit status, if it ended."""
    size: tuple[Annotated[int, Field(ge=2, le=200)], Annotated[int, Field(ge=20, le=400)]]
    """Rows and columns."""
    dropped: Number
