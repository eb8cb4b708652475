"""The guest's side of one session of the debugger: its breakpoints, its restarts, its end."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import select
import shlex
import signal
import socket
import subprocess
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from ...core.allowance import Allowance
from ...core.files import Refused, Workspace
from ...core.output import HeadTail
from ...core.processes import KEPT, Child, descendants, kill_tree
from ..entry_point import Program
from ..shortening import shortened
from .batch import commands_of
from .control import INTERRUPT
from .reports import sound_report, standing_of

PROGRAM_CAP = 32 << 10
INTERRUPT_PATIENCE_S = 0.7
START_PATIENCE_S = 30.0
_REPORT_LIMIT = 8 << 20
_MOST_TEXT, _MOST_NOTES, _LONGEST_NOTE = 256 << 10, 200, 4000
_MOST_PLACES = 500


class Debugger:
    """Owns at most one process that debugs the program, and the breakpoints, which must outlive it."""

    def __init__(self, workspace: Workspace, launch: Callable[[Program, int, int], Child]) -> None:
        self._workspace = workspace
        self._launch = launch
        self._child: Optional[Child] = None
        self._socket: Optional[socket.socket] = None
        self._output_fd = -1
        self._received = b""
        self._program: Optional[Program] = None
        self._test = ""
        self._only: List[str] = []
        self._fresh = False
        """Whether the program was started since the last report."""
        self._stamp: Dict[str, Any] = {}
        self._sources: Dict[str, List[str]] = {}
        self._place: List[Any] = []
        self.files_may_have_changed = False
        """Set by the guest after a request that may change files. Checking them all takes time in a large workspace."""
        self._edited: Set[str] = set()
        self._time_limit = ""
        self.breakpoints: List[Dict[str, Any]] = []
        self._points: Dict[Tuple[str, int], Dict[str, Any]] = {}
        """File and line -> the breakpoint there, of all that existed during this action."""
        self._stood: Dict[Tuple[str, int, str], None] = {}
        """The places where the program stood during this action, in order."""

    # ---- life

    def close(self) -> None:
        """End the session and all its processes."""
        if self._child is None:
            return
        pids = descendants(self._child.pid) | {self._child.pid}
        if self._socket is not None:
            self._socket.close()
        KEPT.discard(self._child.pid)
        kill_tree(pids, self._child.poll)
        self._child.wait()
        os.close(self._output_fd)
        self._child = self._socket = None
        self._received = b""

    def _start(self, program: Program, test: str, notes: List[str]) -> Dict[str, Any]:
        self.close()
        self.files_may_have_changed = False
        self._edited.clear()
        self._stamp = self._workspace.fingerprint()
        self._move_breakpoints(notes)
        ours, theirs = socket.socketpair()
        read_fd, write_fd = os.pipe()
        try:
            self._child = self._launch(program, theirs.fileno(), write_fd)
        except BaseException:
            ours.close()
            os.close(read_fd)
            raise
        finally:
            theirs.close()
            os.close(write_fd)
        KEPT.add(self._child.pid)
        self._socket, self._output_fd, self._program, self._test = ours, read_fd, program, test
        self._fresh = True
        failing = "the tests that failed last, " + _listed(self._only) if self._only else _spoken(program.entry)
        notes.append("started: %s" % (test or failing))
        os.set_blocking(read_fd, False)
        only = [] if test else self._only
        setup = json.dumps({"entry": program.entry, "test": test, "only": only, "breakpoints": self.breakpoints})
        return self._ask(setup, self._limit(START_PATIENCE_S), HeadTail(PROGRAM_CAP))

    def _move_breakpoints(self, notes: List[str]) -> None:
        """Move each breakpoint along with its line through the edits since it was set."""
        remaining = []
        for point in self.breakpoints:
            old = self._sources.get(point["file"])
            try:
                new = self._read(point["file"])
            except Refused:
                notes.append("breakpoint %d was removed: %s no longer exists" % (point["number"], point["file"]))
                continue
            if old is not None and old != new:
                point["line"] = follow_line(old, new, point["line"])
            remaining.append(point)
        self.breakpoints = remaining
        self._sources = {point["file"]: self._read(point["file"]) for point in remaining}

    def _read(self, path: str) -> List[str]:
        if os.path.isabs(path) or path.startswith("<"):  # a library's file or no file: it does not change
            return []
        return self._workspace.read(path).decode("utf-8", "replace").split("\n")

    # ---- one action

    def act(
        self, text: str, to_debug: Program, test: str, only: List[str], timeout_s: float, value_limit: int = 1000
    ) -> Dict[str, Any]:
        """Carry out pdb commands and code; see `batch.commands_of`.

        Starts the program if none is being debugged, if files were edited since it started, or if `to_debug` or `test`
        is another one. `test`: what to run of it, if it is pytest; see `choose`. If it is empty, every start from now
        on runs the tests with an id in `only`, if it finds one of them.
        `value_limit`: how many characters of one value are shown. Returns text (what pdb said), program (what the
        program printed), standing, notes, and the places of this action, as `replies.debugger.Debugged` says.
        """
        notes: List[str] = []
        program = HeadTail(PROGRAM_CAP)
        texts: List[str] = []
        report: Dict[str, Any] = {}
        self._only = only
        self._time_limit = "%g s" % round(timeout_s, 1)
        restarted = self._needs_restart(to_debug, test, notes)
        old_breakpoints = list(self.breakpoints)
        self._points, self._stood = {}, {}
        if restarted or self._child is None:
            report = self._start(to_debug, test, notes)
            notes += report.get("notes", [])
            texts.append(report.get("text", ""))
        limit = self._limit(timeout_s)
        timed_out = False
        commands = commands_of(text) or [""]
        echoed = len(commands) > 1 or (commands[0].startswith("!") and not text.strip().startswith("!"))
        for position, command in enumerate(commands):
            if self._child is None:
                notes.append("not run, because the program had ended: %s" % "; ".join(commands[position:]))
                break
            if echoed:
                texts.append("(Pdb) %s\n" % shortened(command.replace("\n", "\n...   "), 300, "as you wrote it"))
            if command in ("restart", "run"):
                report = self._start(self._program or to_debug, self._test, notes)
                texts.append("the program was restarted\n")
                continue
            request = {"command": command, "value_limit": value_limit, "stated_limit": self._time_limit}
            report = self._ask(json.dumps(request), limit, program)
            texts.append(report.get("text", ""))
            notes += report.get("notes", [])
            if report.get("restart"):
                report = self._start(self._program or to_debug, self._test, notes)
            if report.get("timed_out"):
                timed_out = True
                if position + 1 < len(commands):
                    notes.append(
                        "not run, because the time limit of %s was reached: %s"
                        % (self._time_limit, "; ".join(commands[position + 1 :]))
                    )
                break
        while self._child is not None and report.get("stop", {}).get("defining"):
            report = self._ask(json.dumps({"command": "end"}), limit, program)
            texts.append(report.get("text", ""))
        standing, stops = standing_of(report)
        tests = list(report.get("tests") or ())
        if tests and set(report["tests"].values()) == {"passed"}:
            all_tests = "the test" if len(tests) == 1 else "all %d tests" % len(tests)
            notes.append("%s that ran passed: %s" % (all_tests, _listed(tests)))
        # A breakpoint in a loop stops at the same place again, with other values.
        place_keys = ("event", "file", "line", "function", "depth", "exception")
        place = [restarted, stops, *(standing.get(key) for key in place_keys)]
        moved, self._place = place[0] or self._fresh or place[1:] != self._place[1:], place
        self._fresh = False
        output, dropped = program.take()
        return {
            "text": shortened("".join(texts), _MOST_TEXT, "give fewer commands"),
            "program": output.decode("utf-8", "replace"),
            "dropped": dropped,
            "notes": [shortened(note, _LONGEST_NOTE, "see the program") for note in notes[:_MOST_NOTES]],
            "standing": standing,
            "breakpoints": self.breakpoints,
            "points": list(self._points.values())[:_MOST_PLACES],
            "stood": [
                {"file": file, "line": line, "function": function}
                for file, line, function in list(self._stood)[-_MOST_PLACES:]
            ],
            "alive": self._child is not None,
            "timed_out": timed_out,
            "restarted": restarted,
            "moved": moved,
            "breakpoints_changed": _shape(old_breakpoints) != _shape(self.breakpoints),
        }

    def notice(self, changed: List[Tuple[str, Optional[int], str]]) -> None:
        """Note that the agent changed these files, data files included, which programs also write themselves."""
        if self._child is not None:
            self._edited.update(path for path, _, _ in changed)

    def _needs_restart(self, to_debug: Program, test: str, notes: List[str]) -> bool:
        if self._child is None:
            return False
        if (to_debug, test) != (self._program, self._test):
            return True
        if not self.files_may_have_changed:
            return False
        self.files_may_have_changed = False
        edited = sorted(_different(self._stamp, self._workspace.fingerprint()) | self._edited)
        if not edited:
            return False
        notes.append("the program was restarted, because %s changed" % ", ".join(edited[:5]))
        return True

    @staticmethod
    def _limit(seconds: float) -> Allowance:
        return Allowance(seconds, lambda: descendants(os.getpid()))

    def _ask(self, line: str, limit: Allowance, program: HeadTail) -> Dict[str, Any]:
        """Send one line and wait for the report; interrupt the program when the time is up."""
        assert self._socket is not None and self._child is not None
        try:
            self._socket.sendall(line.encode("utf-8", "replace") + b"\n")
        except OSError:
            return self._dead(program, timed_out=False)
        timed_out = False
        poller = select.poll()
        poller.register(self._socket, select.POLLIN | select.POLLHUP)
        poller.register(self._output_fd, select.POLLIN | select.POLLHUP)
        while b"\n" not in self._received:
            remaining = limit.left()
            if remaining <= 0:
                if timed_out:
                    return self._dead(program, timed_out=True)
                timed_out = True
                limit = self._limit(INTERRUPT_PATIENCE_S)
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.kill(self._child.pid, INTERRUPT)
                continue
            for fd, _ in poller.poll(remaining * 1000):
                if fd == self._output_fd:
                    if not self._pump(program):
                        poller.unregister(fd)
                    continue
                try:
                    data = self._socket.recv(1 << 18)
                except OSError:
                    data = b""
                if not data or len(self._received) > _REPORT_LIMIT:
                    return self._dead(program, timed_out)
                self._received += data
        raw, self._received = self._received.split(b"\n", 1)
        while self._pump(program, once=True):
            pass
        report = sound_report(raw)
        if report is None:
            self._received = b""
            return self._dead(program, timed_out, "the program wrote into the debugger's own channel, so it was killed")
        table = report.get("stop", report).get("breakpoints")
        if table is not None:
            self.breakpoints = table
            self._points.update(((point["file"], point["line"]), point) for point in table)
            for point in table:
                if point["file"] not in self._sources:
                    self._sources[point["file"]] = self._read(point["file"])
        stop = report.get("stop", {})
        if "file" in stop:
            self._stood.setdefault((stop["file"], stop["line"], stop["function"]))
        report["timed_out"] = timed_out
        if "ended" in report or report.get("restart"):
            self.close()
        return report

    def _pump(self, program: HeadTail, once: bool = False) -> bool:
        """Read what the program printed. Returns whether more may be there (`once`) or may come later."""
        try:
            data = os.read(self._output_fd, 1 << 18)
        except BlockingIOError:
            return not once
        program.write(data)
        return bool(data)

    def _dead(self, program: HeadTail, timed_out: bool, reason: str = "") -> Dict[str, Any]:
        """End a debugged process that is gone or has to be killed. Returns a report that says why."""
        assert self._child is not None
        if reason:
            pass
        elif timed_out:
            reason = (
                "the program was still running at the time limit of %s and could not be interrupted, so it was killed"
                % self._time_limit
            )
        else:
            try:
                code = self._child.wait(timeout=0.5)
                reason = "killed by signal %s" % _signal_name(-code) if code < 0 else "exit status %d" % code
                reason = "the debugged process ended without the debugger (%s)" % reason
            except subprocess.TimeoutExpired:
                reason = "the debugged process closed its connection to the debugger, so it was killed"
        while self._pump(program, once=True):
            pass
        self.close()
        return {"died": reason, "notes": [reason], "timed_out": timed_out, "text": ""}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _shape(table: List[Dict[str, Any]]) -> List[Any]:
    return [{key: value for key, value in row.items() if key != "hits"} for row in table]


def follow_line(old: List[str], new: List[str], line: int) -> int:
    """Return where line number `line` (1-based) of `old` is in `new`; for a replaced line, the nearest place."""
    index = line - 1
    for tag, first, last, new_first, new_last in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if first <= index < last:
            if tag == "equal":
                return new_first + (index - first) + 1
            return max(min(new_first + (index - first), new_last - 1), 0) + 1
    return min(line, len(new))


def _listed(tests: List[str]) -> str:
    return ", ".join(tests[:3]) + (" and %d more" % (len(tests) - 3) if len(tests) > 3 else "")


def _spoken(entry: List[str]) -> str:
    """Return an entry point as a command line."""
    return " ".join(shlex.quote(word) for word in (entry if entry[0] == "pytest" else ["python", *entry]))


def _different(old_stamps: Dict[str, Any], new_stamps: Dict[str, Any]) -> Set[str]:
    return {path for path in set(old_stamps) | set(new_stamps) if old_stamps.get(path) != new_stamps.get(path)}
