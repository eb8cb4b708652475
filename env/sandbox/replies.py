"""What a guest may answer. The host checks all of it, because code in a sandbox may have taken the guest over.

The size of an answer is checked before memory is allocated for it. Its shape must be one that is described here, and
an archive may contain only regular files below the workspace. Anything else raises `BadReply`.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Annotated, Any, NotRequired, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from stackrank.env.sandbox.guest.core import framing
from stackrank.errors import StackrankError

HEADER_LIMIT = 32 << 20
"""The most bytes of JSON in one answer; the report of a test run is the largest."""
BODY_LIMIT = 64 << 20
"""The most bytes that follow the JSON; the archive of changes is the largest."""
_FILES_LIMIT = 100_000


class BadReply(StackrankError):
    """The answer is not one that stackrank's guest gives."""


class Status(TypedDict):
    """The fields of every answer."""

    id: int
    ok: bool
    refused: NotRequired[str]
    failed: NotRequired[str]
    bug: NotRequired[str]


class Hello(TypedDict):
    """The guest's first answer, which describes the sandbox."""

    root: str
    version: list[int]


class Resolved(TypedDict):
    """The path that a request was resolved to, links followed."""

    path: str


class Edited(TypedDict):
    """The result of an edit; see `Edit` in the client."""

    created: bool
    first: int
    replaced: int
    added: int
    changed: bool
    touched: list[int]
    syntax_error: str | None
    changed_files: list[tuple[str, int | None, str]]


class Listing(TypedDict):
    """Entries of a folder."""

    entries: list[tuple[str, int | None]]
    """[path, size in bytes or None for a folder]."""
    more: int
    """How many were left out."""


class Found(TypedDict):
    """The lines that match a search."""

    matches: list[tuple[str, int, str]]
    """[path, line number, line]."""
    more: int
    """How many were left out."""


class Changed(TypedDict):
    """The changed paths that an archive of changes cannot contain."""

    deleted: list[str]
    skipped: list[str]


class Restored(TypedDict):
    """The files that restoring a file changed."""

    changed_files: list[tuple[str, int | None, str]]


class Ran(TypedDict):
    """How a command ended; see `CommandResult`."""

    exit: int
    timed_out: bool
    waited_s: float
    dropped: int
    wall_ms: float
    changed_files: list[tuple[str, int | None, str]]
    """[path, size in bytes or None if the file was deleted, syntax error or ""]."""
    report: NotRequired[str]


class Exchanged(TypedDict):
    """What a server sent, and its state; see the guest's `Server.exchange`."""

    ended: bool
    exit: int | None
    timed_out: bool
    flooded: bool
    used_s: float
    complaints: str
    changed_files: list[tuple[str, int | None, str]]


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


class Standing(TypedDict, total=False):
    """Where the debugged program currently is."""

    event: str
    file: str
    line: int
    function: str
    depth: int
    thread: str | None
    exception: str | None
    locals: dict[str, str]
    source: list[str]
    stack: list[Any]
    ended: str
    exit: int | None
    outcomes: dict[str, str]
    died: str
    breakpoints: list[Breakpoint]


class Debugged(TypedDict):
    """The result of pdb commands; see the guest's `Debugger.act`."""

    text: str
    program: str
    dropped: int
    notes: list[str]
    state: Standing
    alive: bool
    timed_out: bool
    restarted: bool
    moved: bool
    breakpoints_changed: bool
    changed_files: list[tuple[str, int | None, str]]


class Followed(Ran):
    """How an observed program ended, and what the observer recorded; see the guest's `laboratory`."""

    records: list[dict[str, Any]]
    unsound: bool
    """Whether the program itself wrote into the stream of records."""


class Typed(TypedDict):
    """The result of typing and waiting in the terminal; see the guest's `Terminal.act`."""

    event: str
    untyped: int
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
    exit: int | None
    """The shell's exit status, if it ended."""
    size: tuple[Annotated[int, Field(ge=2, le=200)], Annotated[int, Field(ge=20, le=400)]]
    """Rows and columns."""
    dropped: int
    changed_files: list[tuple[str, int | None, str]]


Shape = TypeVar("Shape")


_adapters: dict[Any, TypeAdapter[Any]] = {}


def check_reply(shape: type[Shape], header: Any) -> Shape:
    """Return `header` if it has this shape. Raises BadReply."""
    try:
        if shape not in _adapters:
            _adapters[shape] = TypeAdapter(shape)
        reply: Shape = _adapters[shape].validate_python(header)
        return reply
    except (ValidationError, RecursionError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "nested too deeply"}
        raise BadReply(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def unpack(read_exactly: Callable[[int], bytes]) -> tuple[Any, bytes]:
    """Read one frame, without checking its header. Raises BadReply, and what `read_exactly` raises."""
    try:
        return framing.unpack(read_exactly, HEADER_LIMIT, BODY_LIMIT)
    except (ValueError, RecursionError) as error:
        raise BadReply(str(error)) from None


def read_archive(data: bytes) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of an archive of changes: path -> content, and the paths that are no text. Raises BadReply."""
    files: dict[str, bytes] = {}
    nameless: list[str] = []
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                # A sparse file claims to be larger than the data in the archive.
                size += member.size
                if (
                    not member.isreg()
                    or member.issparse()
                    or size > len(data)
                    or len(files) + len(nameless) >= _FILES_LIMIT
                ):
                    raise BadReply(
                        f"{member.name[:200]!r} in the archive of changes is not a regular file of its stated size"
                    )
                source = tar.extractfile(member)
                assert source is not None
                if is_text(member.name):
                    files[plain_path(member.name)] = source.read()
                else:
                    nameless.append(member.name)
    except (tarfile.TarError, OSError, EOFError, RecursionError, OverflowError, ValueError) as error:
        raise BadReply(f"the archive of changes cannot be read: {error}") from None
    return files, nameless


def is_text(path: str) -> bool:
    """Whether a path can be written down: names of files are bytes, and need not be UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain_path(path: str) -> str:
    """Return `path` if it names a file below the workspace in canonical form. Raises BadReply."""
    parts = PurePosixPath(path).parts
    if not parts or str(PurePosixPath(path)) != path or path.startswith("/") or ".." in parts or "\0" in path:
        raise BadReply(f"{path[:200]!r} is not a path below the workspace")
    if not is_text(path):
        raise BadReply(f"{path[:200]!r} is not text")
    return path
