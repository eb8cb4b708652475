"""The Debug Adapter Protocol (https://microsoft.github.io/debug-adapter-protocol/specification), as a client."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from typing import IO, Any

from stackrank.extensions.languages.guest.adapter import Adapter, AdapterError, AdapterLost, Frame, Stop

ANSWER_S = 20.0
"""How long an adapter may take to answer a request."""
MOST_FRAMES = 60
MOST_THREADS = 20
MOST_VARIABLES = 100
MOST_PARTS = 20
MOST_DEPTH = 4
"""How deep the parts of parts are shown: three levels, as of Python's values, and one for a pair or a pointer."""
MOST_LOOKS = 60
"""How often the adapter is asked for parts, for one answer: it takes half a millisecond each time."""
_SIZE = re.compile(r"size=\d+")
_OPAQUE = re.compile(r"^$|size=[1-9]|^\{\.\.\.\}$| @ 0x|^0x[0-9a-fA-F]+$|^[\w:<>, ]+$(?<!\d)")
"""Values that name only a type, an address or a size."""
_EVENTS = {"breakpoint": "line", "function breakpoint": "line", "data breakpoint": "line", "step": "line"}
_EVENTS.update({"exception": "exception", "pause": "interrupted", "signal": "exception", "entry": "line"})
_UNNAMED = "<null>"
"""What lldb calls a parameter, or a part of a structure, that has no name."""
_ET_CORE = 4
"""The type of a core dump in an ELF header."""
_STATUS = re.compile(r"exited with (?:status|code) (?:= )?(-?\d+)")
_LISTENING = re.compile(rb"listening at: ([\d.]+):(\d+)")


