"""One terminal of an episode, from step to step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import regex
from pexpect.exceptions import EOF, TIMEOUT
from pexpect.spawnbase import SpawnBase

from stackrank.env.sandbox.client import GRACE_S, Sandbox
from stackrank.env.sandbox.guest.core.allowance import PATIENCE
from stackrank.env.sandbox.guest.core.processes import HeadTail
from stackrank.env.sandbox.guest.debugging.terminal import COLUMNS, ROWS
from stackrank.env.sandbox.replies.programs import Typed
from stackrank.env.terminal.screen import Screen, count_unfinished, strip_escapes

CAP = 16 << 10
"""The most bytes of one step's output that the screen gets, head and tail."""
MOST_SEARCHED = 1 << 20
"""The most bytes of one step's output that are searched for a pattern."""
_WINDOW = 4096
"""The most characters that a match may span."""
_SEARCH_S = 1.0
"""How long one search may take: some expressions take for ever."""
_PAUSE_S = 0.25
"""After this long without output, an incomplete line is searched too."""
_SETTLE_S = 0.5
"""How long a program that has printed what was waited for may take until it waits for a line."""
_AT_REST = ("input", "prompt")


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one step."""

    event: str
    """Why the step ended: `input`, `prompt`, `silence`, `time` or `ended`, as the guest's `Terminal.act` says; with a
    pattern also `found`, `idle` (nothing runs that could print it), `flood` (more output than is searched) or `hard`
    (the pattern takes too long)."""
    text: str
    whole: bool
    """Whether the text is the whole screen instead of what is new on it."""
    cursor: tuple[int, int]
    """Row and column, from 1."""
    dropped: int
    """Bytes of output that were not given to the screen; the text says where."""
    first: Typed
    """The sandbox's first answer, which says what was typed and whether the terminal is a new one."""
    last: Typed
    """The sandbox's last answer."""


