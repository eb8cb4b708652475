"""Real pdb, driven over a private socket, in the process that it debugs.

pdb asks for its next command by reading a line; at that moment, and only then, this module reports what pdb printed
and where the program stands. So a program that prints `(Pdb) ` cannot confuse anyone: there is no prompt to parse.

Threads: a breakpoint stops the thread that reaches it, whichever it is; stepping then follows that thread, and the
others run on until they reach a breakpoint themselves.

Clocks: nothing here reads one, because the program may have stopped or replaced it.
"""

from __future__ import annotations

import bdb
import contextlib
import ctypes
import linecache
import os
import signal
import sys
import threading
import traceback
import types
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ..exceptions import chain_of
from ..values import call_stack, qualified_name, safe_locals
from .control import INTERRUPT, Control
from .taking_turns import Turns
from .trace_function import TraceFunction

# Commands that work before the program runs.
_BEFORE_START = {
    "b", "break", "tbreak", "cl", "clear", "condition", "ignore", "enable", "disable", "commands", "end",
    "h", "help", "?",
}  # fmt: skip
_RUN = {"c", "cont", "continue"}
_FIRST_STOP = {"n", "next", "s", "step", "w", "where", "bt"}


class Debugger(TraceFunction):
    """pdb with a program to debug, and an interrupt that stops the program where it hangs."""

    def __init__(self, control: Control, root: str) -> None:
        io: Any = control
        super().__init__(root, control.note, stdin=io, stdout=io, nosigint=True, readrc=False)
        self.use_rawinput = False
        self._control = control
        self._event = ""
        self._exception = ""
        self._stops = 0
        self._pause_at_test = False
        self._first = False
        self._outcomes: Dict[str, str] = {}
        self._turns = Turns(control.note)
        self._chain: List[Tuple[BaseException, types.TracebackType]] = []
        self._link = 0
        self._evaluating = 0
        control.where = self.where
        signal.signal(INTERRUPT, self._interrupted)
        os.register_at_fork(after_in_child=self._leave)

    # Nobody reads pdb's own prompts or that of `commands`.
    prompt = property(lambda self: "", lambda self, value: None)

    def _leave(self) -> None:
        """Stop debugging in a child that the program forked."""
        self.stop_tracing()
        setattr(self, "trace_dispatch", lambda *_: None)  # noqa: B010
        signal.signal(INTERRUPT, signal.SIG_DFL)
        self._control.abandon()

    # ---- where to stop

    def stop_here(self, frame: types.FrameType) -> bool:
        """Step through the workspace's code only, in one thread; a breakpoint elsewhere still stops."""
        if not self._turns.is_mine or (frame is not self.stopframe and not self.is_own(frame)):
            return False
        return bool(super().stop_here(frame))

    def break_here(self, frame: types.FrameType) -> bool:
        """Let breakpoints stop any thread, one at a time; a step of another thread is finished first."""
        if self.canonic(frame.f_code.co_filename) not in self.breaks:
            return False
        self._turns.wait(lambda: self.stoplineno != -1)
        with self._turns.lock:
            return bool(super().break_here(frame))

    # ---- reports

    def where(self) -> Dict[str, Any]:
        """Return where the program stands, for a report."""
        state: Dict[str, Any] = {"breakpoints": self.breakpoint_table(), "defining": bool(self.commands_defining)}
        if not self._started or not getattr(self, "stack", None):
            state["event"] = "start"
            return state
        frame, line = self.stack[self.curindex]
        line = line or 0  # some instructions have no line
        name = self.canonic(frame.f_code.co_filename)
        state.update(
            stops=self._stops,
            event=self._event,
            file=self.shorten(name),
            line=line,
            function=qualified_name(frame.f_code),
            depth=sum(1 for frame, _ in self.stack[: self.curindex + 1] if self.is_own(frame)),
            stack=call_stack(self.stack, self.curindex, lambda name: self.shorten(self.canonic(name))),
            exception=self._exception or None,
            thread=None,
            # Not f_locals: before Python 3.13, reading it undoes what `!name = value` did.
            locals=safe_locals(self.curframe_locals),
            source=self._excerpt(name, line, frame),
        )
        if self._turns.thread is not threading.main_thread():
            state["thread"] = str(self._turns.thread.name)
        return state

    def _excerpt(self, name: str, line: int, frame: types.FrameType, around: int = 4) -> List[str]:
        marks = self.get_file_breaks(name)
        lines = linecache.getlines(name, frame.f_globals)
        excerpt = []
        for number in range(max(line - around, 1), min(line + around, len(lines)) + 1):
            arrow = "->" if number == line else "B " if number in marks else "  "
            excerpt.append(("%4d %s %s" % (number, arrow, lines[number - 1].rstrip()[:300])).rstrip())
        return excerpt

    # ---- commands

    def onecmd(self, line: str) -> Any:
        """Run one command; an interrupt during its evaluation ends the command, not the session."""
        self._evaluating = threading.get_ident()
        try:
            return super().onecmd(line)
        except bdb.BdbQuit:
            raise
        except KeyboardInterrupt:
            self.error("KeyboardInterrupt")
            return False
        except BaseException:  # what a command calls of the program must not end the program
            self._say_error()
            return False
        finally:
            self._evaluating = 0

    def do_restart(self, arg: str) -> None:
        """End this program; the guest starts it again."""
        self._control.send({"restart": True, "breakpoints": self.breakpoint_table()})
        os._exit(0)

    do_run = do_restart

    def do_quit(self, arg: str) -> bool:
        """End the session."""
        self._control.send({"ended": "quit", "breakpoints": self.breakpoint_table()})
        os._exit(0)

    do_q = do_exit = do_quit

    def do_EOF(self, arg: str) -> bool:
        """End the session, as `quit` does."""
        return self.do_quit(arg)

    # ---- stops

    def wait_at_start(self) -> None:
        """Take commands before the program runs, until one that needs it to run."""
        self.reset()
        self.setup(sys._getframe(), None)
        while True:
            line = self._control.readline()
            name = line.split(None, 1)[0] if line.strip() else ""
            if name == "end" and not self.commands_defining:
                continue
            if name in _BEFORE_START or self.commands_defining:
                self.onecmd(line.rstrip("\n"))
                continue
            if name in ("q", "quit", "exit"):
                self.do_quit("")
            self.say_ignored(line)
            self._pause_at_test = name not in _RUN
            if self._pause_at_test and name not in _FIRST_STOP and name:
                self.cmdqueue = [line.rstrip("\n")]
            break
        self._started = True
        self.forget()

    def begin(self, pause: bool) -> None:
        """Start tracing: stop at the first line of own code, or at breakpoints only."""
        self.stand_in()
        self.reset()
        self.botframe = sys._getframe()
        self._first = pause
        self._stop_at(None if pause else self.botframe, 0 if pause else -1)
        if pause or self.breaks:
            self._trace(True)

    def _stop_at(self, frame: Optional[types.FrameType], line: int) -> None:
        getattr(self, "_set_stopinfo")(frame, None, line)  # noqa: B009  typeshed does not know it

    @property
    def pauses_first(self) -> bool:
        """Whether the first command asked for a stop at the first line."""
        return self._pause_at_test

    def pause(self) -> None:
        """Stop at the next line of own code, once, if that was asked for."""
        if self._pause_at_test:
            self._pause_at_test = False
            self._first = True
            self._stop_at(None, 0)
            self._trace(True)

    @contextlib.contextmanager
    def _stopped(self, event: str, exception: str = "", frame: Optional[types.FrameType] = None) -> Iterator[None]:
        """Let one thread at a time talk to the agent; stepping follows that thread from then on."""
        with self._turns.taken():
            self._event, self._exception = event, exception
            self._stops += 1
            # Trace the callers too, or a step out of `frame` would not stop in them (bdb before 3.12).
            outer = frame.f_back if frame is not None else None
            while outer is not None and outer is not self.botframe:
                if self.is_own(outer):
                    outer.f_trace = self.trace_dispatch
                outer = outer.f_back
            yield

    def user_line(self, frame: types.FrameType) -> None:
        """Stop at a line."""
        self._first = False
        with self._stopped("line", "", frame):
            super().user_line(frame)

    def user_call(self, frame: types.FrameType, argument_list: Any) -> None:
        """Stop at a call."""
        # The first stop is at a line; and bdb also calls this for files that merely have a breakpoint.
        if self.stop_here(frame) and not self._first:
            with self._stopped("call"):
                super().user_call(frame, argument_list)

    def user_return(self, frame: types.FrameType, return_value: Any) -> None:
        """Stop at a return."""
        with self._stopped("return", "", frame):
            super().user_return(frame, return_value)

    def user_exception(self, frame: types.FrameType, exc_info: Any) -> None:
        """Stop at an exception that passes through."""
        with self._stopped("exception", describe(exc_info[1])):
            super().user_exception(frame, exc_info)

    def set_continue(self) -> None:
        """As in bdb; breakpoints also hold for threads that start from now on."""
        super().set_continue()
        threading.settrace(self.trace_dispatch if self.breaks else None)

    def get_stack(self, frame: Any, tb: Any) -> Tuple[Any, int]:
        """Omit the frames of pytest and of this module below the program; a post-mortem begins in own code."""
        stack, index = super().get_stack(frame, tb)
        below = next((position for position, (frame, _) in enumerate(stack) if self.is_own(frame)), 0)
        stack, index = stack[below:], max(index - below, 0)
        if tb is not None:
            own_positions = [position for position, (frame, _) in enumerate(stack) if self.is_own(frame)]
            index = own_positions[-1] if own_positions else index
        return stack, index

    def post_mortem(self, error: BaseException) -> bool:
        """Stop where an exception was raised, or what caused it. False when none of their frames is own code."""
        self._chain, self._link = [], 0
        for link in chain_of(error):
            tb = link.__traceback__
            while tb is not None and not self.is_own(tb.tb_frame):
                tb = tb.tb_next
            if tb is not None:
                self._chain.append((link, tb))
        if not self._chain:
            return False
        self._set_trace_function(None)
        with self._stopped("post_mortem", describe(self._chain[0][0])):
            self._control.write("%s\n" % describe(error))
            if len(self._chain) > 1:
                self._control.write("Exceptions (`exceptions N` goes to one):\n")
                self.do_exceptions("")
            self.reset()
            self.interaction(None, self._chain[0][1])
            self._chain = []
            self.reset()
            # What comes after (the next test) runs on, with the existing breakpoints.
            self.botframe = sys._getframe()
            self._stop_at(self.botframe, -1)
        self._trace(bool(self.breaks))
        return True

    def do_exceptions(self, arg: str) -> None:
        """List the exception and what led to it, or go to the one with that number."""
        if not self._chain:
            self.error("there is no exception here")
        elif not arg:
            for number, (error, tb) in enumerate(self._chain):
                stack, index = self.get_stack(None, tb)
                frame, line = stack[index]
                place = "%s:%d in %s" % (
                    self.shorten(self.canonic(frame.f_code.co_filename)),
                    line,
                    frame.f_code.co_name,
                )
                self.message("%s %d %s" % (">" if number == self._link else " ", number, describe(error)))
                self.message("      at %s" % place)
        elif not (arg.isdecimal() and len(arg) < 9 and int(arg) < len(self._chain)):
            self.error("no exception %s: `exceptions` lists them" % arg)
        else:
            self._link = int(arg)
            error, tb = self._chain[self._link]
            self._exception = describe(error)
            self.setup(None, tb)
            self.print_stack_entry(self.stack[self.curindex])

    def breakpoint_hook(self, *args: Any, **options: Any) -> None:
        """Stop after a `breakpoint()` or `pdb.set_trace()` of the program's own."""
        self._turns.take()
        frame = sys._getframe(1)
        self.set_trace(frame)
        self.botframe = self._bottom(frame)

    def _bottom(self, frame: types.FrameType) -> types.FrameType:
        """Return the outermost frame of own code, above which nothing is stepped through."""
        outermost, outer = frame, frame.f_back
        while outer is not None:
            outermost = outer if self.is_own(outer) else outermost
            outer = outer.f_back
        return outermost

    def failed(self, name: str, error: BaseException) -> None:
        """Stop where a test, or the import of a test file, failed, if the workspace's code is involved."""
        self._control.write("%s failed\n" % name)
        if not self.post_mortem(error):
            self._control.write("".join(traceback.format_exception_only(type(error), error)))

    def outcome(self, name: str, outcome: str) -> None:
        """Remember how a test ended: its worst outcome, because its teardown and its subtests are reported too."""
        if self._outcomes.get(name) != "failed":
            self._outcomes[name] = outcome

    def outcomes(self) -> Dict[str, str]:
        """Return how each test ended so far."""
        return self._outcomes

    def _interrupted(self, signum: int, frame: Optional[types.FrameType]) -> None:
        """Stop when the time is up: at the line that hangs, even inside a call that never returns."""
        if self._control.waiting:
            return
        if self._evaluating:
            self._control.note(
                "the expression reached the time limit of %s and was interrupted" % self._control.time_limit
            )
            if self._evaluating == threading.get_ident():
                raise KeyboardInterrupt
            number, exception = ctypes.c_ulong(self._evaluating), ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(number, exception)
            return
        own_frame = frame
        while own_frame is not None and not self.is_own(own_frame):
            own_frame = own_frame.f_back
        place = own_frame or frame
        if place is None:
            return
        self._set_trace_function(None)
        self.reset()
        outer: Optional[types.FrameType] = place
        while outer is not None:
            if self.is_own(outer):
                outer.f_trace = self.trace_dispatch
            self.botframe = outer
            outer = outer.f_back
        self._control.note(
            "the program was still running at the time limit of %s; it is paused where it was"
            % self._control.time_limit
        )
        with self._stopped("interrupted"):
            self.set_step()
            self._set_trace_function(None)
            self.interaction(place, None)
        if self._needed:
            self._trace(True)


def describe(error: Any) -> str:
    """Return an exception as `Type: message`, whatever its __str__ does."""
    try:
        text = str(error)
    except Exception:
        text = "<its message cannot be shown>"
    return ("%s: %s" % (type(error).__name__, text) if text else type(error).__name__)[:2000]
