"""Real pdb, driven over a private socket, in the process that it debugs.

pdb asks for its next command by reading a line; at that moment, and only then, this module reports what pdb printed
and where the program stands. So a program that prints `(Pdb) ` cannot confuse anyone: there is no prompt to parse.
"""

from __future__ import annotations

import bdb
import io
import json
import linecache
import os
import pdb
import signal
import socket
import sys
import threading
import traceback
import types
from typing import Any, Dict, List, Optional, Tuple

from .output import HeadTail
from .source import find_function
from .values import safe_locals

INTERRUPT = signal.SIGRTMIN + 7
"""Sent by the guest when a command has used up its time. A signal that programs do not use themselves."""

OUTPUT_CAP = 64 << 10

# What can be asked before the program runs.
_BEFORE_START = {
    "b", "break", "tbreak", "cl", "clear", "condition", "ignore", "enable", "disable", "commands", "h", "help", "?",
}  # fmt: skip
_RUN = {"c", "cont", "continue"}
_FIRST_STOP = {"n", "next", "s", "step", "run", "restart", "w", "where", "bt"}


class Control(io.TextIOBase):
    """pdb's standard input and output: reading a line is what makes a report."""

    def __init__(self, sock: socket.socket) -> None:
        self._lines = sock.makefile("rb")
        self._sock = sock
        self._printed = HeadTail(OUTPUT_CAP)
        self.debugger: Optional[Debugger] = None
        self.notes: List[str] = []
        self.waiting = False

    def write(self, text: str) -> int:
        """Collect what pdb prints."""
        self._printed.write(text.encode("utf-8", "replace"))
        return len(text)

    def flush(self) -> None:
        """Nothing is buffered beyond the report."""

    def send(self, record: Dict[str, Any]) -> None:
        """Report what was printed and the record to the guest."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        text, _ = self._printed.take()
        record["text"] = text.decode("utf-8", "replace")
        record["notes"], self.notes = self.notes, []
        self._sock.sendall(json.dumps(record).encode("utf-8", "replace") + b"\n")

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        """Report, then wait for the guest's next command."""
        where = self.debugger.where() if self.debugger else {}
        # An interrupt that comes from here on was meant for what is over already.
        self.waiting = True
        self.send({"stop": where})
        line = self._lines.readline()
        if not line:
            os._exit(0)
        self.waiting = False
        command: str = json.loads(line)["command"]
        return command + "\n"


