"""Node's inspector (https://chromedevtools.github.io/devtools-protocol/v8/), as a client."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from typing import Any

from stackrank.extensions.languages.guest.adapter import Adapter, AdapterError, AdapterLost, Frame, Stop
from stackrank.extensions.languages.guest.websocket import WebSocket

ANSWER_S = 20.0
_LISTENING = re.compile(rb"Debugger listening on ws://([\d.]+):(\d+)(/\S+)")
_LIBRARIES = ["^node:", "/node_modules/", "/usr/share/nodejs/"]
"""Scripts that steps go past."""
_SCOPES = ("local", "block", "catch", "with", "module", "eval")
_OF_MODULES = ("exports", "require", "module", "__filename", "__dirname")
"""Variables that Node gives to every module."""
_STEPS = {"continue": "resume", "next": "stepOver", "stepIn": "stepInto", "stepOut": "stepOut"}
MOST_VARIABLES = 100


class NodeAdapter(Adapter):
    """A Node program under its own inspector."""

    def __init__(self) -> None:
        super().__init__()
        self._number = 0
        self._pending: list[dict[str, Any]] = []
        self._scripts: dict[str, str] = {}
        self._frames: list[dict[str, Any]] = []
        self._breakpoints: list[str] = []
        self._connection: WebSocket | None = None
        self._interrupting = self._stepping = False

    def start(self, launch: dict[str, Any], points: list[Any], deadline: float) -> None:
        """Start the program, stopped before its first line, set breakpoints, and let it run."""
        argv = ["node", "--inspect-brk=127.0.0.1:0", *launch["arguments"]]
        environment = {**os.environ, **launch.get("env", {})}
        pipe, cwd = subprocess.PIPE, launch["cwd"]
        child = self.spawn(argv, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, cwd=cwd, env=environment)
        assert child.stdout is not None and child.stderr is not None
        match = None
        while match is None:
            line = child.stderr.readline()
            if not line:
                raise AdapterLost("Node does not offer its inspector; " + self.describe_end())
            match = _LISTENING.search(line)
        for stream in (child.stdout, child.stderr):
            self.copy_output(stream, self._kept)
        try:
            connection = WebSocket(match[1].decode(), int(match[2]), match[3].decode(), ANSWER_S)
        except (OSError, ValueError) as error:
            raise AdapterLost(str(error)) from None
        self._connection = connection

        def receive() -> dict[str, Any] | None:
            text = connection.receive()
            return None if text is None else json.loads(text)

        self.receive_with(receive)
        for method in ("Runtime.enable", "Debugger.enable"):
            self._ask(method)
        self._ask("Debugger.setBlackboxPatterns", patterns=_LIBRARIES)
        self._ask("Debugger.setPauseOnExceptions", state="uncaught")
        self.set_points(points)
        self._ask("Runtime.runIfWaitingForDebugger")
        if self.wait(deadline) is not None:  # before the first line
            self._ask("Debugger.resume")

    def _kept(self, text: str) -> str:
        """Leave out what Node itself says, and note when it waits with its end for the debugger."""
        if _OWN_LINES[-1] in text:
            self._messages.put({"method": "finished"})
        return "".join(line for line in text.splitlines(True) if not line.startswith(_OWN_LINES))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a request. Raises AdapterError, AdapterLost."""
        self._number += 1
        assert self._connection is not None
        try:
            self._connection.send(json.dumps({"id": self._number, "method": method, "params": params}))
        except OSError:
            raise AdapterLost(self.describe_end()) from None
        deadline = time.monotonic() + ANSWER_S
        while True:
            message = Adapter.read(self, deadline)
            if message is None:
                raise AdapterLost("the debugger did not answer %s within %g s" % (method, ANSWER_S))
            if message.get("id") == self._number:
                if "error" in message:
                    raise AdapterError(str(message["error"].get("message")))
                result = message.get("result")
                return result if isinstance(result, dict) else {}
            self._note_script(message)
            self._pending.append(message)

    def read(self, deadline: float) -> dict[str, Any] | None:
        """Return the next message, first those that came while an answer was awaited."""
        if self._pending:
            return self._pending.pop(0)
        try:
            return super().read(deadline)
        except AdapterLost:
            if self._child is not None and self._child.poll() is not None:
                return {"method": "finished"}  # it ended while nobody asked for anything
            raise

    def _note_script(self, message: dict[str, Any]) -> None:
        if message.get("method") == "Debugger.scriptParsed":
            params = message["params"]
            self._scripts[params["scriptId"]] = params["url"].replace("file://", "")

    def stop_of(self, message: dict[str, Any]) -> Stop | None:
        """Take scripts, pauses and the program's end from a message."""
        self._note_script(message)
        method, params = message.get("method"), message.get("params") or {}
        if method == "finished":
            self._frames = []
            return Stop("finished", status=self._end())
        if method != "Debugger.paused":
            return None
        self._frames = params["callFrames"]
        if params.get("reason") in ("exception", "promiseRejection"):
            data = params.get("data") or {}
            return Stop("exception", str(data.get("description") or data.get("value") or "").partition("\n")[0])
        is_interrupted = self._interrupting and not params.get("hitBreakpoints")
        self._interrupting = False
        return Stop("interrupted" if is_interrupted else "line")

    def _end(self) -> int:
        """Let the program end, and return its exit status."""
        assert self._child is not None
        try:
            if self._connection is not None:
                self._connection.send("", 8)
        except OSError:
            pass
        try:
            return self._child.wait(5)
        except subprocess.TimeoutExpired:
            return 0

    def set_points(self, points: list[Any]) -> None:
        """Set breakpoints by the path of a script, which may be loaded later."""
        for identity in self._breakpoints:
            self._ask("Debugger.removeBreakpoint", breakpointId=identity)
        self._breakpoints = []
        for point in {(point.file, point.line): point for point in reversed(points)}.values():
            pattern = "^(file://)?%s$" % re.escape(point.file)
            place: dict[str, Any] = {"lineNumber": point.line - 1, "urlRegex": pattern}
            if point.condition:
                place["condition"] = point.condition
            answer = self._ask("Debugger.setBreakpointByUrl", **place)
            self._breakpoints.append(answer["breakpointId"])
            for location in answer.get("locations") or ():
                point.line = int(location["lineNumber"]) + 1

    def resume(self, how: str, thread: int) -> None:
        """Continue."""
        self._frames, self._interrupting = [], False
        self._ask("Debugger." + _STEPS[how])

    def interrupt(self, thread: int) -> None:
        """Pause."""
        self._interrupting = True
        self._ask("Debugger.pause")

    def stack(self, thread: int) -> list[Frame]:
        """Return the calls of the last pause."""
        frames = []
        for row in self._frames:
            place = row["location"]
            file = str(row.get("url") or self._scripts.get(place["scriptId"]) or "?").replace("file://", "") or "?"
            name = row.get("functionName") or "<anonymous>"
            frames.append(Frame(row["callFrameId"], file, int(place["lineNumber"]) + 1, name, row))
        return frames

    def variables(self, frame: Frame) -> dict[str, str]:
        """Return the variables of the call's own scopes."""
        values: dict[str, str] = {}
        receiver = frame.data.get("this") or {}
        if receiver.get("type") == "object" and receiver.get("className") not in (None, "global", "Window"):
            values["this"] = self.evaluate("this", frame)
        for scope in frame.data["scopeChain"]:
            if scope.get("type") not in _SCOPES:
                continue
            answer = self._ask(
                "Runtime.getProperties", objectId=scope["object"]["objectId"], ownProperties=True, generatePreview=True
            )
            for row in (answer.get("result") or ())[:MOST_VARIABLES]:
                if row.get("name") not in _OF_MODULES:
                    values.setdefault(str(row.get("name")), _shown(row.get("value") or {"type": "undefined"}))
        return values

    def evaluate(self, expression: str, frame: Frame | None) -> str:
        """Return the value of an expression, as the program sees it in a call."""
        about = {"expression": expression, "generatePreview": True, "throwOnSideEffect": False, "timeout": 5000}
        if frame is None:
            answer = self._ask("Runtime.evaluate", **about)
        else:
            answer = self._ask("Debugger.evaluateOnCallFrame", callFrameId=frame.identity, **about)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            text = (details.get("exception") or {}).get("description") or details.get("text")
            raise AdapterError(str(text).partition("\n")[0])
        return _shown(answer["result"])


