"""Follows code on Python 3.11 by calls of hooks, which are put into a module's code when the module is run.

In that version, `sys.settrace` slows down everything that runs, libraries included. It is used only where hooks cannot
be put in: for code that is not run as a module is, and for all code from the first module on that looks at code
objects or traces itself.
"""

from __future__ import annotations

import dis
import importlib._bootstrap_external
import runpy
import sys
import threading
import types
from typing import Any, Callable, Dict, Optional, Set

from .assembly import Hooks, with_hooks
from .tracing import CALLS, ENDS, LINES, RAISES, Observer, Own, SetTracer, Traceback, Tracer

_ATTRIBUTES = {
    "co_code",
    "co_consts",
    "co_stacksize",
    "co_linetable",
    "co_lnotab",
    "co_exceptiontable",
    "co_positions",
    "co_lines",
    "co_varnames",
    "_co_code_adaptive",
    "f_lasti",
    "tb_lasti",
    "f_trace",
    "settrace",
    "setprofile",
    "settrace_all_threads",
    "getrefcount",
    "setrecursionlimit",
}
_MODULES = {
    "dis",
    "opcode",
    "marshal",
    "bdb",
    "pdb",
    "cProfile",
    "profile",
    "trace",
    "coverage",
    "numba",
    "cloudpickle",
    "dill",
    "torch",
    "bytecode",
}
"""The attributes and modules that code uses if it looks at code objects or traces what runs."""
_IMPORT = dis.opmap["IMPORT_NAME"]


def usable() -> bool:
    """Whether this module understands the code objects of this Python."""
    return sys.version_info[:2] == (3, 11) and sys.implementation.name == "cpython"


class _Guarded(Observer):
    """An observer that gets no events of code that it runs itself."""

    def __init__(self, observer: Observer, busy: Set[int]) -> None:
        self._observer = observer
        self._busy = busy

    def interest(self, code: types.CodeType) -> int:
        return self._observer.interest(code)

    def _tell(self, method: Callable[..., None], *arguments: Any) -> None:
        ident = threading.get_ident()
        if ident in self._busy:
            return
        self._busy.add(ident)
        try:
            method(*arguments)
        finally:
            self._busy.discard(ident)

    def entered(self, frame: types.FrameType) -> None:
        self._tell(self._observer.entered, frame)

    def line(self, frame: types.FrameType) -> None:
        self._tell(self._observer.line, frame)

    def left(self, frame: types.FrameType, value: Any) -> None:
        self._tell(self._observer.left, frame, value)

    def yielded(self, frame: types.FrameType, value: Any) -> None:
        self._tell(self._observer.yielded, frame, value)

    def unwound(self, frame: types.FrameType, error: Optional[BaseException]) -> None:
        self._tell(self._observer.unwound, frame, error)

    def raised(self, frame: types.FrameType, error: BaseException, line: int, traceback: Traceback) -> None:
        self._tell(self._observer.raised, frame, error, line, traceback)


