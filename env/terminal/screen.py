"""The screen of a terminal as text: a terminal emulator reads what programs print, escape codes and all."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, NamedTuple

import pyte
from pyte import modes
from wcwidth import wcwidth

# ECMA-48: control sequences, terminated strings, other escapes. An incomplete one matches too.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]P^_X][^\x07\x1b\r\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)")
_KNOWN = re.compile(
    r"\x1b(?:[78DEHMc]|\[(?:\d{0,4}[@ABCDEFGLMPX`ade]|\d{0,4}(?:;\d{0,4})?[Hfr]|[0-3]?J|[0-2]?K|[;\d]{0,60}m"
    r"|\?(?:6|7|25)[hl]|[34]?[hlg]))",
    re.ASCII,
)
"""The sequences that the emulator gets; it does not know the others, or fails on them."""
_LONGEST = 4096
_RETURN = re.compile(r"\x1b\[[01]?G")
"""Moves the cursor to the first column, as a carriage return does."""
_STARTS = re.compile(r"(?<=\n)\r+")
_ENDS = re.compile(r"\r+\n?")
# All control characters except the escape and those that move the cursor.
_CONTROLS = dict.fromkeys([*(set(range(32)) - {8, 9, 10, 11, 12, 13, 27}), *range(0x7F, 0xA0)])


class Row(NamedTuple):
    """One row of the screen."""

    text: str
    wrapped: bool
    """Whether the line continues in the next row."""


class Screen(pyte.Screen):
    """A screen that remembers which rows left it at the top, and which continue in the next row."""

    def __init__(self, rows: int, columns: int) -> None:
        self.gone: list[Row] = []
        self._drawing = False
        self._stream: pyte.Stream | None = None
        self._held = ""
        super().__init__(columns, rows)
        self._stream = pyte.Stream(self, strict=False)
        self.begin()

    # ---- what is printed

    def feed(self, text: str) -> None:
        """Show what was printed. An incomplete escape sequence at the end is kept until the rest arrives."""
        assert self._stream is not None
        text = self._held + text
        start = len(text) - _held_back(text)
        text, self._held = text[:start], text[start:]
        self._stream.feed(_ESCAPE.sub(_keep_known, text).translate(_CONTROLS))

    def put_right(self) -> None:
        """Undo what an ended program or binary output may have left behind: modes, margins, text below the prompt."""
        self._held = ""
        self.margins = None
        self.mode = {modes.DECAWM, modes.DECTCEM}
        self.erase_in_display(0)

    def adapt(self, rows: int, columns: int) -> None:
        """Change the size to the one that programs see now."""
        self.resize(rows, columns)
        self.ensure_hbounds()
        self.ensure_vbounds()

    # ---- what is seen

    def begin(self) -> None:
        """Mark the moment since which `seen` shows what is new."""
        self.gone = []
        self._mark = self.cursor.y
        self._above = self._rows()[: self._mark]

    def seen(self) -> tuple[str, bool]:
        """Return what is new since `begin`, with wrapped rows joined, and whether it is the whole screen.

        It is the whole screen if a program drew above the line where the cursor was, as editors do.
        """
        rows = [*self.gone, *self._rows()]
        is_redrawn = rows[: self._mark] != self._above
        return _join_rows(rows[len(self.gone) :] if is_redrawn else rows[self._mark :]), is_redrawn

    def _rows(self) -> list[Row]:
        return [self._row(y) for y in range(self.lines)]

    def _row(self, y: int) -> Row:
        if y not in self.buffer:
            return Row("", False)
        line = self.buffer[y]
        text = "".join(line[x].data for x in range(max(line, default=-1) + 1))
        # Programs may blank a wrapped row that they wrote before.
        wrapped = bool(vars(line).get("wrapped")) and line[self.columns - 1].data != " "
        return Row(text if wrapped else text.rstrip(), wrapped)

    # ---- what the emulator calls

    def draw(self, data: str) -> None:
        """Show characters, except those without width, at which the emulator would stop."""
        if not data.isascii():
            data = "".join(
                character for character in data if wcwidth(character) > 0 or unicodedata.combining(character)
            )
        self._drawing = True
        super().draw(data)
        self._drawing = False

    def linefeed(self) -> None:
        """Go to the next row."""
        if self._drawing:
            vars(self.buffer[self.cursor.y])["wrapped"] = True
        super().linefeed()

    def index(self) -> None:
        """Go down, and scroll at the bottom."""
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y == bottom and top == 0:
            self.gone.append(self._row(0))
        super().index()

    def report_device_attributes(self, *_: Any, **__: Any) -> None:
        """Answer nothing: no program would recognise the answer as one."""

    def report_device_status(self, *_: Any, **__: Any) -> None:
        """Answer nothing."""


def strip_escapes(text: str, continues_line: bool = False) -> str:
    """Return text in the form that is searched for patterns: without escape sequences, and with usual line ends.

    A line that is redrawn from its first column counts as another line, because what was there before is not part of
    it. `continues_line`: the text continues a line that has some text already.
    """
    text = _ESCAPE.sub("", _RETURN.sub("\r", text)).translate(_CONTROLS)
    text = text if continues_line else text.lstrip("\r")
    return _ENDS.sub("\n", _STARTS.sub("", text))


def count_unfinished(data: bytes) -> int:
    """Return how many bytes at the end of some output are the start of a character or an escape sequence."""
    for count, byte in enumerate(reversed(data[-3:]), 1):
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            if count < length and byte <= 0xF4:
                return count
        if byte < 0x80 or byte >= 0xC0:
            break
    return _held_back(data[-_LONGEST:].decode("latin-1"))


def _held_back(text: str) -> int:
    """Return how many characters at the end of a text are the start of an escape sequence."""
    start = text.rfind("\x1b", -_LONGEST)
    last = _ESCAPE.match(text, start) if start >= 0 else None
    return len(text) - start if last is not None and last.end() == len(text) and not _finished(last[0]) else 0


def _finished(sequence: str) -> bool:
    return bool(re.fullmatch(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X].*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ`-~])", sequence))


def _keep_known(match: re.Match[str]) -> str:
    return match[0] if _KNOWN.fullmatch(match[0]) else ""


def _join_rows(rows: list[Row]) -> str:
    lines: list[str] = []
    goes_on = False
    for text, wrapped in rows:
        if goes_on:
            lines[-1] += text
        else:
            lines.append(text)
        goes_on = wrapped
    return "\n".join(lines).rstrip()