_OWN_LINES = ("Debugger attached.", "For help, see: https://nodejs.org", "Waiting for the debugger to disconnect")


def _shown(value: dict[str, Any]) -> str:
    """Return a remote object (its kind, value and preview) as text."""
    preview = value.get("preview")
    if preview:
        rows = ", ".join(_property(row, preview.get("subtype") == "array") for row in preview.get("properties") or ())
        entries = ", ".join(_entry(row) for row in preview.get("entries") or ())
        more = ", ..." if preview.get("overflow") else ""
        inside = ", ".join(filter(None, (rows, entries))) + more
        if preview.get("subtype") == "array":
            return "[%s]" % inside
        if preview.get("subtype") in ("error", "regexp", "date"):
            return str(value.get("description")).partition("\n")[0]
        name = value.get("className")
        return "%s{%s}" % ("" if name in (None, "Object") else "%s " % name, inside)
    if value.get("type") == "string":
        return json.dumps(value.get("value"), ensure_ascii=False)
    if "value" in value:
        return json.dumps(value["value"])
    return str(value.get("description") or value.get("unserializableValue") or value.get("type")).partition("\n")[0]


def _property(row: dict[str, Any], is_array: bool) -> str:
    text = json.dumps(row.get("value"), ensure_ascii=False) if row.get("type") == "string" else str(row.get("value"))
    return text if is_array else "%s: %s" % (row.get("name"), text)


def _entry(row: dict[str, Any]) -> str:
    value = (row.get("value") or {}).get("description")
    return "%s => %s" % (row["key"].get("description"), value) if "key" in row else str(value)
