"""The observers of `snapshot`: the last stops before a failure, the path through the program.

A clock identifies a moment of a run, so that the next run can be stopped there: how many calls the test has made, and
how many lines it has run since call `from_call`. Gates count them while nobody needs to look.
"""

from __future__ import annotations

import collections
import linecache
import os
import types
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

from ..values import safe_locals
from .gates import NEVER, Gate, Kept
from .report_stream import Storyteller
from .tracing import CALLS, LINES, RAISES, Observer, Traceback, Tracer

_ERRORS = 4
_FRAMES = 500
_MOST_PATH = 100_000


class Clocked(Observer):
    """Counts calls, and lines from call `from_call` on."""

    from_import = False
    tracer: Optional[Tracer] = None
    stop_now: Callable[[str], None]

    def __init__(self, spec: Dict[str, Any], teller: Storyteller) -> None:
        self.teller = teller
        self.from_call: int = spec["from_call"]
        self.calls, self.lines = Gate(), Gate()
        self.armed = False
        self.tired = False
        """Whether the number of lines that may be looked at is used up."""

    def begin_test(self) -> None:
        """Restart the clock for each test."""
        self.calls.reset()
        self.lines.reset()
        self.tired = False
        self.armed = self.from_call == 0
        self._look_again(None)

    def where_raised(self, error: BaseException) -> Optional[Dict[str, Any]]:
        """Return the moment when an exception was raised, if it is known."""
        return None

    def rest(self, frame: types.FrameType) -> None:
        """Stop looking at lines."""
        self.armed, self.tired = False, True
        self.calls.next(NEVER)
        self.lines.next(NEVER)
        self._look_again(frame)

    def _look_again(self, frame: Optional[types.FrameType]) -> None:
        if self.tracer is not None:
            self.tracer.follow(frame)

    def finish(self) -> None:
        """Do nothing: there is nothing left to report."""


class StepsObserver(Clocked):
    """Keeps the last stops before an exception with the local variables that changed.

    Expects `from_call`, `from_line` (lines before it are counted but not looked at), `keep` (how many stops), `budget`
    (how many lines are looked at, or counted, before it gives up) and `capture` (the line whose frames are reported,
    after which the run ends; 0: none).
    """

    def __init__(self, spec: Dict[str, Any], teller: Storyteller) -> None:
        super().__init__(spec, teller)
        self._from_line: int = spec["from_line"]
        self._budget: int = spec["budget"]
        self._capture: int = spec["capture"]
        self._keep: Deque[Tuple[int, types.CodeType, int, Dict[str, str]]] = collections.deque(maxlen=spec["keep"])
        self._seen: Dict[int, Dict[str, str]] = {}
        self._errors: Deque[Tuple[BaseException, Dict[str, Any]]] = collections.deque(maxlen=_ERRORS)

        self._start()

    def begin_test(self) -> None:
        """Forget everything of the test before."""
        super().begin_test()
        self._keep.clear()
        self._seen.clear()
        self._start()

    def _start(self) -> None:
        self.armed = self.from_call == 0
        self.calls.reset(NEVER if self.armed and self._from_line > 1 else self.from_call)
        self.lines.reset(self._from_line if self.armed else NEVER)

    def interest(self, code: types.CodeType) -> int:
        """Ask for calls, and for lines and exceptions from the requested moment on."""
        if self.armed:
            return self.ever(code)
        return CALLS | RAISES if self.tired and self._counts() else CALLS

    def _counts(self) -> bool:
        return self.tracer is not None and self.tracer.counts

    def ever(self, code: types.CodeType) -> int:
        """Ask for calls, lines and exceptions."""
        return CALLS | LINES | RAISES

    def gate(self, code: types.CodeType, kind: int, line: int = 0) -> Optional[Gate]:
        """Return one gate for the calls of all functions, and one for their lines."""
        return self.calls if kind == CALLS else self.lines

    def entered(self, frame: types.FrameType) -> None:
        """Count a call, whose variables are all new."""
        number = self.calls.told()
        if number == self.from_call and not self.armed and not self.tired:
            self.armed = True
            self.lines.reset(self._from_line)
            if self._from_line > 1:
                self.calls.next(NEVER)
            self._look_again(frame)
        self._seen.pop(id(frame), None)

    def line(self, frame: types.FrameType) -> None:
        """Count a line and keep it as a stop, if it is time to look."""
        number = self.lines.told()
        if number < self._from_line:
            self.lines.next(self._from_line)
            return
        if number == self._from_line:
            self.calls.next(0)
        if number == self._capture:
            self.teller.report.write("captured", frames=self.teller.stack(frame), test=self.teller.test)
            self.stop_now("captured")
        if number - self._from_line >= self._budget:
            self.rest(frame)
            return
        new_values = safe_locals(frame.f_locals)
        old_values = self._seen.get(id(frame), {})
        if len(self._seen) > _FRAMES:
            self._seen.clear()
        self._seen[id(frame)] = new_values
        changed = {name: value for name, value in new_values.items() if old_values.get(name) != value}
        self._keep.append((number, frame.f_code, frame.f_lineno, changed))

    def raised(self, frame: types.FrameType, error: BaseException, line: int, traceback: Traceback) -> None:
        """Remember what came before an exception when it is first raised."""
        if all(error is not earlier for earlier, _ in self._errors):
            self._errors.append((error, self._moment()))

    def _moment(self) -> Dict[str, Any]:
        counts = {"calls": self.calls.count, "lines": self.lines.count, "counted": self._counts()}
        return {**counts, "tired": self.tired, "stops": list(self._keep)}

    def where_raised(self, error: BaseException) -> Optional[Dict[str, Any]]:
        """Return the stops before an exception; if its raise was not seen, the stops until now."""
        for earlier, moment in self._errors:
            if earlier is error:
                return self._told_moment(moment)
        return self._told_moment(self._moment())

    def finish(self) -> None:
        """Report where the run stood when it was ended."""
        self.teller.report.write("moment", **self._told_moment(self._moment()))

    def _told_moment(self, moment: Dict[str, Any]) -> Dict[str, Any]:
        return {**moment, "tired": self.tired, "stops": [self._told(stop) for stop in moment["stops"]]}

    def _told(self, stop: Tuple[int, types.CodeType, int, Dict[str, str]]) -> Dict[str, Any]:
        number, code, line, changed = stop
        return {
            "number": number,
            "file": self.teller.own.shorten(code.co_filename),
            "line": line,
            "function": self.teller.names(code),
            "source": linecache.getline(code.co_filename, line).strip()[:200],
            "changed": changed,
        }


