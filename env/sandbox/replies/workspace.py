"""Replies about the workspace's files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from stackrank.env.sandbox.replies.decoder import FilePath, Line, Many, Name, Number, Text
from stackrank.env.sandbox.replies.frames import Reply


class ChangedFile(NamedTuple):
    """A file of the workspace that changed."""

    path: FilePath
    size: Number | None
    """Bytes; None if the file was deleted."""
    syntax_error: Name
    """The error, if this is a Python file that existed at the start and no longer parses."""


class Entry(NamedTuple):
    """A file or a folder."""

    path: FilePath
    size: Number | None
    """Bytes; None for a folder."""
    target: FilePath | Literal["", "."]
    """Of a link: the path to which it leads in the workspace; otherwise empty."""


class Match(NamedTuple):
    """A line that a search found."""

    path: FilePath
    line: Line
    text: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello(Reply):
    """The guest's first answer, which describes the sandbox."""

    root: Annotated[Name, Field(pattern=r"^/")]
    version: tuple[Number, Number, Number]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved(Reply):
    """The path that a request was resolved to, links followed; "." for the workspace itself."""

    path: FilePath | Literal["."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Reply):
    """The files that the request changed."""

    changed_files: Many[ChangedFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited(Changed):
    """The result of an edit; see `Edit` in the client."""

    created: bool
    first: Line
    replaced: Line
    added: Line
    changed: bool
    touched: tuple[Line, Line]
    syntax_error: Text | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint(Reply):
    """What programs have left behind in a sandbox, to compare one moment with another."""

    left: Name
    """Equal if nothing was made, changed or removed between the two moments; empty if that cannot be known."""
    pid: Number
    """The last process id that was used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Reply):
    """Entries of a folder."""

    entries: Many[Entry]
    more: Number
    """How many were left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Reply):
    """The lines that match a search."""

    matches: Many[Match]
    more: Number
    """How many were left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences(Reply):
    """The changed paths that an archive of changes cannot contain."""

    deleted: Many[FilePath]
    skipped: Many[FilePath]
