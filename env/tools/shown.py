"""Decides how much of an observation is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from stackrank.env.sandbox.guest.debugging.shortening import shortened
from stackrank.env.tools.base import Arguments

MOST_SHOWN = 4000
"""The most characters of an observation, unless the agent asks for more."""
MOST_OF_A_FILE = 8000
"""The same for tools that show whole files, `view` and `bash`: nine of ten programs of `bugs` fit into one `cat` of
their files, four of ten into 4,000."""
MOST_ASKED = 60_000
"""The most characters that an agent can ask for."""
LESS = "ask for a part of it"
"""How to see what was left out, if no argument shows more of it."""
_HINT = re.compile(
    r"^(?:(?:E)?[ \t]*\n)?(?:E)?[ ]*(?:Use -v to get more diff|\.\.\.Full output truncated.*)(?:\n|\Z)", re.MULTILINE
)
"""pytest's hint at an option that the agent cannot give, and the empty line before it."""
_FILLED = re.compile(r"^(?:(?P<rule>[=_])(?P=rule)+ (?P<title>.+?) (?P=rule)+|(?P<gap>_ _ _)[_ ]+)$", re.MULTILINE)
_PROGRESS = re.compile(r"^(\S+) +(\[ *\d+%\])$", re.MULTILINE)
_SOURCE = re.compile(r"^((?: {4}.*\n){2,})(?:>   (.*)$)?", re.MULTILINE)
"""The lines of a function that pytest shows, down to the one that it marks. It also matches indented lines without a
marked one, so that they are not looked at again from each of them on."""
_SHOWN_ABOVE = "    [as above]\n"
_WIDTH = 98
"""Lines that pytest pads have this many characters or a few more; shorter lines may be the program's own."""


def strip_padding(text: str) -> str:
    """Return pytest's output without padding, and without its hint at an option that the agent cannot give.

    Idempotent: an output that was processed before stays the same.
    """
    return _PROGRESS.sub(_narrow, _FILLED.sub(_narrow, _HINT.sub("", text)))


def fold_repeats(text: str) -> str:
    """Show a function's source only once in pytest's output, which repeats it for each set of parameters that fails.

    The marked line stays each time. Idempotent: an output that was processed before stays the same.
    """
    sources: list[str] = []

    def once(match: re.Match[str]) -> str:
        source, marked = match.groups()
        if marked is None:
            return match[0]
        if any(earlier.startswith(source) for earlier in sources):
            return f"{_SHOWN_ABOVE}>   {marked}"
        sources.append(f"{source}    {marked}\n")
        return match[0]

    return _SOURCE.sub(once, text)


def tidy_output(text: str) -> str:
    """Return pytest's output as agents see it: without padding, and each function's source once."""
    return fold_repeats(strip_padding(text))


def _narrow(match: re.Match[str]) -> str:
    if len(match[0]) < _WIDTH:
        return match[0]
    parts = match.groupdict()
    if not parts:
        return f"{match[1]} {match[2]}"
    return parts["gap"] or f"{3 * parts['rule']} {parts['title']} {3 * parts['rule']}"


def limit(default: int = MOST_SHOWN) -> Any:
    """Return the argument `limit` for tools whose observation may be long. It comes last."""
    description = f"Most characters to show. Default: {default}, head and tail."
    return Field(default, ge=500, le=MOST_ASKED, description=description)


def limit_hint(max_chars: int) -> str:
    """Say how to see what was left out, for a tool with the argument `limit`."""
    return f"a limit above {max_chars} shows more" if max_chars < MOST_ASKED else LESS


def clip(text: str, max_chars: int) -> str:
    """Return the beginning of a text, for showing it on one line."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 3]}..."


def number_lines(lines: Sequence[str], first: int = 1, *, mark: str = " ", width: int = 0) -> list[str]:
    """Return lines of a file with their numbers, in the notation of every tool that shows a file: `12  text`.

    `mark` takes the place of the first space: `-` before a line that is gone, `+` before a new one. `width`: of the
    numbers, if they are below others.
    """
    width = max(width, len(str(first + len(lines) - 1)))
    return [f"{number:>{width}}{mark} {line.rstrip(chr(13))}" for number, line in enumerate(lines, first)]


def fit_lines(lines: list[str], max_chars: int) -> list[str]:
    """Return as many of the first lines as fit into `most` characters with a note below them."""
    room = max_chars - 80
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return lines[:number]
    return list(lines)


def requested_limit(arguments: Arguments) -> int | None:
    """Return how many characters the arguments ask for at most; None if no argument says so."""
    if arguments.given_schema is not None:  # an argument of that name belongs to the server
        return None
    has_own_rule = hasattr(type(arguments), "most_shown")
    max_chars = arguments.most_shown if has_own_rule else vars(arguments).get("limit")  # type: ignore[attr-defined]
    return max_chars if isinstance(max_chars, int) else None


def cap(text: str, max_chars: int | None = None) -> str:
    """Return the head and the tail of a long observation, with a note of how much is left out and how to see it.

    `max_chars`: how many characters the agent asked for; None: as many as every observation may have.
    """
    return shortened(text, max_chars or MOST_SHOWN, LESS if max_chars is None else limit_hint(max_chars))