class Inserter(Tracer):
    """Follows code by hooks in it."""

    def __init__(self, observer: Observer, is_own: Own) -> None:
        super().__init__(observer, is_own)
        self._busy: Set[int] = set()
        """Threads in which the observer is running."""
        self._again: Dict[int, BaseException] = {}
        """Thread -> exception that is being re-raised."""
        self._on = False
        self._plain = False
        self._hooks = self._make_hooks()
        self._rest = SetTracer(_Guarded(observer, self._busy), is_own)
        self._rest_on = False

    @property
    def counts(self) -> bool:
        """True as long as all code is followed by hooks."""
        return not self._plain

    def prepare(self) -> None:
        """Put hooks into all modules that are run from now on."""
        run = _runner(self.instrumented)
        for module in (importlib._bootstrap_external, runpy, sys.modules.get("_pytest.assertion.rewrite")):
            if module is not None:
                setattr(module, "exec", run)  # noqa: B010

    def instrumented(self, code: types.CodeType) -> types.CodeType:
        """Return a module's code with hooks for the events that the observer wants."""
        if not self._own(code.co_filename):
            return code
        if not self._plain and self._looks(code):
            self._plain = True
            self._follow_rest()
        return code if self._plain else self._with_hooks(code)

    def _looks(self, code: types.CodeType) -> bool:
        nested_codes = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
        return not _ATTRIBUTES.isdisjoint(code.co_names) or _imports(code) or any(map(self._looks, nested_codes))

    def _with_hooks(self, code: types.CodeType) -> types.CodeType:
        consts = [
            self._with_hooks(constant) if isinstance(constant, types.CodeType) else constant
            for constant in code.co_consts
        ]
        events = self._observer.ever(code)
        self._codes.append(code)
        if events:
            new_code = with_hooks(code, self._observer, self._hooks, consts)
            self._observer.placed(code, new_code)
        else:
            new_code = code.replace(co_consts=tuple(consts))
        self._ask(new_code)
        self._rest.others.add(id(new_code))
        return new_code

    def runs(self, code: types.CodeType) -> None:
        """Use `sys.settrace` too if code that has no hooks is about to be run by `exec` or `eval`."""
        if id(code) not in self._wanted and self._own(code.co_filename) and threading.get_ident() not in self._busy:
            self._follow_rest()

    def _follow_rest(self) -> None:
        self._plain = True
        if self._on and not self._rest_on:
            self._rest_on = True
            self._rest.start()

    def start(self) -> None:
        """Follow all threads."""
        self.follow(None)
        self._on = True
        if self._plain:
            self._follow_rest()

    def stop(self) -> None:
        """Stop following."""
        self._on = False
        if self._rest_on:
            self._rest_on = False
            self._rest.stop()
            self.lost = self._rest.lost

    def follow(self, frame: Optional[types.FrameType]) -> None:
        """Ask the observer about all functions again; the hooks report what it wants from then on."""
        codes, self._codes = self._codes, []
        for code in codes:
            self._ask(code)
        if self._rest_on:
            self._rest.follow(frame)

    def _make_hooks(self) -> Hooks:
        get_frame, get_ident = sys._getframe, threading.get_ident
        busy, pending_errors, events_of, observer = self._busy, self._again, self._wanted, self._observer

        def hook(kind: int, tell: Callable[[types.FrameType], None]) -> Callable[[], None]:
            def called() -> None:
                ident = get_ident()
                if self._on and ident not in busy:
                    frame = get_frame(1)
                    if events_of.get(id(frame.f_code), 0) & kind:
                        busy.add(ident)
                        try:
                            tell(frame)
                        finally:
                            busy.discard(ident)

            return called

        def hook_with(kind: int, tell: Callable[[types.FrameType, Any], None]) -> Callable[[Any], None]:
            def called(value: Any) -> None:
                ident = get_ident()
                if self._on and ident not in busy:
                    frame = get_frame(1)
                    if events_of.get(id(frame.f_code), 0) & kind:
                        busy.add(ident)
                        try:
                            tell(frame, value)
                        finally:
                            busy.discard(ident)

            return called

        def raised(frame: types.FrameType, error: BaseException) -> None:
            if pending_errors.pop(get_ident(), None) is error:
                return
            trace = error.__traceback__
            is_known = trace is not None and trace.tb_frame is frame
            line = trace.tb_lineno if trace is not None and is_known else frame.f_lineno
            observer.raised(frame, error, line, trace)

        def raised_again(error: Optional[BaseException] = None) -> None:
            error = error or sys.exc_info()[1]
            # Only a wanted hook takes the exception out again: else it would stay, with all that its frames hold.
            if self._on and error is not None and events_of.get(id(get_frame(1).f_code), 0) & RAISES:
                pending_errors[get_ident()] = error

        return Hooks(
            hook(CALLS, observer.entered),
            hook(LINES, observer.line),
            hook_with(ENDS, observer.left),
            hook_with(ENDS, observer.yielded),
            hook_with(RAISES, raised),
            raised_again,
            hook_with(ENDS, observer.unwound),
        )


def _imports(code: types.CodeType) -> bool:
    """Whether code imports one of `_MODULES`; a program may use the same names for something else."""
    if _MODULES.isdisjoint(name.partition(".")[0] for name in code.co_names):
        return False
    imported = (instruction.argval for instruction in dis.get_instructions(code) if instruction.opcode == _IMPORT)
    return any(name.partition(".")[0] in _MODULES for name in imported)


def _runner(instrumented: Callable[[types.CodeType], types.CodeType]) -> Callable[..., None]:
    """Return an `exec` for code that runs modules. Tracebacks take it for a part of the import system and omit it."""

    def _call_with_frames_removed(code: types.CodeType, names: Dict[str, Any]) -> None:
        exec(instrumented(code), names)

    runner_code = _call_with_frames_removed.__code__
    _call_with_frames_removed.__code__ = runner_code.replace(co_filename="<frozen importlib._bootstrap>")
    return _call_with_frames_removed