class PathObserver(Clocked):
    """Remembers the lines that run, in order, without those of test files.

    Expects `capture`: the line, counted from 1, whose frames are reported, after which the run ends; 0: none.
    """

    def __init__(self, spec: Dict[str, Any], teller: Storyteller) -> None:
        super().__init__(spec, teller)
        self._capture: int = spec["capture"]
        self._places: Dict[Tuple[int, int], int] = {}
        self._codes: Dict[int, types.CodeType] = {}
        self._path: List[int] = []
        self._room = Gate()
        self._start()

    def begin_test(self) -> None:
        """Start a new path for each test; only the last test's path is reported."""
        super().begin_test()
        self._path.clear()
        self._start()

    def _start(self) -> None:
        self._room.reset(_MOST_PATH + 1)
        self.lines.reset(self._capture or 1)

    def interest(self, code: types.CodeType) -> int:
        """Ask for the lines of the program, until the path is full."""
        return 0 if self.tired else self.ever(code)

    def ever(self, code: types.CodeType) -> int:
        """Ask for the lines of the program."""
        return 0 if is_test_file(code.co_filename) else LINES

    def gate(self, code: types.CodeType, kind: int, line: int = 0) -> Optional[Gate]:
        """Return one gate for all functions."""
        return self.lines

    def kept(self, code: types.CodeType, line: int) -> Optional[Kept]:
        """Keep the line itself, if the path is wanted."""
        return None if self._capture else Kept(self._room, self._path.append, self._number(code, line))

    def _number(self, code: types.CodeType, line: int) -> int:
        self._codes[id(code)] = code
        return self._places.setdefault((id(code), line), len(self._places))

    def line(self, frame: types.FrameType) -> None:
        """Add a line to the path, or report the frames at the line to capture."""
        number = self.lines.told()
        if number == self._capture:
            self.teller.report.write("captured", frames=self.teller.stack(frame), test=self.teller.test)
            self.stop_now("captured")
        if self._capture:
            self.lines.next(self._capture)
        elif len(self._path) >= _MOST_PATH:
            self.rest(frame)
        else:
            self._path.append(self._number(frame.f_code, frame.f_lineno))

    def finish(self) -> None:
        """Report the path."""
        places = []
        numbers = {old: new for new, old in enumerate(dict.fromkeys(self._path))}
        kept_places = list(self._places)
        for code_id, line in (kept_places[old] for old in numbers):
            code = self._codes[code_id]
            name = self.teller.own.shorten(code.co_filename)
            source = linecache.getline(code.co_filename, line).strip()[:200]
            places.append({"file": name, "line": line, "function": self.teller.names(code), "source": source})
        path = [numbers[old] for old in self._path]
        self.teller.report.write("path", places=places, path=path, tired=len(path) >= _MOST_PATH)


def is_test_file(name: str) -> bool:
    """Whether a file holds tests, by its name."""
    base = os.path.basename(name)
    return base.startswith("test_") or base.endswith("_test.py") or base in ("conftest.py", "tests.py")
