"""The screen of a terminal as text: a terminal emulator reads what programs print, escape codes and all."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, NamedTuple

import pyte
from pyte import modes
from wcwidth import wcwidth

# ECMA-48: control sequences, strings with an end, other escapes. What is left of one is taken for the whole.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]P^_X][^\x07\x1b\r\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)")
_KNOWN = re.compile(
    r"\x1b(?:[78DEHMc]|\[(?:\d{0,4}[@ABCDEFGLMPX`ade]|\d{0,4}(?:;\d{0,4})?[Hfr]|[0-3]?J|[0-2]?K|[;\d]{0,60}m"
    r"|\?(?:6|7|25)[hl]|[34]?[hlg]))",
    re.ASCII,
)
"""What the emulator is told of; it does not know the rest, or trips over it."""
_LONGEST = 4096
_RETURN = re.compile(r"\x1b\[[01]?G")
"""To the first column, as a carriage return does."""
_STARTS = re.compile(r"(?<=\n)\r+")
_ENDS = re.compile(r"\r+\n?")
# All control characters but those that move the cursor.
_CONTROLS = dict.fromkeys([*(set(range(32)) - {8, 9, 10, 11, 12, 13, 27}), *range(0x7F, 0xA0)])


class Row(NamedTuple):
    """One row of the screen."""

    text: str
    wrapped: bool
    """Whether its line goes on in the next row."""


class Screen(pyte.Screen):
    """A screen that remembers which rows left it at the top, and which go on in the next one."""

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
        """Show what was printed. An escape sequence that ends later waits for its end."""
        assert self._stream is not None
        text = self._held + text
        start = len(text) - _held_back(text)
        text, self._held = text[:start], text[start:]
        self._stream.feed(_ESCAPE.sub(_known, text).translate(_CONTROLS))

    def put_right(self) -> None:
        """Undo what a program that ended, or binary output, may have left: modes, margins, text below the prompt."""
        self._held = ""
        self.margins = None
        self.mode = {modes.DECAWM, modes.DECTCEM}
        self.erase_in_display(0)

    def adapt(self, rows: int, columns: int) -> None:
        """Take the size that programs see now."""
        self.resize(rows, columns)
        self.ensure_hbounds()
        self.ensure_vbounds()

    # ---- what is seen

    def begin(self) -> None:
        """From here on `seen` shows what is new."""
        self.gone = []
        self._mark = self.cursor.y
        self._above = self._rows()[: self._mark]

    def seen(self) -> tuple[str, bool]:
        """What is new since `begin`, rows that went on joined; and whether it is the whole screen.

        That is what is shown where a program drew above the line where the cursor was, as editors do.
        """
        rows = [*self.gone, *self._rows()]
        whole = rows[: self._mark] != self._above
        return _joined(rows[len(self.gone) :] if whole else rows[self._mark :]), whole

    def _rows(self) -> list[Row]:
        return [self._row(y) for y in range(self.lines)]

    def _row(self, y: int) -> Row:
        if y not in self.buffer:
            return Row("", False)
        line = self.buffer[y]
        text = "".join(line[x].data for x in range(max(line, default=-1) + 1))
        # Programs blank rows that they wrote before.
        wrapped = bool(vars(line).get("wrapped")) and line[self.columns - 1].data != " "
        return Row(text if wrapped else text.rstrip(), wrapped)

    # ---- what the emulator calls

    def draw(self, data: str) -> None:
        """Show characters; without those of no width, at which the emulator would stop."""
        if not data.isascii():
            data = "".join(each for each in data if wcwidth(each) > 0 or unicodedata.combining(each))
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
        """Answer nothing: nobody would take the answer for one."""

    def report_device_status(self, *_: Any, **__: Any) -> None:
        """Answer nothing."""


def plain(text: str, begun: bool = False) -> str:
    """Text as patterns are looked for in it: without escape sequences, lines ending as usual.

    A line that is drawn anew from its first column counts as another line, since what stood there before is no part of
    it. `begun` says that the text goes on with a line on which something stands already.
    """
    text = _ESCAPE.sub("", _RETURN.sub("\r", text)).translate(_CONTROLS)
    text = text if begun else text.lstrip("\r")
    return _ENDS.sub("\n", _STARTS.sub("", text))


def unfinished(data: bytes) -> int:
    """How many bytes at the end of some output are the beginning of a character or of an escape sequence."""
    for count, byte in enumerate(reversed(data[-3:]), 1):
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            if count < length and byte <= 0xF4:
                return count
        if byte < 0x80 or byte >= 0xC0:
            break
    return _held_back(data[-_LONGEST:].decode("latin-1"))


def _held_back(text: str) -> int:
    """How many characters at the end of a text are the beginning of an escape sequence."""
    start = text.rfind("\x1b", -_LONGEST)
    last = _ESCAPE.match(text, start) if start >= 0 else None
    return len(text) - start if last is not None and last.end() == len(text) and not _finished(last[0]) else 0


def _finished(sequence: str) -> bool:
    return bool(re.fullmatch(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X].*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ`-~])", sequence))


def _known(found: re.Match[str]) -> str:
    return found[0] if _KNOWN.fullmatch(found[0]) else ""


def _joined(rows: list[Row]) -> str:
    lines: list[str] = []
    goes_on = False
    for text, wrapped in rows:
        if goes_on:
            lines[-1] += text
        else:
            lines.append(text)
        goes_on = wrapped
    return "\n".join(lines).rstrip()