class Session:
    """The screen of a sandbox's terminal, and the output that is not on it yet."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._screen = Screen(ROWS, COLUMNS)
        self._pending = b""

    def step(
        self,
        typed: Sequence[str],
        until: Sequence[str],
        *,
        pattern: regex.Pattern[str] | None = None,
        timeout_s: float,
        silence_s: float = 0,
        restart: bool = False,
    ) -> Step:
        """Type, and wait for one of the events `until`, or for the pattern instead. Raises Refused."""
        output = Output(self._sandbox, self._pending, pattern is not None)
        first = output.begin(typed, until, timeout_s=timeout_s, silence_s=silence_s, restart=restart)
        searcher = _Searcher(pattern, output)
        is_match = output.expect_loop(searcher, timeout=None) == searcher.FOUND  # type: ignore[arg-type]  # as it is used
        event = "found" if is_match else "hard" if searcher.too_hard else output.event
        if event in ("found", "hard", "flood"):
            output.settle(is_match)
        if first.started:
            self._screen = Screen(ROWS, COLUMNS)
        self._pending = output.pending
        screen, last = self._screen, output.reply
        screen.begin()
        output_text, dropped = output.shown()
        screen.feed(output_text)
        text, is_redrawn = screen.seen()
        screen.adapt(*last.size)
        if last.event == "prompt":
            screen.put_right()
        cursor = (screen.cursor.y + 1, screen.cursor.x + 1)
        return Step(event, text, is_redrawn, cursor, dropped, first, last)


class Output(SpawnBase):  # type: ignore[type-arg]  # generic in its stubs only
    """The output of one step, for pexpect to search.

    If a pattern is searched for, the output is handed over in whole lines, and an incomplete line when no more comes.
    What follows the line of a match is kept for the next step, so that what is shown does not depend on how the output
    happened to arrive.
    """

    reply: Typed

    def __init__(self, sandbox: Sandbox, pending: bytes, searched: bool) -> None:
        super().__init__(timeout=None, maxread=_WINDOW // 2, searchwindowsize=_WINDOW, encoding="utf-8")
        self.delayafterread = None
        self._sandbox = sandbox
        self._shown = HeadTail(CAP)
        self._searched = searched
        self._size = 0
        self._quiet = False
        self._piece_before = b""
        self._begun = False
        self._echoes: list[str] = []
        self.pending = pending
        """The output that is not shown yet."""
        self.event = ""
        """Why the step ended; empty while it goes on."""
        self.breaks_off = False
        """Whether the last piece ends within a line of which more has arrived already."""

    def begin(
        self, typed: Sequence[str], until: Sequence[str], *, timeout_s: float, silence_s: float, restart: bool
    ) -> Typed:
        """Type, and take the first output. Returns the sandbox's answer."""
        if self._searched:
            until, silence_s = ("output",), 0
        self._echoes = [line for line in (text.strip() for text in typed) if line]
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + PATIENCE * timeout_s + GRACE_S
        self._ask(typed, until, timeout_s=timeout_s, silence_s=silence_s, restart=restart)
        if self.reply.started:
            self.pending = self.pending[self._old :]
        return self.reply

    def _ask(self, typed: Sequence[str] | None, until: Sequence[str], **options: Any) -> None:
        cap = 4 * MOST_SEARCHED if self._searched else CAP
        self.reply, output = self._sandbox.type(typed, until, cap=cap, **options)
        self._old = len(self.pending)
        self.pending += output
        self._size += len(output)
        event = self.reply.event
        goes_on = self._searched and event in ("output", "silence", *_AT_REST)
        self._quiet = event != "output"
        if not goes_on:
            self.event = event
        elif self._size > MOST_SEARCHED or time.monotonic() > self._deadline:
            self.event = "flood"
        elif self.reply.idle and event in _AT_REST:
            self.event = "idle"

    def read_nonblocking(self, size: int = 1, timeout: float | None = None) -> str:
        """Return some lines, at most `size` bytes; if no pattern is searched for, everything that is there.

        Raises EOF if the shell has ended, TIMEOUT if the step has ended.
        """
        while not (piece := self._piece(size)):
            if self.event:
                raise EOF("the shell ended") if self.event == "ended" else TIMEOUT(self.event)
            # After a pause, only new output is of interest.
            until = ("output",) if self._quiet else ("output", "silence", *_AT_REST)
            self._ask(None, until, timeout_s=self._timeout_s, silence_s=_PAUSE_S)
        self.pending = self.pending[len(piece) :]
        self._shown.write(self._piece_before)
        self._piece_before = piece
        self.breaks_off = bool(self.pending) and not piece.endswith(b"\n")
        lines = strip_escapes(piece.decode("utf-8", "replace"), self._begun).split("\n")
        self._begun = bool(lines[-1]) or (self._begun and len(lines) == 1)
        for number, line in enumerate(lines):
            if self._echoes and line.rstrip().endswith(self._echoes[0]):
                del self._echoes[0]
                lines[number] = ""  # the echo of typed text must not match the pattern
        return "\n".join(lines)

    def _piece(self, size: int) -> bytes:
        end = self.pending.rfind(b"\n", 0, size) + 1
        if self._searched and end:
            return self.pending[:end]
        if self._searched and len(self.pending) <= size and not self._quiet:
            return b""  # an incomplete line is kept back until it ends or nothing more comes
        piece = self.pending[:size] if self._searched else self.pending
        # A full piece without a place to cut it is returned whole.
        return piece[: len(piece) - count_unfinished(piece)] or (
            piece if self._searched and len(piece) == size else b""
        )

    def settle(self, is_match: bool) -> None:
        """Show the line of a match to its end, and the rest only if the program then waits for a line.

        What is not shown is kept for the next step.
        """
        if is_match:
            line = _without_last(self._piece_before, self.buffer.count("\n"))
            self.pending = self._piece_before[len(line) :] + self.pending
            self._piece_before = line
        self._ask([], _AT_REST, timeout_s=_SETTLE_S, silence_s=0)
        if self.reply.event in (*_AT_REST, "ended"):
            self._piece_before += self.pending
            self.pending = b""

    def shown(self) -> tuple[str, int]:
        """Return the output for the screen, and how many bytes of it were dropped."""
        self._shown.write(self._piece_before)
        data, dropped = self._shown.take()
        # The guest marks output that it dropped in the same way.
        for count in {dropped, self.reply.dropped} - {0}:
            mark = b"[... %d bytes dropped ...]" % count
            data = data.replace(b"\n%s\n" % mark, b"\r\n%s\r\n" % mark)
        return data.decode("utf-8", "replace"), dropped + self.reply.dropped


def _without_last(piece: bytes, count: int) -> bytes:
    """Return a piece up to the end of a match's line, if `count` line ends follow the match in its text."""
    end = len(piece)
    while count and (start := piece.rfind(b"\n", 0, end)) >= 0:
        # A line that was redrawn was searched as several lines.
        size = 1 + strip_escapes(piece[start + 1 : end].rstrip(b"\r").decode("utf-8", "replace")).count("\n")
        if size > count:
            break
        count -= size
        end = start
    return piece[: end + 1]


class _Searcher:
    """A searcher like pexpect's own; see `pexpect.expect.searcher_re`."""

    FOUND, eof_index, timeout_index = 0, 1, 2
    start = end = 0
    match: Any = None
    too_hard = False

    def __init__(self, pattern: regex.Pattern[str] | None, output: Output) -> None:
        self._pattern = pattern
        self._output = output

    def search(self, buffer: str, freshlen: int, searchwindowsize: int | None = None) -> int:
        """Return 0 if the pattern is in the buffer, else -1."""
        if self._pattern is None:
            return -1
        try:
            self.match = self._pattern.search(buffer, timeout=_SEARCH_S)
        except TimeoutError:
            self.too_hard = True
            raise TIMEOUT("the pattern") from None
        if self.match is None or (self.match.end() == len(buffer) and self._output.breaks_off):
            return -1  # the line goes on after this piece, so the match may too
        self.start, self.end = self.match.span()
        return self.FOUND
