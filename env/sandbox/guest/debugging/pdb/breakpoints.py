"""pdb's breakpoints, with what a restarted session needs to take them over."""

from __future__ import annotations

import bdb
import contextlib
import os
import pdb
import types
from typing import Any, Callable, Dict, List, Optional

from ..evaluation import run
from ..source import find_function


class Breakpoints(pdb.Pdb):
    """pdb with breakpoints that can be read out, set again, and named before their file is imported."""

    def __init__(self, root: str, note: Callable[[str], None], **options: Any) -> None:
        super().__init__(**options)
        self._root = root + os.sep
        self._note = note
        # The ignore count that was asked for, not what is left of it: a restart counts from the beginning.
        self._ignore: Dict[int, int] = {}
        self._started = False
        # bdb stops silently if a condition raises an error. It evaluates conditions only through this name.
        setattr(bdb, "eval", self._condition)  # noqa: B010  typeshed does not know it
        self.entry_file = ""
        """The script that is debugged; empty for pytest and modules."""

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
            }
            for point in bdb.Breakpoint.bpbynumber
            if point is not None
        ]

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
            point = numbers[-1]
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
        """Set a breakpoint, also for frames that already run: bdb before 3.12 does not look at them again."""
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
            # Few sessions need these.
            from ...core.files import Refused
            from ..places import find_file

            with contextlib.suppress(Refused):
                return self.canonic(find_file(self._root, filename))
        return super().lookupmodule(filename)

    def do_break(self, arg: str, temporary: Any = False) -> Any:
        """As in pdb; `b function` and `b file:function` also work for code that is not imported yet."""
        location, comma, condition = arg.partition(",")
        if comma and not self._sound(condition):
            return None
        if not self._started and location.strip().isdigit():
            if not self.entry_file:
                return self.error("no program is running yet: name the file, as in b cart.py:%s" % location.strip())
            arg = "%s:%s" % (self.entry_file, arg.strip())
        located = self._locate(location.strip())
        if located:
            arg = located + comma + condition
        old_count = len(bdb.Breakpoint.bpbynumber)
        result = super().do_break(arg, temporary)
        if location.strip() and len(bdb.Breakpoint.bpbynumber) == old_count:
            # Few sessions need these.
            from ...core.files import Refused
            from ..places import find_places

            try:
                find_places(self._root, location)
            except Refused as error:
                self._note(str(error))
        return result

    do_b = do_break

    def _locate(self, location: str) -> str:
        file, colon, name = location.rpartition(":")
        if not name or name.isdigit() or not name.replace(".", "").replace("_", "").isalnum():
            return ""
        matched = find_function(self._root, name, file if colon else "")
        if len(matched) == 1:
            return "%s:%d" % matched[0]
        if len(matched) > 1:
            places = ", ".join("%s:%d" % place for place in matched[:8])
            self._note("%s is defined in several places: %s" % (name, places))
        return ""

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
        """As in pdb; the count is remembered for restarts."""
        super().do_ignore(arg)
        for point in bdb.Breakpoint.bpbynumber:
            if point is not None and arg.split()[:1] == [str(point.number)]:
                self._ignore[point.number] = point.ignore
