"""The host's end of an MCP server: sends one request at a time, and keeps every line for the record.

The SDK's own client needs an event loop and tasks that read at any time. A sandbox answers one request after the other,
so the few requests that are needed are made here, and the SDK's types check the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stackrank.env.sandbox.base import Refused
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.state import Spoken
from stackrank.errors import StackrankError
from stackrank.extensions.mcp import messages
from stackrank.extensions.mcp.server import McpServer, McpServerChanged, McpServerFailed, Offer, difference

START_S = 60.0
"""Seconds that a server may take for each answer while it starts."""
MOST = 1 << 20
"""The most bytes of an answer, including everything that comes before it."""
_PAGES = 50
_SHOWN = 200


class _Failed(StackrankError):
    """The server did not answer as it should. The message continues a sentence that begins with the server's name."""


class Connection:
    """One server in one sandbox. Not thread-safe."""

    def __init__(self, sandbox: Sandbox, name: str, server: McpServer, known: Offer | None = None) -> None:
        """`known`: what the server has to offer; None: it may offer anything."""
        self._sandbox = sandbox
        self._name = name
        self._server = server
        self._known = known
        self._running = False
        self._stale = False
        """Whether the server said that its tools have changed."""
        self._unfit = ""
        """Why the server cannot be used in this episode any more; empty if it can."""
        self._id = 0
        self._unsent = b""
        self._said: list[Spoken] = []

    def open(self) -> Offer:
        """Start the server and ask what it offers. Raises McpServerFailed, McpServerChanged, SandboxError."""
        try:
            offer = self._start()
        except _Failed as error:
            raise McpServerFailed(f"the MCP server {self._name} {error}") from None
        if self._unfit:
            raise McpServerChanged(self._unfit)
        return offer

    def call(self, tool: str, arguments: Mapping[str, Any], timeout_s: float) -> tuple[str, bool]:
        """Call a tool; return its answer and whether it succeeded. Raises Refused if there is no answer, SandboxError.

        A server that fails is stopped, and started again with the next call.
        """
        try:
            if not self._unfit and not self._running:
                self._start()
            elif self._stale:
                self._compare(self._ask_for_tools())
            if self._unfit:
                raise Refused(f"{self._unfit}; it is not used any more in this episode")
            asked = {"name": tool, "arguments": dict(arguments)}
            answer = self._ask("tools/call", asked, timeout_s)
            if "error" in answer:  # about the call itself; a tool reports its own failure in the result
                error = answer["error"]
                said = error.get("message") if isinstance(error, dict) else error
                return f"The server refused the call: {said}", False
            return messages.text_of(answer["result"])
        except ValueError as error:
            raise Refused(f"the MCP server {self._name} answered, but {error}") from None
        except _Failed as error:
            self.close()
            raise Refused(f"the MCP server {self._name} {error}; it is started anew with the next call") from None

    def close(self) -> None:
        """Stop the server. Raises SandboxError."""
        self._running = False
        self._sandbox.stop(self._name)

    def spoken(self) -> list[Spoken]:
        """Return the lines that were sent and received since the last call of this method."""
        said, self._said = self._said, []
        return said

    # ---- starting

    def _start(self) -> Offer:
        try:
            self._unsent = b""
            self._sandbox.serve(self._name, self._server.command, self._server.env, self._server.prefix)
            self._running, self._stale = True, False
        except Refused as error:
            raise _Failed(f"cannot be started: {error}") from None
        try:
            version = messages.version_of(self._result("initialize", messages.hello()))
            self._send(messages.line({"method": "notifications/initialized"}))
            offer = self._ask_for_tools(version)
        except ValueError as error:
            raise _Failed(f"cannot be used: {error}") from None
        self._compare(offer)
        return offer

    def _ask_for_tools(self, version: str = "") -> Offer:
        tools: list[messages.Message] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            page, cursor = messages.tools_of(self._result("tools/list", {} if cursor is None else {"cursor": cursor}))
            tools += page
            if cursor is None:
                break
        self._stale = False
        names = [tool["name"] for tool in tools]
        if double := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"it offers {double[0]!r} twice")
        wanted = self._server.tools
        if missing := [name for name in wanted or () if name not in names]:
            raise ValueError(f"it has no tool {missing[0]!r}: it offers {', '.join(names)[:_SHOWN] or 'none'}")
        if not names:
            raise ValueError("it offers no tool")
        chosen = tuple(tool for tool in tools if wanted is None or tool["name"] in wanted)
        return Offer(self._name, self._server, version or (self._known.version if self._known else ""), chosen)

    def _compare(self, offer: Offer) -> None:
        if self._known is not None and (how := difference(self._known, offer)):
            self._unfit = f"the MCP server {self._name} is not the one that the run began with: it offers {how}"

    # ---- asking

    def _result(self, method: str, params: Mapping[str, Any]) -> Any:
        answer = self._ask(method, params, START_S)
        if "error" in answer:
            raise ValueError(f"it refuses {method}: {str(answer['error'])[:_SHOWN]}")
        return answer["result"]

    def _ask(self, method: str, params: Mapping[str, Any], limit_s: float) -> messages.Message:
        """Send a request and return the answer, with `result` or `error`. Raises _Failed, SandboxError.

        `limit_s`: how long the answer may take, not counting time spent waiting for a processor.
        """
        self._id += 1
        self._send(messages.line({"id": self._id, "method": method, "params": dict(params)}))
        garbage: list[bytes] = []
        size, used_s = 0, 0.0
        while True:
            left_s = max(limit_s - used_s, 0.01)
            reply, lines = self._sandbox.exchange(self._name, self._unsent, left_s, MOST - size)
            self._unsent = b""
            size += len(lines)
            used_s += reply["used_s"]
            found: messages.Message | None = None
            for data in lines.splitlines():
                self._note(data, sent=False)
                message = messages.read(data)
                if message is not None and "method" in message:
                    self._hear(message)
                elif message is not None and message.get("id") == self._id and found is None:
                    found = message
                elif data.strip():
                    garbage.append(data)
            if found is not None and not reply["flooded"]:
                return found
            if reply["flooded"] or size >= MOST:
                raise _Failed(f"wrote more than {MOST >> 20} MB in answer to {method}")
            if reply["ended"]:
                raise _Failed(f"ended{_how(reply['exit'])} before it answered {method}{_why(garbage, reply)}")
            if reply["timed_out"] or used_s >= limit_s:
                raise _Failed(f"did not answer {method} within {limit_s:g} s{_why(garbage, reply)}")

    def _send(self, data: bytes) -> None:
        """Queue data; it is sent with the next wait for an answer."""
        self._unsent += data
        self._note(data.rstrip(b"\n"), sent=True)

    def _hear(self, message: messages.Message) -> None:
        """Handle a notification or a request from the server."""
        if message["method"] == "notifications/tools/list_changed":
            self._stale = True
        if "id" in message and message["id"] is not None:
            unknown = {"code": -32601, "message": "stackrank answers nothing but ping"}
            answer = {"result": {}} if message["method"] == "ping" else {"error": unknown}
            self._send(messages.line({"id": message["id"], **answer}))

    def _note(self, data: bytes, *, sent: bool) -> None:
        self._said.append(Spoken(server=self._name, sent=sent, line=data.decode("utf-8", "backslashreplace")))


def _how(status: int | None) -> str:
    return "" if status is None else f" by signal {-status}" if status < 0 else f" with status {status}"


def _why(garbage: list[bytes], reply: Mapping[str, Any]) -> str:
    """Return what may explain a failure: output that is no message, and the last line of standard error."""
    parts = []
    if garbage:
        shown = garbage[0].decode("utf-8", "replace").strip()[:_SHOWN]
        parts.append(f"it wrote {shown!r}, which is no message of MCP's")
    said = [each.strip() for each in str(reply["complaints"]).splitlines() if each.strip()]
    if said:
        parts.append(f"its last words: {said[-1][:_SHOWN]}")
    return f" ({'; '.join(parts)})" if parts else ""
