"""Reports what happens in a run: records for the guest, frames with their local variables, failures."""

from __future__ import annotations

import json
import linecache
import os
import types
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ..exceptions import chain_of
from ..places import Names
from ..values import safe_locals, shown
from .tracing import Own

MOST_FRAMES = 40
"""The most frames of a stack that are reported; of a deeper one, half of them from either end."""
_MESSAGE, _MOST_LINES, _LONGEST = 600, 8, 200
"""The most characters and lines of an exception's message, and characters of one such line, that are reported."""


class Report:
    """Writes records to the guest, each as a line of JSON."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        os.set_inheritable(fd, False)

    def write(self, kind: str, **record: Any) -> None:
        """Write a record. Do nothing if the program has closed the descriptor."""
        data = json.dumps({"kind": kind, **record}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            while data and self._fd >= 0:
                data = data[os.write(self._fd, data) :]
        except OSError:
            self._fd = -1

    def close(self) -> None:
        """Close the report: later records are not written."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class Storyteller:
    """Puts frames and exceptions into words."""

    def __init__(self, is_own: Own, names: Names, report: Report) -> None:
        self.own = is_own
        self.names = names
        self.report = report
        self.test = ""
        """Id of the test that is running."""

    def place(self, frame: types.FrameType, line: Optional[int] = None) -> Dict[str, Any]:
        """Return where a frame stands."""
        code = frame.f_code
        return {
            "file": self.own.shorten(code.co_filename),
            "line": line or frame.f_lineno or code.co_firstlineno,
            "function": self.names(code),
        }

    def frames(self, stack: Sequence[Tuple[types.FrameType, int]]) -> List[Dict[str, Any]]:
        """Return the frames of the workspace's own code with their local variables, the outermost first."""
        mine = [(frame, line) for frame, line in stack if self.own(frame.f_code.co_filename)]
        left_out = max(len(mine) - MOST_FRAMES, 0)
        if left_out:
            mine = mine[: MOST_FRAMES // 2] + mine[-MOST_FRAMES // 2 :]
        rows = []
        for position, (frame, line) in enumerate(mine):
            row = self.place(frame, line)
            row["source"] = linecache.getline(frame.f_code.co_filename, row["line"], frame.f_globals).strip()[:200]
            row["locals"] = safe_locals(frame.f_locals)
            row["skipped"] = left_out if left_out and position == MOST_FRAMES // 2 else 0
            rows.append(row)
        return rows

    def stack(self, frame: Optional[types.FrameType], line: int = 0) -> List[Dict[str, Any]]:
        """Return the calls that led to a frame; `line`: where the frame is, if not where it says itself."""
        frames: List[Tuple[types.FrameType, int]] = []
        while frame is not None:
            frames.append((frame, line or frame.f_lineno or 0))
            frame, line = frame.f_back, 0
        return self.frames(frames[::-1])

    def failure(self, test: str, error: BaseException, place: Optional[Dict[str, Any]]) -> None:
        """Report a failure with the frames of its traceback, and those of its causes."""
        causes = [{"error": describe(cause), "frames": self.traceback(cause)} for cause in chain_of(error)[1:]]
        self.report.write(
            "failure",
            test=test,
            error=describe(error),
            assertion=isinstance(error, AssertionError),
            frames=self.traceback(error),
            causes=causes,
            where=place,
        )

    def traceback(self, error: BaseException) -> List[Dict[str, Any]]:
        """Return the frames of an exception's traceback."""
        frames = []
        tb = error.__traceback__
        while tb is not None:
            frames.append((tb.tb_frame, tb.tb_lineno))
            tb = tb.tb_next
        return self.frames(frames)

    def arguments(self, frame: types.FrameType) -> Dict[str, str]:
        """Return the arguments of a frame's call."""
        return {name: shown(value) for name, value in arguments(frame)}


def arguments(frame: types.FrameType) -> List[Tuple[str, Any]]:
    """Return the names and values of a call's arguments."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    values = frame.f_locals
    return [(name, values[name]) for name in code.co_varnames[:count] if name in values]


def describe(error: BaseException) -> str:
    """Return an exception as `Type: message` on few lines, whatever its __str__ does."""
    try:
        text = str(error)
    except Exception:
        text = "<its message cannot be shown>"
    name = type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        text = "%s (%s, line %s)" % (error.msg, os.path.basename(str(error.filename)), error.lineno)
    lines = text.strip().split("\n")
    text = "\n".join(_cut(line, _LONGEST) for line in lines[:_MOST_LINES]) + (
        "\n..." if len(lines) > _MOST_LINES else ""
    )
    return _cut("%s: %s" % (name, text) if text else name, _MESSAGE)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
