"""What a sandbox's methods return."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended."""

    exit: int
    """Exit status; negative: the number of the signal that killed it."""
    output: str
    """Standard output and error, interleaved, capped."""
    timed_out: bool
    waited_s: float
    """After a timeout: seconds spent waiting for a processor, because the machine was busy with other work."""
    dropped: int
    """Bytes of output that were not kept."""
    wall_ms: float
    report: str | None = None
    """Raw report lines if the command was pytest; see `env.scoring.verdict`."""


@dataclass(frozen=True, slots=True)
class FollowedRun:
    """A run under an observer."""

    result: CommandResult
    records: list[bytes]
    """What the observer recorded, and what the program wrote there; see `replies.records`."""
    whole: bool
    """Whether these are all records."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The result of editing a file."""

    created: bool
    first: int
    """The number of the first new line."""
    replaced: int
    added: int
    """The number of new lines; `replaced` is the number of old lines that they replace."""
    changed: bool
    touched: tuple[int, int]
    """The first and the last line that changed, numbered as in the file before the edit."""
    syntax_error: str | None
    """The error, if this is a Python file that no longer parses."""
    content: bytes
    """The file after the edit."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences from the baseline."""

    files: dict[str, bytes] = field(default_factory=dict)
    """New and changed files with their full content."""
    deleted: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Changed files whose content is left out: links, special files, files that are too large or whose name is no
    text."""
