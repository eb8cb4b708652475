"""pdb's commands for a user who only exchanges texts with it and is asked nothing."""

from __future__ import annotations

import bdb
import inspect
import pdb
import sys
import traceback
from typing import Any, Dict, List, Tuple

from ..evaluation import run
from ..shortening import shortened
from ..values import folded
from .batch import WITHOUT_ARGUMENT, compiles
from .breakpoints import Breakpoints

_MOST_FRAMES = 40
_REFUSED = ("debug", "interact")


class Shell(Breakpoints):
    """pdb that asks no questions, caps what it shows, and evaluates code as Python does."""

    # ---- what is shown

    def message(self, msg: Any, *texts: Any, **options: Any) -> None:
        """Show a text, shortened so that one value does not drown the others."""
        value_limit = self.stdout.value_limit  # type: ignore[attr-defined]
        super().message(shortened(str(msg), value_limit, "show a part of it, or raise the limit"), *texts, **options)

    def print_stack_trace(self, count: Any = None, *_: Any) -> None:
        """Show the calls that led here; the repeated calls of a recursion are counted.

        `count`: only so many of the innermost calls; if negative, of the outermost; 0: only the current one.
        """
        stack = self.stack
        if count is not None:
            stack = stack[-count:] if count > 0 else stack[:-count] if count < 0 else [stack[self.curindex]]
        current = self.stack[self.curindex][0]
        keys = [object() if frame is current else (frame.f_code, line) for frame, line in stack]
        parts = folded(keys)
        hidden = range(_MOST_FRAMES // 2, len(parts) - _MOST_FRAMES // 2)
        for number, (first, period, times) in enumerate(parts):
            if number in hidden:
                if number == hidden[0]:
                    self.message("  [... %d other places ...]" % len(hidden))
                continue
            for entry in stack[first : first + period]:
                self.print_stack_entry(entry)
            if times > 1:
                repeated = "call above" if period == 1 else "%d calls above" % period
                self.message("  [the %s %d more times]" % (repeated, times - 1))

    # ---- code

    def precmd(self, line: str) -> Any:
        """As in pdb, except that `;;` inside code ends no command."""
        if "\n" in line or (";;" in line and compiles(line.lstrip("!"))):
            return line
        return super().precmd(line)

    def default(self, line: str) -> None:
        """Carry out a statement, or show the value of an expression."""
        source = line[1:].strip() if line[:1] == "!" else line
        saved = sys.stdout, sys.displayhook
        try:
            sys.stdout, sys.displayhook = self.stdout, self.displayhook
            run(source + "\n", "single", *self._names())
        except BaseException:
            self._say_error()
        finally:
            sys.stdout, sys.displayhook = saved

    def _names(self) -> Tuple[Dict[str, Any], Any]:
        """Return the globals and the locals where the program stands."""
        frame: Any = self.curframe
        return frame.f_globals, self.curframe_locals

    def _say_error(self) -> None:
        self.error(self._told_error())

    def _told_error(self) -> str:
        """Return the exception being handled, with its place if the program raised it and not the typed code."""
        kind, error, tb = sys.exc_info()
        text = traceback.format_exception_only(kind, error)[-1].strip()
        at = ""
        if isinstance(error, SyntaxError) and error.filename and self._is_inside(error.filename):
            at = "%s:%s" % (self.shorten(self.canonic(error.filename)), error.lineno)
        while tb is not None and not isinstance(error, SyntaxError):
            code = tb.tb_frame.f_code
            if self._is_inside(code.co_filename):
                at = "%s:%d in %s" % (self.shorten(self.canonic(code.co_filename)), tb.tb_lineno, code.co_name)
            tb = tb.tb_next
        return "%s [at %s]" % (text, at) if at else text

    def _is_inside(self, name: str) -> bool:
        return name[:1] != "<" and self.canonic(name).startswith(self._root)

    def _getval(self, arg: str) -> Any:
        try:
            return run(arg, "eval", *self._names())
        except BaseException:
            self._say_error()
            raise

    def _getval_except(self, arg: str, frame: Any = None) -> Any:
        try:
            return run(arg, "eval", *(self._names() if frame is None else (frame.f_globals, frame.f_locals)))
        except BaseException:
            return _Raised(self._told_error())

    # ---- commands

    def onecmd(self, line: str) -> Any:
        """Carry out one command. Says what of it is ignored."""
        if not self.commands_defining:
            self.say_ignored(line)
        return super().onecmd(line)

    def say_ignored(self, line: str) -> None:
        """Say that a command takes no argument, if it was given one. A comment is none."""
        command, argument, _ = self.parseline(line)
        if command in WITHOUT_ARGUMENT and argument and argument[0] != "#" and argument != "()":
            hint = ""
            if command in ("c", "cont", "continue") and argument.isdigit():
                hint = "; `ignore N %s` passes breakpoint N that often" % argument
            self.message("[%s takes no argument: %s was ignored%s]" % (command, argument, hint))

    def do_help(self, arg: str) -> Any:
        """Show pdb's own help, as this shell takes what pdb does; of a command that it refuses, why."""
        original = getattr(pdb.Pdb, "do_" + arg, None) if arg else None
        if arg in _REFUSED:
            return self.onecmd(arg)
        if original is None or not original.__doc__:
            return super().do_help(arg)
        return self.message(inspect.getdoc(original))

    do_h = do_help

    def get_names(self) -> List[str]:
        """Leave out of `help` what this shell refuses, or does not need."""
        return [name for name in super().get_names() if name[3:] not in (*_REFUSED, "EOF", "end")]

    def do_where(self, arg: str) -> None:
        """Show the calls that led here; with a number, as from Python 3.14 on, so many of the innermost."""
        try:
            count = int(arg) if arg else None
        except ValueError:
            self.error("the number of calls to show is an integer, not %s" % arg)
            return
        self.print_stack_trace(count)

    do_w = do_bt = do_where

    def do_enable(self, arg: str) -> Any:
        """As in pdb; without numbers, say that they are missing."""
        return super().do_enable(arg) if arg else self.error("enable needs numbers of breakpoints: enable 1 2")

    def do_disable(self, arg: str) -> Any:
        """As in pdb; without numbers, say that they are missing."""
        return super().do_disable(arg) if arg else self.error("disable needs numbers of breakpoints: disable 1 2")

    def do_unalias(self, arg: str) -> Any:
        """As in pdb; an alias that does not exist is an error."""
        return super().do_unalias(arg) if arg in self.aliases else self.error("there is no alias %s" % (arg or "''"))

    def do_clear(self, arg: str) -> None:
        """As in pdb; without an argument, delete every breakpoint without asking."""
        if arg:
            super().do_clear(arg)
            return
        every = [point for point in bdb.Breakpoint.bpbynumber if point is not None]
        self.clear_all_breaks()
        for point in every:
            self.message("Deleted %s" % point)

    do_cl = do_clear

    def do_end(self, arg: str) -> None:
        """Do nothing: commands that end in `c` are complete before their `end`. Show the program's `end`, if any."""
        if any("end" in names for names in self._names()):
            self.default("end %s" % arg)

    def do_interact(self, arg: str) -> None:
        """Refuse `interact`: nobody is there to type."""
        self.error("interact is not needed: Python code is a command here, and runs in the paused frame")

    def do_debug(self, arg: str) -> None:
        """Refuse `debug`: it would start a debugger inside the debugger."""
        self.error("debug is not available here: use s to step into a call")


class _Raised(str):
    """The text that is shown in place of a value."""

    def __repr__(self) -> str:
        return "** raised %s **" % self
