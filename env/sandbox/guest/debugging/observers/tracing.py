"""Follows what the program's own code does: by `sys.monitoring` if Python has it, else by `sys.settrace`.

For Python 3.11 there is a third way, see `insertion`.

Only files of the workspace are followed, so that libraries run at nearly their full speed.
"""

from __future__ import annotations

import dis
import os
import sys
import threading
import types
from typing import Any, Callable, Dict, List, Optional, Set

from ...core.disk import real_file
from .gates import Gate, Kept

CALLS, ENDS, LINES, RAISES = 1, 2, 4, 8
"""The events of a function: that it was entered, how each call ended, each line, each exception in it."""

Traceback = Optional[types.TracebackType]

_GENERATOR_FLAGS = 0x20 | 0x80 | 0x200
_RETURNS = {dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST", "RETURN_GENERATOR") if name in dis.opmap}
_RESUME = dis.opmap.get("RESUME", -1)
_YIELDS = {dis.opmap[name] for name in ("YIELD_VALUE", "YIELD_FROM", "SEND") if name in dis.opmap}


class Observer:
    """Receives a program's events. Each method runs in the program's thread; what it runs itself is not followed."""

    def interest(self, code: types.CodeType) -> int:
        """Return the events to report of a function of the workspace. Called once for each function."""
        return 0

    def ever(self, code: types.CodeType) -> int:
        """Return all events that `interest` may ever ask for of a function. Called before its module runs."""
        return self.interest(code)

    def at_line(self, code: types.CodeType, line: int) -> bool:
        """Whether this line may be reported, if any lines of the code are wanted."""
        return True

    def gate(self, code: types.CodeType, kind: int, line: int = 0) -> Optional[Gate]:
        """Return the gate that can skip hooks of that kind (CALLS, ENDS, LINES). Tracers without hooks skip nothing."""
        return None

    def kept(self, code: types.CodeType, line: int) -> Optional[Kept]:
        """Return what to keep each time a line is reached, in place of reporting it."""
        return None

    def placed(self, code: types.CodeType, new_code: types.CodeType) -> None:
        """Called when `made`, which calls hooks, takes the place of `code`."""

    def entered(self, frame: types.FrameType) -> None:
        """Called when a call begins."""

    def line(self, frame: types.FrameType) -> None:
        """Called when a line is about to run."""

    def left(self, frame: types.FrameType, value: Any) -> None:
        """Called when a call returns."""

    def yielded(self, frame: types.FrameType, value: Any) -> None:
        """Called when a generator yields a value and waits."""

    def unwound(self, frame: types.FrameType, error: Optional[BaseException]) -> None:
        """Called when an exception leaves a call."""

    def raised(self, frame: types.FrameType, error: BaseException, line: int, traceback: Traceback) -> None:
        """Called when an exception was raised in this frame, or came here from a call, in that line.

        `traceback`: how it came here so far; `settrace` does not set the exception's own yet.
        """


class Own:
    """Tells which files, as code objects name them, are the workspace's own."""

    def __init__(self, root: str) -> None:
        self._root = root.rstrip(os.sep) + os.sep
        self._known: Dict[str, bool] = {}

    def __call__(self, name: str) -> bool:
        """Whether a file is the workspace's own."""
        is_own = self._known.get(name)
        if is_own is None:
            is_inside = real_file(name).startswith(self._root)
            is_own = self._known[name] = is_inside and "site-packages" not in name
        return is_own

    def shorten(self, name: str) -> str:
        """Return a file, as a code object names it, as the agent does."""
        real = real_file(name)
        return real[len(self._root) :] if real.startswith(self._root) else real


class Tracer:
    """Follows the program and reports to an observer."""

    def __init__(self, observer: Observer, is_own: Own) -> None:
        self._observer = observer
        self._own = is_own
        self._wanted: Dict[int, int] = {}
        self._codes: List[types.CodeType] = []
        """The code objects whose ids are known. They are kept, because an id is only theirs as long as they live."""
        self.lost = ""
        """Why some events may be missing."""

    def _ask(self, code: types.CodeType) -> int:
        self._codes.append(code)
        events = self._observer.interest(code) if self._own(code.co_filename) else 0
        self._wanted[id(code)] = events
        return events

    @property
    def counts(self) -> bool:
        """Whether gates count what is skipped, so that numbers are right while nobody looks."""
        return False

    def prepare(self) -> None:
        """Called before anything of the program has run."""

    def runs(self, code: types.CodeType) -> None:
        """Called when `exec` or `eval` is about to run code."""

    def start(self) -> None:
        """Follow this thread and those that start from now on."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stop following."""
        raise NotImplementedError

    def follow(self, frame: Optional[types.FrameType]) -> None:
        """Include calls that are already running: `frame` and its callers. Asks about their functions again."""
        raise NotImplementedError


class SetTracer(Tracer):
    """Follows code by `sys.settrace`."""

    def __init__(self, observer: Observer, is_own: Own) -> None:
        super().__init__(observer, is_own)
        self._bytes: Dict[int, bytes] = {}
        self._errors: Dict[int, BaseException] = {}
        self._set = sys.settrace
        self.others: Set[int] = set()
        """Ids of code objects that are followed in another way."""

    def _ask(self, code: types.CodeType) -> int:
        if id(code) in self.others:
            self._wanted[id(code)] = 0
            return 0
        return super()._ask(code)

    def start(self) -> None:
        """Follow this thread and those that start from now on."""
        threading.settrace(self._global)
        self._set(self._global)
        setattr(sys, "settrace", self._of_the_program)  # noqa: B010

    def stop(self) -> None:
        """Stop following."""
        if not self.lost and sys.settrace == self._of_the_program and sys.gettrace() is None:
            # Python removes a trace function that raises, as every function does when no stack is left.
            self.lost = "the calls were nested too deeply to follow all of them, so some are missing"
        if sys.settrace == self._of_the_program:
            setattr(sys, "settrace", self._set)  # noqa: B010
        self._set(None)
        threading.settrace(None)

    def _of_the_program(self, function: Any) -> None:
        """Stand in for `sys.settrace` in the program: its function replaces ours until the program removes it."""
        if function is None or function == self._global:
            self._set(self._global)
            return
        self.lost = "the program called sys.settrace itself; the code that ran under its tracer was not followed"
        self._set(function)

    def follow(self, frame: Optional[types.FrameType]) -> None:
        """Include calls that are already running."""
        self._wanted.clear()
        self._codes.clear()
        while frame is not None:
            events = self._ask(frame.f_code)
            if events & ~CALLS:
                frame.f_trace_lines = bool(events & LINES)
                frame.f_trace = self._local
            frame = frame.f_back

    def _global(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        events = self._wanted.get(id(code))
        if events is None:
            events = self._ask(code)
        if not events:
            return None
        if events & CALLS and (not code.co_flags & _GENERATOR_FLAGS or self._begins(frame)):
            self._observer.entered(frame)
        if not events & ~CALLS:
            return None
        if not events & LINES:
            frame.f_trace_lines = False
        return self._local

    def _begins(self, frame: types.FrameType) -> bool:
        """Whether a generator is at its beginning, and is not resumed after a value that it yielded."""
        last = frame.f_lasti
        if last < 0 or _RESUME < 0:
            return last < 0
        content = self._content(frame.f_code)
        return content[last] == _RESUME and content[last + 1] == 0

    def _content(self, code: types.CodeType) -> bytes:
        """Return the code's `co_code`; reading it makes a copy, so it is read once."""
        content = self._bytes.get(id(code))
        if content is None:
            content = self._bytes[id(code)] = code.co_code
        return content

    def _local(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        events = self._wanted.get(id(frame.f_code), 0)
        if event == "line":
            if events & LINES:
                self._observer.line(frame)
            else:
                frame.f_trace_lines = False
        elif event == "exception":
            if events & ENDS:
                self._errors[id(frame)] = argument[1]
            if events & RAISES:
                self._observer.raised(frame, argument[1], frame.f_lineno, argument[2])
        elif event == "return" and events & ENDS:
            self._end(frame, argument)
        return self._local

    def _end(self, frame: types.FrameType, value: Any) -> None:
        code = frame.f_code
        waits = bool(code.co_flags & _GENERATOR_FLAGS)
        last = -1
        if waits or value is None:
            last = self._content(code)[frame.f_lasti] if frame.f_lasti >= 0 else -1
        if waits and last in _YIELDS:
            if code.co_flags & 0x220:
                self._observer.yielded(frame, value)
            return
        error = self._errors.pop(id(frame), None)
        if value is not None or last in _RETURNS:
            self._observer.left(frame, value)
        else:
            self._observer.unwound(frame, error)


class Monitor(Tracer):
    """Follows code by `sys.monitoring` (Python 3.12 and later): functions that are not followed cost nothing."""

    def __init__(self, observer: Observer, is_own: Own) -> None:
        super().__init__(observer, is_own)
        self._m: Any = getattr(sys, "monitoring")  # noqa: B009  typeshed knows it for newer versions only
        self._tool = next(tool_id for tool_id in (0, 3, 4, 2, 1, 5) if self._m.get_tool(tool_id) is None)
        self._raises = False

    def start(self) -> None:
        """Follow all threads."""
        events = self._m.events
        self._m.use_tool_id(self._tool, "stackrank")
        callbacks: Dict[int, Callable[..., Any]] = {
            events.PY_START: self._start,
            events.LINE: self._line,
            events.PY_RETURN: self._return,
            events.PY_YIELD: self._yield,
            events.PY_UNWIND: self._unwind,
            events.RAISE: self._raise,
        }
        for event, function in callbacks.items():
            self._m.register_callback(self._tool, event, function)
        self._m.set_events(self._tool, events.PY_START)

    def stop(self) -> None:
        """Stop following."""
        if self._m.get_tool(self._tool) == "stackrank":
            self._m.set_events(self._tool, 0)
            for code in self._codes:
                self._m.set_local_events(self._tool, code, 0)
            self._m.free_tool_id(self._tool)

    def _ask(self, code: types.CodeType) -> int:
        requested = super()._ask(code)
        events = self._m.events
        local = (events.LINE if requested & LINES else 0) | (
            events.PY_RETURN | events.PY_YIELD if requested & ENDS else 0
        )
        if local or self._m.get_local_events(self._tool, code):
            self._m.set_local_events(self._tool, code, local)
        if requested & (RAISES | ENDS) and not self._raises:
            # These two events can only be set for all code or none.
            self._raises = True
            self._m.set_events(self._tool, events.PY_START | events.RAISE | events.PY_UNWIND)
        return requested

    def follow(self, frame: Optional[types.FrameType]) -> None:
        """Include calls that are already running."""
        self._wanted.clear()
        codes, self._codes = self._codes, []
        for code in codes:
            self._ask(code)
        while frame is not None:
            if id(frame.f_code) not in self._wanted:
                self._ask(frame.f_code)
            frame = frame.f_back
        self._m.restart_events()

    def _start(self, code: types.CodeType, offset: int) -> Any:
        events = self._wanted.get(id(code))
        if events is None:
            events = self._ask(code)
        if not events & CALLS:
            return self._m.DISABLE
        self._observer.entered(sys._getframe(1))
        return None

    def _line(self, code: types.CodeType, line: int) -> Any:
        if not self._wanted.get(id(code), 0) & LINES:
            return self._m.DISABLE
        self._observer.line(sys._getframe(1))
        return None

    def _return(self, code: types.CodeType, offset: int, value: Any) -> None:
        if self._wanted.get(id(code), 0) & ENDS:
            self._observer.left(sys._getframe(1), value)

    def _yield(self, code: types.CodeType, offset: int, value: Any) -> None:
        if self._wanted.get(id(code), 0) & ENDS and code.co_flags & 0x220:
            self._observer.yielded(sys._getframe(1), value)

    def _unwind(self, code: types.CodeType, offset: int, error: BaseException) -> None:
        if self._wanted.get(id(code), 0) & ENDS:
            self._observer.unwound(sys._getframe(1), error)

    def _raise(self, code: types.CodeType, offset: int, error: BaseException) -> None:
        if self._wanted.get(id(code), 0) & RAISES:
            frame = sys._getframe(1)
            self._observer.raised(frame, error, frame.f_lineno, error.__traceback__)