class EmptyInput(io.TextIOBase):
    """The program's standard input: at its end from the start, which is said once."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._said = False

    def readable(self) -> bool:
        """It can be read, it only has nothing to say."""
        return True

    def fileno(self) -> int:
        """The descriptor of the null device."""
        return 0

    def _end(self) -> str:
        if not self._said:
            self._said = True
            self._control.notes.append("the program read from standard input, which is empty (EOF)")
        return ""

    def read(self, size: Optional[int] = -1) -> str:
        """End of file."""
        return self._end()

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        """End of file."""
        return self._end()


class Debugger(pdb.Pdb):
    """pdb with a program to debug, breakpoints that can be taken over, and an interrupt that stops where it hangs."""

    def __init__(self, control: Control, root: str) -> None:
        super().__init__(stdin=control, stdout=control, nosigint=True, readrc=False)
        self.use_rawinput = False
        self.prompt = ""
        self._control = control
        self._root = root + os.sep
        self._own: Dict[str, bool] = {}
        self._event = ""
        self._exception = ""
        self._interacting = 0
        self._started = False
        self._pause_at_test = False
        self._ignore: Dict[int, int] = {}
        self._outcomes: Dict[str, str] = {}
        control.debugger = self
        signal.signal(INTERRUPT, self._interrupted)

    # ---- what is the agent's own code

    def is_own(self, frame: types.FrameType) -> bool:
        """Whether a frame runs code of the workspace: stepping and the depth count these only."""
        name = frame.f_code.co_filename
        own = self._own.get(name)
        if own is None:
            own = self._own[name] = name[:1] != "<" and os.path.abspath(name).startswith(self._root)
        return own

    def stop_here(self, frame: types.FrameType) -> bool:
        """Step through the workspace's code only; a breakpoint elsewhere still stops."""
        if frame is not self.stopframe and not self.is_own(frame):
            return False
        return bool(super().stop_here(frame))

    # ---- reports

    def where(self) -> Dict[str, Any]:
        """Where the program stands: what a report says."""
        state: Dict[str, Any] = {"breakpoints": self.breakpoint_table(), "defining": bool(self.commands_defining)}
        if not self._started or not getattr(self, "stack", None):
            state["event"] = "start"
            return state
        frame, line = self.stack[self.curindex]
        name = self.canonic(frame.f_code.co_filename)
        state.update(
            event=self._event,
            file=name[len(self._root) :] if name.startswith(self._root) else name,
            line=line,
            function=getattr(frame.f_code, "co_qualname", frame.f_code.co_name),
            depth=sum(1 for each, _ in self.stack[: self.curindex + 1] if self.is_own(each)),
            exception=self._exception or None,
            locals=safe_locals(frame),
            source=self._excerpt(name, line, frame),
        )
        return state

    def _excerpt(self, name: str, line: int, frame: types.FrameType, around: int = 4) -> List[str]:
        marks = self.get_file_breaks(name)
        lines = linecache.getlines(name, frame.f_globals)
        shown = []
        for number in range(max(line - around, 1), min(line + around, len(lines)) + 1):
            arrow = "->" if number == line else "B " if number in marks else "  "
            shown.append("%5d %s %s" % (number, arrow, lines[number - 1].rstrip("\n")[:300]))
        return shown

    # ---- breakpoints

    def breakpoint_table(self) -> List[Dict[str, Any]]:
        """Every breakpoint with all that is needed to set it again."""
        table = []
        for point in bdb.Breakpoint.bpbynumber:
            if point is None:
                continue
            name = point.file[len(self._root) :] if point.file.startswith(self._root) else point.file
            table.append(
                {
                    "number": point.number,
                    "file": name,
                    "line": point.line,
                    "temporary": bool(point.temporary),
                    "enabled": bool(point.enabled),
                    # What was asked for, not what is left of it: a restart counts anew.
                    "ignore": self._ignore.get(point.number, 0),
                    "condition": point.cond,
                    "hits": point.hits,
                    "commands": self.commands.get(point.number, []),
                    "silent": bool(self.commands_silent.get(point.number)),
                }
            )
        return table

    def restore(self, table: List[Dict[str, Any]]) -> None:
        """Set the breakpoints of an earlier session again, under their old numbers."""
        for row in table:
            number = row["number"]
            while bdb.Breakpoint.next < number:
                bdb.Breakpoint.bpbynumber.append(None)
                bdb.Breakpoint.next += 1
            name = self.canonic(os.path.join(self._root, row["file"]))
            problem = self.set_break(name, row["line"], row["temporary"], row["condition"])
            if problem:
                self._control.notes.append("breakpoint %d could not be set again: %s" % (number, problem))
                continue
            point = bdb.Breakpoint.bpbynumber[-1]
            point.ignore = self._ignore[point.number] = row["ignore"]
            if not row["enabled"]:
                point.disable()
            if row["commands"]:
                self.commands[point.number] = row["commands"]
                self.commands_doprompt[point.number] = True
                self.commands_silent[point.number] = row["silent"]

    def set_break(self, filename: str, lineno: int, *args: Any, **options: Any) -> Any:
        """Also for frames that already run: bdb before 3.12 does not look at them again."""
        problem = super().set_break(filename, lineno, *args, **options)
        frame: Optional[types.FrameType] = getattr(self, "curframe", None) if self._started else None
        while frame is not None:
            if self.canonic(frame.f_code.co_filename) == self.canonic(filename):
                frame.f_trace = self.trace_dispatch
            frame = frame.f_back
        return problem

    def lookupmodule(self, filename: str) -> Optional[str]:
        """A file as the agent names it: relative to the workspace first, then as pdb looks."""
        inside = os.path.join(self._root, filename)
        if os.path.isfile(inside):
            return self.canonic(inside)
        return super().lookupmodule(filename)

    def do_break(self, arg: str, temporary: bool = False) -> Any:
        """`b function` and `b file:function` also for code that is not imported yet."""
        where, comma, condition = arg.partition(",")
        located = self._locate(where.strip())
        if located:
            arg = located + comma + condition
        return super().do_break(arg, temporary)

    do_b = do_break

    def _locate(self, where: str) -> str:
        file, colon, name = where.rpartition(":")
        if not name or name.isdigit() or not name.replace(".", "").replace("_", "").isalnum():
            return ""
        found = find_function(self._root, name, file if colon else "")
        if len(found) == 1:
            return "%s:%d" % found[0]
        if len(found) > 1:
            places = ", ".join("%s:%d" % place for place in found[:8])
            self._control.notes.append("%s is defined in several places: %s" % (name, places))
        return ""

    # ---- commands

    def onecmd(self, line: str) -> Any:
        """Run one command; an interrupt while it is evaluated ends the command, not the session."""
        try:
            return super().onecmd(line)
        except KeyboardInterrupt:
            self.error("interrupted: the expression used up its time")
            return False

    def do_ignore(self, arg: str) -> Any:
        """As in pdb; the count is remembered for restarts."""
        super().do_ignore(arg)
        for point in bdb.Breakpoint.bpbynumber:
            if point is not None and arg.split()[:1] == [str(point.number)]:
                self._ignore[point.number] = point.ignore

    def do_interact(self, arg: str) -> None:
        """Refused: there is no one at the other end to talk to it."""
        self.error("interact is not available here: use p, pp or !statement, one action at a time")

    def do_restart(self, arg: str) -> None:
        """End this program; the guest starts it afresh."""
        self._control.send({"restart": True})
        os._exit(0)

    do_run = do_restart

    def do_quit(self, arg: str) -> bool:
        """End the session."""
        self._control.send({"ended": "quit", "breakpoints": self.breakpoint_table()})
        os._exit(0)

    do_q = do_exit = do_quit

    def do_EOF(self, arg: str) -> bool:
        """As quit."""
        return self.do_quit(arg)

    # ---- stops

    def wait_at_start(self) -> None:
        """Take commands before the program runs, until one that needs it to run."""
        self.reset()
        frame = sys._getframe()
        self.setup(frame, None)
        while True:
            line = self._control.readline()
            name = line.split(None, 1)[0].rstrip() if line.strip() else ""
            if name in _BEFORE_START:
                self.cmdqueue = []
                self.onecmd(line.rstrip("\n"))
                continue
            if name in ("q", "quit", "exit"):
                self.do_quit("")
            self._pause_at_test = name not in _RUN
            if self._pause_at_test and name not in _FIRST_STOP and name:
                self.cmdqueue = [line.rstrip("\n")]
            break
        self._started = True
        self.forget()

    def begin(self, pause: bool) -> None:
        """Start tracing: stop at the first line of own code, or at breakpoints only."""
        self.reset()
        self.botframe = sys._getframe()
        self._set_stopinfo(None if pause else self.botframe, None, 0 if pause else -1)
        if pause or self.breaks:
            sys.settrace(self.trace_dispatch)

    @property
    def pauses_first(self) -> bool:
        """Whether the first command asked for a stop at the first line."""
        return self._pause_at_test

    def pause(self) -> None:
        """Stop at the next line of own code, once, if that was asked for."""
        if self._pause_at_test:
            self._pause_at_test = False
            self._set_stopinfo(None, None)
            sys.settrace(self.trace_dispatch)

    def user_line(self, frame: types.FrameType) -> None:
        """A stop at a line."""
        self._event, self._exception = "line", ""
        super().user_line(frame)

    def user_call(self, frame: types.FrameType, argument_list: Any) -> None:
        """A stop at a call."""
        self._event, self._exception = "call", ""
        super().user_call(frame, argument_list)

    def user_return(self, frame: types.FrameType, return_value: Any) -> None:
        """A stop at a return."""
        self._event, self._exception = "return", ""
        super().user_return(frame, return_value)

    def user_exception(self, frame: types.FrameType, exc_info: Any) -> None:
        """A stop at an exception that passes through."""
        self._event, self._exception = "exception", describe(exc_info[1])
        super().user_exception(frame, exc_info)

    def interaction(self, frame: Any, tb_or_exc: Any) -> None:
        """As in pdb; counted, so that an interrupt knows whether it hits the program or a command."""
        self._interacting += 1
        try:
            super().interaction(frame, tb_or_exc)
        finally:
            self._interacting -= 1

    def get_stack(self, frame: Any, tb: Any) -> Tuple[Any, int]:
        """Without the frames of pytest and of this module below the program; a post-mortem begins in own code."""
        stack, index = super().get_stack(frame, tb)
        below = next((position for position, (each, _) in enumerate(stack) if self.is_own(each)), 0)
        stack, index = stack[below:], max(index - below, 0)
        if tb is not None:
            own = [position for position, (each, _) in enumerate(stack) if self.is_own(each)]
            index = own[-1] if own else index
        return stack, index

    def post_mortem(self, error: BaseException) -> bool:
        """Stop where an exception was raised. False when none of its frames is own code."""
        tb = error.__traceback__
        while tb is not None and not self.is_own(tb.tb_frame):
            tb = tb.tb_next
        if tb is None:
            return False
        tracing = sys.gettrace()
        sys.settrace(None)
        self._event, self._exception = "post_mortem", describe(error)
        self._control.write("%s\n" % self._exception)
        self.reset()
        self.interaction(None, tb)
        self.reset()
        # What comes after (the next test) runs on, with the breakpoints there are.
        self.botframe = sys._getframe()
        self._set_stopinfo(self.botframe, None, -1)
        sys.settrace(self.trace_dispatch if self.breaks else tracing and None)
        return True

    def failed(self, name: str, error: BaseException) -> None:
        """A test, or the import of a test file, failed: stop there if the workspace's code is involved."""
        self._control.write("%s failed\n" % name)
        if not self.post_mortem(error):
            self._control.write("".join(traceback.format_exception_only(type(error), error)))

    def outcome(self, name: str, outcome: str) -> None:
        """Remember how a test ended."""
        self._outcomes[name] = outcome

    def outcomes(self) -> Dict[str, str]:
        """How each test ended so far."""
        return self._outcomes

    def _interrupted(self, signum: int, frame: Optional[types.FrameType]) -> None:
        """The time is up: stop right here, at the line that hangs, even inside a call that never returns."""
        if self._control.waiting:
            return
        if self._interacting:
            raise KeyboardInterrupt
        own = frame
        while own is not None and not self.is_own(own):
            own = own.f_back
        place = own or frame
        if place is None:
            return
        sys.settrace(None)
        self.reset()
        outer: Optional[types.FrameType] = place
        while outer is not None:
            if self.is_own(outer):
                outer.f_trace = self.trace_dispatch
            self.botframe = outer
            outer = outer.f_back
        self._event, self._exception = "interrupted", ""
        self._control.notes.append("the program was still running when the time was up; it is paused where it was")
        self.set_step()
        sys.settrace(None)
        self.interaction(place, None)
        if self.breaks or not (self.stopframe is self.botframe and self.stoplineno == -1):
            sys.settrace(self.trace_dispatch)


def describe(error: Any) -> str:
    """An exception as `Type: message`, whatever its __str__ does."""
    try:
        text = str(error)
    except Exception:
        text = "<its message cannot be shown>"
    return ("%s: %s" % (type(error).__name__, text) if text else type(error).__name__)[:2000]


def main(argv: List[str]) -> int:
    """Debug a program: `argv` is [socket descriptor, root]; the rest comes as the first line over the socket."""
    sock = socket.socket(fileno=int(argv[0]))
    sock.set_inheritable(False)
    control = Control(sock)
    setup: Dict[str, Any] = json.loads(control._lines.readline())
    sys.stdin = EmptyInput(control)
    debugger = Debugger(control, argv[1])
    debugger.restore(setup["breakpoints"])
    entry: List[str] = setup["entry"]
    from . import programs  # here, because it imports this module's class for its types

    try:
        code = programs.run(debugger, entry)
    except bdb.BdbQuit:
        code = 0
    except BaseException as error:
        code = 1
        control.write("".join(traceback.format_exception_only(type(error), error)))
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]
    control.send({"ended": "finished", "exit": code, "breakpoints": debugger.breakpoint_table(), "tests": debugger.outcomes()})
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    os._exit(0)