class DapAdapter(Adapter):
    """An adapter that speaks the protocol over its standard streams, or over a socket that it names first."""

    def __init__(self) -> None:
        super().__init__()
        self._sequence = 0
        self._output: IO[bytes] | None = None
        self._pending: list[dict[str, Any]] = []
        self._status: int | None = None
        self._watched: list[dict[str, Any]] = []
        self._interrupting = self._is_core = False
        self._internal: list[str] = []
        self._looks = 0
        self._capabilities: dict[str, Any] = {}

    # ---- messages

    def start(self, launch: dict[str, Any], points: list[Any], deadline: float) -> None:
        """Start the adapter and the program, which runs as soon as its breakpoints are set."""
        pipe = subprocess.PIPE
        errors = None if launch["over_socket"] else subprocess.DEVNULL
        child = self.spawn(launch["adapter"], stdin=pipe, stdout=pipe, stderr=errors, cwd=launch["cwd"])
        assert child.stdin is not None and child.stdout is not None
        stream: Any = child.stdout
        self._output = child.stdin
        if launch["over_socket"]:
            stream = self._connect(child.stdout)
        self.receive_with(lambda: _receive(stream))
        self._internal = launch["stop_in"]
        about = {"adapterID": "stackrank", "linesStartAt1": True, "columnsStartAt1": True, "pathFormat": "path"}
        self._capabilities = self._ask("initialize", about)
        core = _core_dump(launch)
        self._is_core = bool(core)
        if core:
            launched = launch["arguments"]
            about = {"coreFile": core, "stopOnEntry": True, "program": launched["program"]}
            self._send("attach", {**about, "initCommands": launched["initCommands"]})
        else:
            self._send("launch", launch["arguments"])
        self._await_event("initialized", deadline)
        self.set_points(points)
        self._ask("configurationDone", {})

    def _connect(self, stream: IO[bytes]) -> IO[bytes]:
        line = stream.readline()
        match = _LISTENING.search(line)
        if match is None:
            raise AdapterLost("the debugger does not listen: %s" % line.decode("utf-8", "replace").strip())
        connection = socket.create_connection((match[1].decode(), int(match[2])), timeout=ANSWER_S)
        connection.settimeout(None)
        self._output = connection.makefile("wb")
        self.copy_output(stream)
        return connection.makefile("rb")

    def _send(self, command: str, arguments: dict[str, Any]) -> int:
        self._sequence += 1
        message = {"seq": self._sequence, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        assert self._output is not None
        try:
            self._output.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self._output.flush()
        except (OSError, ValueError):
            raise AdapterLost(self.describe_end()) from None
        return self._sequence

    def _ask(self, command: str, arguments: dict[str, Any], patience_s: float = ANSWER_S) -> dict[str, Any]:
        """Return the body of an answer. Events that come meanwhile are kept. Raises AdapterError, AdapterLost."""
        number = self._send(command, arguments)
        deadline = time.monotonic() + patience_s
        while True:
            message = Adapter.read(self, deadline)
            if message is None:
                raise AdapterLost("the debugger did not answer %s within %g s" % (command, patience_s))
            if message.get("type") == "response" and message.get("request_seq") == number:
                if message.get("success"):
                    return message.get("body") or {}
                raise AdapterError(_problem(message))
            self._pending.append(message)

    def _await_event(self, name: str, deadline: float) -> None:
        """Wait for an event. Raises AdapterError if a request is refused meanwhile."""
        while True:
            message = self.read(deadline)
            if message is None:
                raise AdapterLost("the debugger did not start the program in time")
            if message.get("type") == "response" and not message.get("success"):
                raise AdapterError(_problem(message))
            if message.get("event") == name:
                return
            self.stop_of(message)

    def read(self, deadline: float) -> dict[str, Any] | None:
        """Return the next message, first those that came while an answer was awaited."""
        return self._pending.pop(0) if self._pending else super().read(deadline)

    def stop_of(self, message: dict[str, Any]) -> Stop | None:
        """Take output and the program's end from a message."""
        event, body = message.get("event"), message.get("body") or {}
        if event == "output":
            # A program's errors come as its output, because it has a terminal; the other category is lldb's own words.
            if body.get("category") == "stdout":
                self.output.write(str(body.get("output", "")))
            else:
                match = _STATUS.search(str(body.get("output", "")))
                self._status = int(match[1]) if match else self._status
        elif event == "exited":
            self._status = int(body.get("exitCode", 0))
        elif event == "terminated":
            return Stop("finished", status=self._final_status())
        elif event == "stopped":
            reason, thread = str(body.get("reason")), int(body.get("threadId") or 0)
            text = str(body.get("text") or body.get("description") or "")
            event = _EVENTS.get(reason, "line")
            if reason == "breakpoint" and text and not text.startswith("breakpoint "):
                return Stop("exception", "sanitizer: " + text, thread)  # as lldb shows a report
            if reason == "function breakpoint" or (self._internal and reason == "breakpoint"):
                top = self._ask("stackTrace", {"threadId": thread, "startFrame": 0, "levels": 1}).get("stackFrames")
                # Newer compilers put Rust's function into a module of its own.
                if top and str(top[0].get("name")).rpartition("::")[2] in self._internal:
                    return Stop("exception", "panic", thread)
            if self._interrupting and "breakpoint" not in reason and event == "line":
                event = "interrupted"  # while the program was about to go on anyway
            if event == "exception":
                event, text = self._exception(thread, text)
            return Stop(event, text if event == "exception" else "", thread)
        return None

    def _final_status(self) -> int:
        """Return the exit status of the program, which some adapters tell only when they are told to end."""
        if self._status is None:
            with contextlib.suppress(AdapterError, AdapterLost):
                self._ask("disconnect", {"terminateDebuggee": True}, 2.0)
            for message in self._pending:
                match = _STATUS.search(str((message.get("body") or {}).get("output", "")))
                self._status = int(match[1]) if match else self._status
        return self._status or 0

    def _exception(self, thread: int, text: str) -> tuple[str, str]:
        """Return the event and the text of a stop that the adapter calls an exception, such as a signal."""
        if self._interrupting and "SIGSTOP" in text:
            return "interrupted", ""
        if self._capabilities.get("supportsExceptionInfoRequest"):
            try:
                about = self._ask("exceptionInfo", {"threadId": thread})
                words = (about.get("exceptionId"), about.get("description"))
                text = ": ".join(dict.fromkeys(str(word).strip() for word in words if word)) or text
            except AdapterError:
                pass
        return "exception", text or "an exception"

    # ---- control

    def set_points(self, points: list[Any]) -> None:
        """Set breakpoints in files and in functions."""
        if self._is_core:
            return
        files: dict[str, list[Any]] = {}
        for point in points:
            if point.file:
                files.setdefault(point.file, []).append(point)
        for file in {*files, *self.functions}:
            entries = files.get(file, [])
            wanted = [_request({"line": point.line}, point) for point in entries]
            answer = self._ask("setBreakpoints", {"source": {"path": file}, "breakpoints": wanted})
            for point, said in zip(entries, answer.get("breakpoints") or ()):  # noqa: B905  Python 3.8
                point.line = int(said.get("line") or point.line)
                point.problem = str(said.get("message") or "") if not said.get("verified") else ""
        self.functions = dict.fromkeys(files, "")
        named = [point for point in points if not point.file]
        wanted = [_request({"name": point.function}, point) for point in named]
        wanted += [{"name": name} for name in self._internal]
        answer = self._ask("setFunctionBreakpoints", {"breakpoints": wanted})
        for point, said in zip(named, answer.get("breakpoints") or ()):  # noqa: B905
            point.problem = "" if said.get("verified") else str(said.get("message") or "no such function yet")

    def resume(self, how: str, thread: int) -> None:
        """Continue."""
        if self._is_core:
            raise AdapterError("a core dump cannot go on: it shows the program when it ended")
        self._interrupting = False
        self._ask(how, {"threadId": thread})

    def interrupt(self, thread: int) -> None:
        """Pause."""
        self._interrupting = True
        threads = self._ask("threads", {}).get("threads") or [{"id": thread}]
        self._ask("pause", {"threadId": thread or threads[0]["id"]})

    # ---- looking

    def stack(self, thread: int) -> list[Frame]:
        """Return the calls."""
        answer = self._ask("stackTrace", {"threadId": thread, "startFrame": 0, "levels": MOST_FRAMES})
        frames = []
        for row in answer.get("stackFrames") or ():
            path = str((row.get("source") or {}).get("path") or "?")
            name = _readable(str(row.get("name") or "?"))
            frames.append(Frame(row.get("id"), path, int(row.get("line") or 0), name))
        return frames

    def threads(self) -> list[int]:
        """Return the threads."""
        return [int(row["id"]) for row in (self._ask("threads", {}).get("threads") or ())[:MOST_THREADS]]

    def variables(self, frame: Frame) -> dict[str, str]:
        """Return the variables of the first scopes that have any: arguments and locals."""
        values: dict[str, str] = {}
        self._looks = MOST_LOOKS
        for scope in (self._ask("scopes", {"frameId": frame.identity}).get("scopes") or ())[:2]:
            if scope.get("expensive") or scope.get("name") in ("Globals", "Registers", "Statics"):
                continue
            reference = {"variablesReference": scope.get("variablesReference"), "count": MOST_VARIABLES}
            for row in (self._ask("variables", reference).get("variables") or ())[:MOST_VARIABLES]:
                name = str(row.get("name") or _UNNAMED)
                if name != _UNNAMED and not name.startswith("~"):  # results in Go, before there are any
                    values.setdefault(name, self._whole(row, "value"))
        return values

    def evaluate(self, expression: str, frame: Frame | None) -> str:
        """Return the value, with the fields of a structure that has no summary of its own."""
        self._looks = MOST_LOOKS
        about = {"expression": expression, "context": "watch"}
        answer = self._ask("evaluate", {**about, **({"frameId": frame.identity} if frame is not None else {})})
        return self._whole(answer, "result")

    def _whole(self, row: dict[str, Any], name: str, depth: int = MOST_DEPTH) -> str:
        """Return a value as text; of a container or a structure that the adapter does not spell out, its parts."""
        text = _shown(row, name)
        if not (depth and self._looks and row.get("variablesReference") and _OPAQUE.search(text)):
            return text
        self._looks -= 1
        reference = {"variablesReference": row["variablesReference"], "count": MOST_PARTS}
        rows = (self._ask("variables", reference).get("variables") or ())[:MOST_PARTS]
        if [part.get("name") for part in rows] == ["data_ptr", "length"]:
            return _slice(_shown(rows[0], "value"), _shown(rows[1], "value"))
        is_list = all(str(part.get("name")).startswith("[") for part in rows)
        parts = []
        for part in rows:
            label = str(part.get("name") or _UNNAMED)
            if label != "[raw]":
                value = self._whole(part, "value", depth - 1)
                parts.append(value if is_list or label == _UNNAMED else "%s: %s" % (label, value))
        if not parts:
            return text
        more = ", ..." if len(rows) == MOST_PARTS else ""
        size = _SIZE.search(text)
        return ("%s " % size[0] if size else "") + "{%s%s}" % (", ".join(parts), more)

    def watch(self, expression: str, frame: Frame) -> Any:
        """Watch a variable, if the adapter can."""
        if not self._capabilities.get("supportsDataBreakpoints"):
            return super().watch(expression, frame)
        about = self._ask("dataBreakpointInfo", {"name": expression, "frameId": frame.identity})
        if not about.get("dataId"):
            raise AdapterError(
                "%s cannot be watched: %s" % (expression, about.get("description") or "no such variable")
            )
        self._watched.append({"dataId": about["dataId"], "accessType": "write"})
        self._ask("setDataBreakpoints", {"breakpoints": self._watched})
        return about.get("description")


def _core_dump(launch: dict[str, Any]) -> str:
    """Return the path of a core dump, if a program's only argument is one; else an empty text."""
    arguments: list[str] = launch["arguments"].get("args") or []
    if len(arguments) != 1 or launch["over_socket"]:
        return ""
    path = os.path.join(launch["cwd"], arguments[0])
    try:
        with open(path, "rb") as file:
            head = file.read(18)
    except OSError:
        return ""
    return path if head[:4] == b"\x7fELF" and int.from_bytes(head[16:], sys.byteorder) == _ET_CORE else ""


def _request(place: dict[str, Any], point: Any) -> dict[str, Any]:
    return {**place, **({"condition": point.condition} if point.condition else {})}


def _shown(row: dict[str, Any], name: str) -> str:
    return " ".join(str(row.get(name) or row.get("type") or "").split())


def _readable(name: str) -> str:
    """Return a function's name without its parameters, and without what Rust adds to it."""
    name = re.sub(r"::h[0-9a-f]{16}$", "", name).replace("_$u7b$$u7b$closure$u7d$$u7d$", "{{closure}}")
    return re.sub(r"(?<=\w)\(.*", "", name) or "?"


def _slice(data: str, length: str) -> str:
    """Return a text of Rust, which the debugger shows beyond its end."""
    text = data.partition('"')[2].encode("utf-8", "replace")
    return '"%s"' % text[: int(length)].decode("utf-8", "replace") if length.isdigit() else data


def _problem(message: dict[str, Any]) -> str:
    error = (message.get("body") or {}).get("error") or {}
    text = str(error.get("format") or message.get("message") or "the debugger refused it")
    return " ".join(text.split())[:600]


def _receive(stream: IO[bytes]) -> dict[str, Any] | None:
    """Return one message; None if there are no more. Raises ValueError if it is none."""
    size = -1
    while True:
        line = stream.readline()
        if not line:
            return None
        if line.strip() == b"":
            if size < 0:
                continue
            break
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            size = int(value)
    message = json.loads(stream.read(size))
    return message if isinstance(message, dict) else {}
