"""Python's trace function, by which pdb stops, and which the program may replace."""

from __future__ import annotations

import sys
import threading
import types
from typing import Any, Callable, Dict, Tuple

from ...core.disk import real_file
from .shell import Shell

_PROCESSES = {"os.fork", "os.forkpty", "subprocess.Popen", "os.posix_spawn", "os.exec"}


class TraceFunction(Shell):
    """pdb that keeps its trace function, or says that it lost it; and says which processes it does not follow."""

    def __init__(self, root: str, note: Callable[[str], None], **options: Any) -> None:
        super().__init__(root, note, **options)
        self._set_trace_function = sys.settrace
        self._said_processes = False
        self._own: Dict[str, bool] = {}

    def is_own(self, frame: types.FrameType) -> bool:
        """Whether a frame runs code of the workspace: only such frames count for stepping and the depth."""
        name = frame.f_code.co_filename
        is_own = self._own.get(name)
        if is_own is None:
            is_own = self._own[name] = real_file(name).startswith(self._root)
        return is_own

    def trace_dispatch(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        """As in bdb, but faster for calls of code elsewhere, which are most calls of a run under pytest."""
        name = frame.f_code.co_filename
        is_elsewhere = event == "call" and self._own.get(name) is False and real_file(name) not in self.breaks
        if is_elsewhere and frame is not self.stopframe and self.botframe is not None:
            return None
        return super().trace_dispatch(frame, event, arg)

    def _trace(self, on: bool) -> None:
        self._set_trace_function(self.trace_dispatch if on else None)
        threading.settrace(self.trace_dispatch if on else None)

    @property
    def _needed(self) -> bool:
        """Whether the program has to be traced: there are breakpoints, or a step is not finished."""
        return bool(self.breaks) or not (self.stopframe is self.botframe and self.stoplineno == -1)

    def _of_the_program(self, function: Any) -> None:
        """Stand in for `sys.settrace` in the program: its function replaces ours until the program removes it."""
        if function == self.trace_dispatch or sys._getframe(1).f_locals.get("self") is self:
            self._set_trace_function(function)
        elif function is None:
            self._set_trace_function(self.trace_dispatch if self._needed else None)
        else:
            if self._needed:
                self._note("the program set a trace function of its own, under which breakpoints and steps do not stop")
            self._set_trace_function(function)

    def stand_in(self) -> None:
        """Take over `sys.settrace`, and look out for processes that the program starts."""
        setattr(sys, "settrace", self._of_the_program)  # noqa: B010
        sys.addaudithook(self._audit)

    def stop_tracing(self) -> None:
        """Trace nothing any more."""
        setattr(sys, "settrace", self._set_trace_function)  # noqa: B010
        self._trace(False)

    def _audit(self, event: str, arguments: Tuple[Any, ...]) -> None:
        """Say once that breakpoints do not stop in the processes that the program starts."""
        if event in _PROCESSES and not self._said_processes and self.breaks:
            self._said_processes = True
            self._note("the program started another process; breakpoints and steps do not stop there")

    def retrace(self) -> None:
        """Set our trace function again if a fixture, a plug-in or the program has replaced it."""
        stands_in = sys.settrace == self._of_the_program
        if stands_in and self._needed and sys.gettrace() != self.trace_dispatch:
            self._note(
                "something in the program (a fixture, coverage) had replaced the debugger's trace function, so "
                "breakpoints may have been missed; it is set again"
            )
            self._set_trace_function(self.trace_dispatch)
