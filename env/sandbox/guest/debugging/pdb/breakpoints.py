"""pdb's breakpoints, with what a restarted session needs to take them over."""

from __future__ import annotations

import bdb
import contextlib
import linecache
import os
import pdb
import re
import types
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from ...core.disk import real_file
from ...core.files import Refused
from ..evaluation import run
from ..places import Place, defined_at, find_file, find_place, split_condition

_MOST = 1000
_DEFINITION = r"\s*(async\s+)?def\s+%s\b"
_ROW = re.compile(r"^(?:Breakpoint )?\d+(?: \([^)]*\))?(?::| at)\s+")
"""What stands before the place when breakpoints are shown."""


class Breakpoints(pdb.Pdb):
    """pdb with breakpoints that can be read out, set again, and named before their file is imported."""

    def __init__(self, root: str, note: Callable[[str], None], **options: Any) -> None:
        super().__init__(**options)
        self._root = root + os.sep
        self._note = note
        # The ignore count that was asked for, not what is left of it: a restart counts from the beginning.
        self._ignore: Dict[int, int] = {}
        self._restored: Set[int] = set()
        self._entered: Dict[int, str] = {}
        """Number -> function, for breakpoints that stop in its calls and not where it is defined on the same line."""
        self._started = False
        # bdb stops silently if a condition raises an error. It evaluates conditions only through this name.
        setattr(bdb, "eval", self._condition)  # noqa: B010  typeshed does not know it
        self.entry_file = ""
        """The script that is debugged; empty for pytest and modules."""

    def canonic(self, filename: str) -> str:
        """Return a file's path without links: that is how breakpoints and reports name it."""
        return real_file(filename)

    def _condition(self, source: str, outer: Dict[str, Any], names: Dict[str, Any]) -> Any:
        try:
            return run(source, "eval", outer, names)
        except Exception as error:
            problem = "%s: %s" % (type(error).__name__, error)
            self._note("the condition %s of a breakpoint raised %s, so the program stopped there" % (source, problem))
            raise

    def shorten(self, name: str) -> str:
        """Return a path as the agent names it."""
        return name[len(self._root) :] if name.startswith(self._root) else name

    def breakpoint_table(self) -> List[Dict[str, Any]]:
        """Return every breakpoint with all that is needed to set it again."""
        silent = getattr(self, "commands_silent", {})
        return [
            {
                "number": point.number,
                "file": self.shorten(point.file),
                "line": point.line,
                "temporary": bool(point.temporary),
                "enabled": bool(point.enabled),
                "ignore": self._ignore.get(point.number, 0),
                "condition": point.cond,
                "hits": point.hits,
                "commands": list(self.commands.get(point.number, [])),
                "silent": bool(silent.get(point.number)),
                "entered": self._entered.get(point.number, ""),
            }
            for point in bdb.Breakpoint.bpbynumber
            if point is not None
        ]

    def say(self, text: str) -> None:
        """Add a sentence of the debugger's own to the next report."""
        self._note(text)

    def say_unreached(self, table: List[Dict[str, Any]]) -> None:
        """Say which breakpoints the program did not reach in its whole run."""
        for row in table:
            if row["enabled"] and not row["hits"]:
                when = "in this run" if row["number"] in self._restored else "after it was set"
                place = "%d (%s:%d)" % (row["number"], row["file"], row["line"])
                self._note("breakpoint %s was not reached %s" % (place, when))

    def restore(self, table: List[Dict[str, Any]]) -> None:
        """Set the breakpoints of an earlier session again, under their old numbers."""
        numbers: List[Any] = bdb.Breakpoint.bpbynumber
        for row in table:
            number = row["number"]
            while bdb.Breakpoint.next < number:
                numbers.append(None)
                bdb.Breakpoint.next += 1
            name = self.canonic(os.path.join(self._root, row["file"]))
            problem = self.set_break(name, row["line"], row["temporary"], row["condition"])
            if problem:
                self._note("breakpoint %d could not be set again: %s" % (number, problem))
                continue
            self._restored.add(number)
            point = numbers[-1]
            if row["entered"]:
                self._stop_in_calls(point, row["entered"])
            point.ignore = self._ignore[number] = row["ignore"]
            if not row["enabled"]:
                point.disable()
            if row["commands"]:
                self.commands[number] = row["commands"]
                if hasattr(self, "commands_doprompt"):
                    self.commands_doprompt[number] = not self._resumes(row["commands"][-1])
                    self.commands_silent[number] = row["silent"]

    def _resumes(self, command: str) -> bool:
        """Whether a command resumes the program."""
        does = getattr(self, "do_" + command.split(None, 1)[0], None) if command.strip() else None
        return getattr(does, "__name__", "") in self.commands_resuming

    def set_break(self, filename: str, lineno: int, *args: Any, **options: Any) -> Any:
        """Set a breakpoint, also for frames that already run: bdb before 3.12 does not look at them again.

        Returns why it cannot be set; None if it is.
        """
        if sum(point is not None for point in bdb.Breakpoint.bpbynumber) >= _MOST:
            return "there are %d breakpoints, the most that there may be: `cl` deletes them" % _MOST
        problem = super().set_break(filename, lineno, *args, **options)
        frame: Optional[types.FrameType] = getattr(self, "curframe", None) if self._started else None
        while frame is not None:
            if self.canonic(frame.f_code.co_filename) == self.canonic(filename):
                frame.f_trace = self.trace_dispatch
            frame = frame.f_back
        return problem

    def lookupmodule(self, filename: str) -> Optional[str]:
        """Find a file that the agent named: relative to the workspace, else as the end of a single path there, else as
        pdb does."""
        path = os.path.join(self._root, filename)
        if os.path.isfile(path):
            return self.canonic(path)
        if filename.endswith(".py"):
            with contextlib.suppress(Refused):
                return self.canonic(find_file(self._root, filename))
        return super().lookupmodule(filename)

    def do_break(self, arg: str, temporary: Any = False) -> Any:
        """As in pdb, with the grammar of `places`: also `b PLACE if CONDITION`, and functions that are not imported."""
        text = _ROW.sub("", arg.strip())
        if not text:
            return super().do_break("", temporary)
        name, condition = split_condition(text)
        if condition and not self._sound(condition):
            return None
        try:
            location, function = self._locate(name)
        except Refused as error:
            return self.error(str(error))
        if not location:  # something that only pdb finds, in a library
            return super().do_break(text, temporary)
        file, _, line = location.rpartition(":")
        for point in bdb.Breakpoint.bplist.get((self.canonic(file), int(line)), ()):
            if (point.cond or "") == condition and self._entered.get(point.number, "") == function:
                return self.error("breakpoint %d is already at %s:%s" % (point.number, self.shorten(file), line))
        count = len(bdb.Breakpoint.bpbynumber)
        super().do_break(location + (", " + condition if condition else ""), temporary)
        if function and len(bdb.Breakpoint.bpbynumber) > count:
            self._stop_in_calls(bdb.Breakpoint.bpbynumber[-1], function)
        return None

    def handle_command_def(self, line: str) -> Any:
        """As in pdb, for so many commands of a breakpoint."""
        if len(self.commands.get(self.commands_bnum or 0, ())) >= _MOST and line.strip() != "end":
            return self.error("a breakpoint has at most %d commands" % _MOST)
        return super().handle_command_def(line)

    def _stop_in_calls(self, point: Any, function: str) -> None:
        self._entered[point.number] = function
        point.funcname = function.rpartition(".")[2]

    do_b = do_break

    def _locate(self, name: str) -> Tuple[str, str]:
        """Return a place of the workspace as `file:line`; empty if it may be one of a library. Raises Refused.

        Also returns the name of a function whose definition and body are on that one line, if it was asked for.
        """
        if name.isdecimal():
            frame: Optional[types.FrameType] = getattr(self, "curframe", None) if self._started else None
            file = self.canonic(frame.f_code.co_filename) if frame is not None else self.entry_file
            if not file:
                raise Refused("no program is running yet: name the file, as in b cart.py:%s" % name)
            name = "%s:%s" % (file, name)
        try:
            places = find_place(self._root, name)
        except Refused:
            if self._in_library(name):
                return "", ""
            raise
        if len(places) > 1 and not places[0].function:
            lines = ", ".join(str(place.line) for place in places[:8])
            raise Refused("%s names several lines: a breakpoint is set at one of them (%s)" % (name, lines))
        if len(places) > 1:
            listed = ", ".join("%s:%d" % (self.shorten(place.file), place.body) for place in places[:8])
            raise Refused("%s is defined in several places: %s" % (name, listed))
        place = places[0]
        if place.function:
            on_one_line = re.match(_DEFINITION % re.escape(place.function.rpartition(".")[2]), self._source(place))
            return "%s:%d" % (place.file, place.body), place.function if on_one_line else ""
        defined = defined_at(place.file, place.line)
        if defined:
            self._note(
                "line %d defines %s, so this breakpoint stops when the definition runs; `b %s` stops in each call"
                % (place.line, defined, defined)
            )
        return "%s:%d" % (place.file, place.line), ""

    @staticmethod
    def _source(place: Place) -> str:
        """Return the line to stop at."""
        return linecache.getline(place.file, place.body)

    def _in_library(self, name: str) -> bool:
        """Whether a name stands for a function that the program knows, or for a line outside the workspace."""
        file, colon, line = name.rpartition(":")
        if colon and line.isdecimal():
            path = super().lookupmodule(file)
            return path is not None and not self.canonic(path).startswith(self._root)
        code = None
        if self._started:
            with contextlib.suppress(Exception):
                frame: Any = self.curframe
                value = run(name, "eval", frame.f_globals, dict(self.curframe_locals))
                code = getattr(getattr(value, "__func__", value), "__code__", None)
        if code is not None and code.co_filename[:1] == "<" and code.co_filename not in linecache.cache:
            raise Refused("%s is defined in %s, which has no lines to stop at" % (name, code.co_filename))
        return code is not None

    def do_condition(self, arg: str) -> Any:
        """As in pdb; a condition that is no Python expression is refused."""
        _, _, condition = arg.strip().partition(" ")
        return super().do_condition(arg) if not condition or self._sound(condition) else None

    def _sound(self, condition: str) -> bool:
        try:
            compile(condition.strip(), "<condition>", "eval")
        except (SyntaxError, ValueError) as error:
            reason = getattr(error, "msg", error)
            self.error(
                "the condition %s is not a Python expression (%s), so no breakpoint was set"
                % (condition.strip(), reason)
            )
            return False
        return True

    def do_ignore(self, arg: str) -> Any:
        """As in pdb; the count is remembered for restarts, and has to be a number."""
        number, _, count = arg.strip().partition(" ")
        if count.strip() and not re.match(r"\d{1,9}$", count.strip(), re.ASCII):
            usage = "ignore takes a breakpoint and a number of hits (at most 999999999), as in ignore 1 3"
            return self.error("%s, not %s" % (usage, arg))
        problem = super().do_ignore(arg)
        for point in bdb.Breakpoint.bpbynumber:
            if point is not None and number == str(point.number):
                self._ignore[point.number] = point.ignore
        return problem
