"""One debugger session: carries out commands in pdb's words, and says where the program stands.

Reads requests and writes answers, each a line of JSON. If a request needs a program, and there is none or its
sources have changed, the answer is `{"needs_program": true}`; the host builds the program and repeats the request with
`launch`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from stackrank.extensions.languages.guest.adapter import Adapter, AdapterError, AdapterLost, Frame, Stop
from stackrank.extensions.languages.guest.breakpoints import Points
from stackrank.extensions.languages.guest.dap import DapAdapter
from stackrank.extensions.languages.guest.inspector import NodeAdapter

START_S = 30.0
PAUSE_S = 5.0
"""How long a program may take to pause after it was interrupted."""
MOST_VALUE, MOST_VALUES = 1000, 500
MOST_STACK, MOST_PLACES = 60, 500
MOST_TEXT = 256 << 10
_AROUND = 5
_RESUME = {
    "c": "continue", "cont": "continue", "continue": "continue", "n": "next", "next": "next", "s": "stepIn",
    "step": "stepIn", "r": "stepOut", "return": "stepOut", "finish": "stepOut",
}  # fmt: skip
_PROGRAM = {*_RESUME, "unt", "until", "inspect", "watch", "restart", "run"}
"""Commands that need a program."""
HELP = """\
b FILE:LINE [if CONDITION], b FUNCTION, tbreak PLACE, cl [NUMBER]: breakpoints
c, n, s, r, unt LINE: continue, next line, step into, to the end of the function, to a line
w, u, d, l, p EXPRESSION, locals: stack, its frames, source, values
inspect PLACE [if CONDITION]: run to a place; watch VARIABLE: stop when it changes
restart, q: start again, end"""


class Session:
    """The breakpoints, and the program if one runs."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._points = Points(root)
        self._adapter: Adapter | None = None
        self._scripts = False
        self._target = ""
        self._sources: dict[str, tuple[int, int]] = {}
        self._standing: dict[str, Any] = {"event": "start"}
        self._frames: list[Frame] = []
        self._position = 0
        self._thread = 0
        self._deadline = 0.0
        self._printed = ("", 0)
        self._notes: list[str] = []
        """What the next answer says: the program may have to be built before it."""

    # ---- one request

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out a request; see the module."""
        commands = [line.strip() for line in request["commands"].splitlines() if line.strip()]
        self._scripts = request["scripts"]
        target = request["target"]
        notes = self._notes
        self._timeout_s = request["timeout_s"]
        self._deadline = time.monotonic() + self._timeout_s
        if self._adapter is not None and self._target != target:
            notes.append("the program was ended, to debug %s" % target)
            self._end("quit")
        elif self._adapter is not None and self._sources != self._look():
            notes.append("files have changed, so the program starts again")
            self._end("quit")
        needs_program = self._adapter is None and any(_word(command) in _PROGRAM for command in commands)
        if needs_program and "launch" not in request:
            return {"needs_program": True}
        restarted = bool(notes) or (self._adapter is None and self._standing["event"] != "start")
        self._notes = []
        self._texts: list[str] = []
        self._stood: list[dict[str, Any]] = []
        self._seen = dict.fromkeys(self._points.all)
        self._moved = self._changed = self._timed_out = False
        self._launch, self._target = request.get("launch"), target
        for command in commands:
            try:
                self._act(command)
            except AdapterError as error:
                self._texts.append("*** %s" % error)
                break
            except AdapterLost as error:
                self._lose(str(error))
                break
            if self._timed_out or self._standing["event"] in ("finished", "died"):
                break
        if self._adapter is not None and self._standing["event"] in ("finished", "died"):
            self._close()
        elif self._adapter is not None:
            self._printed = self._adapter.output.take()
        (printed, dropped), self._printed = self._printed, ("", 0)
        points = list(dict.fromkeys([*self._seen, *self._points.all]))
        return {
            "ok": True,
            "id": 0,
            "changed_files": [],
            "text": "\n".join(self._texts)[:MOST_TEXT],
            "program": printed,
            "dropped": dropped,
            "notes": notes,
            "standing": self._standing,
            "breakpoints": [point.row(self._relative) for point in self._points.all],
            "points": [point.row(self._relative) for point in points if point.file][:MOST_PLACES],
            "stood": self._stood[:MOST_PLACES],
            "alive": self._adapter is not None,
            "timed_out": self._timed_out,
            "restarted": restarted and self._adapter is not None,
            "moved": self._moved,
            "breakpoints_changed": self._changed,
        }

    def _act(self, command: str) -> None:
        word = _word(command)
        rest = command[len(word) :].strip()
        if word in ("b", "break", "tbreak", "tb") and rest:
            self._break(rest, word.startswith("t"))
        elif word in ("b", "break"):
            self._changed = True
        elif word in ("cl", "clear", "delete"):
            self._points.remove(rest)
            self._apply_points()
            self._changed = True
        elif word in ("restart", "run"):
            self._end("quit")
            self._resume("continue")
        elif word in _RESUME:
            self._resume(_RESUME[word])
        elif word in ("unt", "until", "inspect"):
            self._run_to(rest)
        elif word in ("q", "quit", "exit"):
            self._end("quit")
            self._moved = True
        elif word in ("h", "help"):
            self._texts.append(HELP)
        elif word == "watch":
            self._watch(rest)
        else:
            self._look_at(word, rest, command)

    def _look_at(self, word: str, rest: str, command: str) -> None:
        """Answer a command that shows something of the paused program."""
        frame = self._frame()
        if word in ("w", "where", "bt", "stack"):
            for position, call in reversed(list(enumerate(self._frames))):
                mark = ">" if position == self._position else " "
                self._texts.append("%s %s(%d) %s" % (mark, self._relative(call.file), call.line, call.function))
        elif word in ("u", "up", "d", "down"):
            step = 1 if word in ("u", "up") else -1
            if not 0 <= self._position + step < len(self._frames):
                raise AdapterError("this is the %s frame" % ("oldest" if step > 0 else "newest"))
            self._position += step
            self._describe(self._standing["event"], self._standing["exception"] or "")
            self._moved = True
        elif word in ("l", "ll", "list"):
            self._texts.append("\n".join(self._source(frame.file, frame.line, 2 * _AROUND)))
        elif word in ("locals", "a", "args"):
            values = self._values(frame)
            self._texts.append("\n".join("%s = %s" % item for item in values.items()) or "no variables")
        else:
            expression = rest if word in ("p", "pp", "print", "display") and rest else command
            assert self._adapter is not None
            self._texts.append(self._adapter.evaluate(expression, frame)[: 8 * MOST_VALUE])

    def _frame(self) -> Frame:
        if not self._frames:
            raise AdapterError("the program is not paused: set a breakpoint with b, then c runs to it")
        return self._frames[self._position]

    # ---- breakpoints

    def _break(self, text: str, temporary: bool) -> None:
        here = self._frames[self._position].file if self._frames else ""
        self._points.add(text, temporary, here, self._scripts)
        self._apply_points()
        self._report_problems()
        self._changed = True

    def _report_problems(self) -> None:
        for point in self._points.all:
            if point.problem:
                self._texts.append(
                    "Breakpoint %d at %s: %s" % (point.number, point.row(self._relative)["file"], point.problem)
                )

    def _apply_points(self) -> None:
        self._seen.update(dict.fromkeys(self._points.all))
        if self._adapter is not None:
            self._adapter.set_points(self._points.all)

    def _watch(self, name: str) -> None:
        if self._adapter is None:
            self._frame()
        frame = self._frame()
        assert self._adapter is not None
        self._adapter.watch(name, frame)
        self._texts.append("c stops when %s changes." % name)

    def _run_to(self, text: str) -> None:
        here = self._frames[self._position].file if self._frames else ""
        point = self._points.add(text, True, here, self._scripts)
        try:
            self._apply_points()
            self._resume("continue")
        finally:
            if point in self._points.all:
                self._points.all.remove(point)
                self._apply_points()

    # ---- running

    def _resume(self, how: str) -> None:
        self._moved = True
        if self._adapter is None:
            if how != "continue" and not self._points.all:
                raise AdapterError("the program has not started: set a breakpoint with b, then c runs to it")
            if self._launch is None:
                raise AdapterError("the program has ended: c starts it again")
            self._start(self._launch)
            self._deadline = time.monotonic() + self._timeout_s
        else:
            self._adapter.resume(how, self._thread)
            self._frames = []
        self._stand(how)

    def _start(self, launch: dict[str, Any]) -> None:
        self._sources = self._look()
        adapter: Adapter = NodeAdapter() if launch["protocol"] == "inspector" else DapAdapter()
        self._adapter = adapter
        self._standing = {"event": "start"}
        adapter.start(launch, self._points.all, time.monotonic() + START_S)
        self._report_problems()

    def _stand(self, how: str) -> None:
        """Wait until the program stands or has ended; at the end of the time it is interrupted where it is."""
        assert self._adapter is not None
        stop = self._adapter.wait(self._deadline)
        if stop is None:
            self._timed_out = True
            self._adapter.interrupt(self._thread)
            stop = self._adapter.wait(time.monotonic() + PAUSE_S)
            if stop is None:
                raise AdapterLost("the program does not end, and could not be interrupted")
        if stop.event == "interrupted":
            self._choose_thread(stop)
        if stop.event == "finished":
            self._frames = []
            status = max(-255, min(255, stop.status))
            self._standing = {"event": "finished", "exit": status, "outcomes": {}}
            return
        self._thread, self._frames = stop.thread, self._adapter.stack(stop.thread)
        self._position = self._interesting(stop)
        if not self._frames:
            raise AdapterLost("the program stands where no code is known")
        top = self._frames[0]
        point = self._points.at(top.file, top.line, top.function)
        if point is not None and how == "continue":
            point.hits += 1
            point.file, point.line = point.file or top.file, point.line or top.line
            if point.temporary:
                self._points.all.remove(point)
                self._apply_points()
        self._describe(stop.event, stop.text)
        self._stood.append({name: self._standing[name] for name in ("file", "line", "function")})

    def _choose_thread(self, stop: Stop) -> None:
        """Choose the thread that hangs: it is in the workspace, or the fewest calls away; others wait for it."""
        nearest = MOST_STACK
        assert self._adapter is not None
        for thread in (stop.thread, *self._adapter.threads()):
            stack = self._adapter.stack(thread)
            level = next((level for level, frame in enumerate(stack) if self._is_own(frame)), MOST_STACK)
            if level < nearest:
                stop.thread, nearest = thread, level

    def _interesting(self, stop: Stop) -> int:
        """Return the frame to show: the innermost one, or after a failure the innermost of the workspace."""
        if stop.event in ("exception", "interrupted"):
            for position, frame in enumerate(self._frames):
                if self._is_own(frame):
                    return position
        return 0

    def _is_own(self, frame: Frame) -> bool:
        return frame.file.startswith(self._root + "/")

    def _describe(self, event: str, exception: str) -> None:
        frame = self._frames[self._position]
        calls = [
            {"file": self._relative(call.file), "line": call.line, "function": call.function, "current": call is frame}
            for call in reversed(self._frames[:MOST_STACK])
        ]
        self._standing = {
            "event": event,
            "file": self._relative(frame.file),
            "line": frame.line,
            "function": frame.function,
            "depth": len(self._frames),
            "thread": None,
            "exception": exception[:MOST_VALUE] or None,
            "locals": self._values(frame),
            "source": self._source(frame.file, frame.line, _AROUND),
            "stack": calls,
        }

    def _values(self, frame: Frame) -> dict[str, str]:
        assert self._adapter is not None
        try:
            values = self._adapter.variables(frame)
        except AdapterError:
            return {}
        rows = list(values.items())[:MOST_VALUES]
        return {name: value if len(value) <= MOST_VALUE else value[:MOST_VALUE] + "..." for name, value in rows}

    def _source(self, file: str, line: int, around: int) -> list[str]:
        try:
            with open(file, encoding="utf-8", errors="replace") as source:
                lines = source.read().splitlines()
        except OSError:
            return []
        first = max(line - around, 1)
        return [
            "%4d %s\t%s" % (number, "->" if number == line else "  ", text[:300])
            for number, text in enumerate(lines[first - 1 : line + around], first)
        ]

    def _end(self, event: str) -> None:
        self._close()
        self._standing = {"event": event, "exit": 0, "outcomes": {}}

    def _close(self) -> None:
        if self._adapter is not None:
            self._adapter.close()
            self._printed = self._adapter.output.take()
        self._adapter, self._frames = None, []

    def _lose(self, reason: str) -> None:
        self._frames = []
        self._standing = {"event": "died", "reason": reason}
        self._texts.append("*** %s" % reason)
        self._moved = True

    # ---- files

    def _look(self) -> dict[str, tuple[int, int]]:
        """Return the sizes and times of the workspace's files."""
        seen: dict[str, tuple[int, int]] = {}
        for folder, folders, files in os.walk(self._root):
            folders[:] = [name for name in folders if name not in ("node_modules", ".git", "target")]
            for name in files:
                path = os.path.join(folder, name)
                try:
                    status = os.lstat(path)
                except OSError:
                    continue
                seen[path] = (status.st_size, status.st_mtime_ns)
        return seen

    def _relative(self, path: str) -> str:
        return path[len(self._root) + 1 :] if path.startswith(self._root + "/") else path


def _word(command: str) -> str:
    """Return the command's first word; a single letter may be followed by a digit or a bracket, as an expression."""
    return command.split(None, 1)[0]


def main(receive: Callable[[], str], send: Callable[[str], Any]) -> None:
    """Answer requests until there are no more."""
    session = Session(os.getcwd())
    while True:
        line = receive()
        if not line:
            session._end("quit")
            return
        send(json.dumps(session.answer(json.loads(line))) + "\n")


def run() -> None:
    """Serve on the standard streams, which the debugged program does not get."""
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def send(text: str) -> None:
        answers.write(text)
        answers.flush()

    main(sys.stdin.readline, send)
