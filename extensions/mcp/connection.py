"""The host's end of an MCP server: sends one request at a time, and keeps every line for the record.

The SDK's own client needs an event loop and tasks that read at any time. A sandbox answers one request after the other,
so the few requests that are needed are made here, and the SDK's types check the answers.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from stackrank.env.sandbox.base import Refused
from stackrank.env.sandbox.client import GRACE_S, Sandbox
from stackrank.env.sandbox.guest.core.allowance import PATIENCE
from stackrank.env.sandbox.replies.programs import Exchanged
from stackrank.env.state import Spoken
from stackrank.env.tools.servers import Offer, ToolAnswer, ToolServer, ToolServerChanged, ToolServerFailed
from stackrank.errors import StackrankError
from stackrank.extensions.mcp import messages
from stackrank.extensions.mcp.offers import describe_difference
from stackrank.wording import count_of

START_S = 60.0
"""Seconds that a server may take for each answer while it starts."""
MOST = 1 << 20
"""The most bytes of an answer, including everything that comes before it."""
_MAX_PAGES = 50
_MOST_TOOLS = 10_000
_MAX_QUOTED = 200
_METHOD_NOT_FOUND = -32601


class _Failed(StackrankError):
    """The server did not answer as it should. The message continues a sentence that begins with the server's name."""


class Connection:
    """One server in one sandbox. Not thread-safe."""

    def __init__(self, sandbox: Sandbox, name: str, server: ToolServer, expected: Offer | None = None) -> None:
        """`expected`: the only offer that is accepted; None: any."""
        self._sandbox = sandbox
        self._name = name
        self._server = server
        self._expected = expected
        self._running = False
        self._tools_changed = False
        """Whether the server announced that its tools have changed."""
        self._unusable = ""
        """Why the server cannot be used in this episode any more; empty if it can."""
        self._request_id = 0
        self._unsent = b""
        self._spoken: list[Spoken] = []

    def open(self) -> Offer:
        """Start the server and ask for its tools. Raises ToolServerFailed, ToolServerChanged, SandboxError."""
        try:
            offer = self._start()
        except _Failed as error:
            raise ToolServerFailed(f"the MCP server {self._name} {error}") from None
        if self._unusable:
            raise ToolServerChanged(self._unusable)
        return offer

    def call(self, tool: str, arguments: Mapping[str, Any], timeout_s: float) -> ToolAnswer:
        """Call a tool. Raises Refused if there is no valid answer, SandboxError.

        A server that fails is stopped, and started again with the next call.
        """
        try:
            if not self._unusable and not self._running:
                self._start()
            elif self._tools_changed:
                self._compare(self._list_tools())
            if self._unusable:
                raise Refused(f"{self._unusable}; it cannot be used any more in this episode")
            answer = self._request("tools/call", {"name": tool, "arguments": dict(arguments)}, timeout_s)
            if "error" in answer:  # about the call itself; a tool reports its own failure in the result
                error = answer["error"]
                reason = error.get("message") if isinstance(error, dict) else error
                return ToolAnswer(f"The server refused the call: {reason}", False)
            return messages.answer_of(answer["result"])
        except ValueError as error:
            raise Refused(f"the MCP server {self._name} answered, but {error}") from None
        except _Failed as error:
            self.close()
            raise Refused(f"the MCP server {self._name} {error}; the next call restarts it") from None

    def close(self) -> None:
        """Stop the server. Raises SandboxError."""
        self._running = False
        self._sandbox.stop(self._name)

    def spoken(self) -> list[Spoken]:
        """Return the lines that were sent and received since the last call of this method."""
        spoken, self._spoken = self._spoken, []
        return spoken

    # ---- starting

    def _start(self) -> Offer:
        try:
            self._unsent = b""
            self._sandbox.serve(self._name, self._server.command, self._server.env, self._server.prefix)
            self._running, self._tools_changed = True, False
        except Refused as error:
            raise _Failed(f"cannot be started: {error}") from None
        try:
            version = messages.version_of(self._request_result("initialize", messages.client_info()))
            self._send(messages.line({"method": "notifications/initialized"}))
            offer = self._list_tools(version)
        except ValueError as error:
            raise _Failed(f"cannot be used: {error}") from None
        self._compare(offer)
        return offer

    def _list_tools(self, version: str = "") -> Offer:
        tools: list[messages.Message] = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            page, cursor = messages.tools_of(self._request_result("tools/list", params))
            tools += page
            if len(tools) > _MOST_TOOLS:
                raise ValueError(f"it offers more than {count_of(_MOST_TOOLS, 'tool')}")
            if cursor is None:
                break
        self._tools_changed = False
        names = [tool["name"] for tool in tools]
        if duplicates := sorted(name for name, count in Counter(names).items() if count > 1):
            raise ValueError(f"it offers {duplicates[0]!r} twice")
        selected = self._server.tools
        if missing := [name for name in selected or () if name not in names]:
            raise ValueError(f"it has no tool {missing[0]!r}: it offers {', '.join(names)[:_MAX_QUOTED] or 'none'}")
        if not names:
            raise ValueError("it offers no tool")
        offered = tuple(tool for tool in tools if selected is None or tool["name"] in selected)
        return Offer(self._name, self._server, version or (self._expected.version if self._expected else ""), offered)

    def _compare(self, offer: Offer) -> None:
        if self._expected is not None and (difference := describe_difference(self._expected, offer)):
            self._unusable = f"the MCP server {self._name} has changed since the run began: {difference}"

    # ---- requests

    def _request_result(self, method: str, params: Mapping[str, Any]) -> Any:
        answer = self._request(method, params, START_S)
        if "error" in answer:
            raise ValueError(f"it refuses {method}: {str(answer['error'])[:_MAX_QUOTED]}")
        return answer["result"]

    def _request(self, method: str, params: Mapping[str, Any], limit_s: float) -> messages.Message:
        """Send a request and return the answer, with `result` or `error`. Raises _Failed, SandboxError.

        `limit_s`: how long the answer may take, not counting time spent waiting for a processor.
        """
        self._request_id += 1
        self._send(messages.line({"id": self._request_id, "method": method, "params": dict(params)}))
        garbage: list[bytes] = []
        size, used_s = 0, 0.0
        deadline = time.monotonic() + PATIENCE * limit_s + GRACE_S  # whatever the sandbox says about its use of time
        while True:
            remaining_s = max(limit_s - used_s, 0.01)
            reply, output = self._sandbox.exchange(self._name, self._unsent, remaining_s, MOST - size)
            self._unsent = b""
            size += len(output)
            used_s += reply.used_s
            answer: messages.Message | None = None
            for line in output.splitlines():
                self._record(line, sent=False)
                message = messages.read(line)
                if message is not None and "method" in message:
                    self._handle(message)
                elif message is not None and message.get("id") == self._request_id and answer is None:
                    answer = message
                elif line.strip():
                    garbage.append(line)
            if answer is not None and not reply.flooded:
                return answer
            if reply.flooded or size >= MOST:
                raise _Failed(f"wrote more than {MOST >> 20} MB in answer to {method}")
            if reply.ended:
                status = _describe_status(reply.exit)
                raise _Failed(f"ended{status} before it answered {method}{_explain(garbage, reply)}")
            if reply.timed_out or used_s >= limit_s or time.monotonic() > deadline:
                raise _Failed(f"did not answer {method} within {limit_s:g} s{_explain(garbage, reply)}")

    def _send(self, line: bytes) -> None:
        """Queue a line; it is sent with the next wait for an answer."""
        self._unsent += line
        self._record(line.rstrip(b"\n"), sent=True)

    def _handle(self, message: messages.Message) -> None:
        """Handle a notification or a request from the server."""
        if message["method"] == "notifications/tools/list_changed":
            self._tools_changed = True
        if "id" in message and message["id"] is not None:
            error = {"code": _METHOD_NOT_FOUND, "message": "stackrank answers only ping"}
            answer = {"result": {}} if message["method"] == "ping" else {"error": error}
            self._send(messages.line({"id": message["id"], **answer}))

    def _record(self, line: bytes, *, sent: bool) -> None:
        self._spoken.append(Spoken(server=self._name, sent=sent, line=line.decode("utf-8", "backslashreplace")))


def _describe_status(status: int | None) -> str:
    return "" if status is None else f" by signal {-status}" if status < 0 else f" with status {status}"


def _explain(garbage: list[bytes], reply: Exchanged) -> str:
    """Return what may explain a failure: output that is no message, and the last line of standard error."""
    reasons = []
    if garbage:
        quoted = garbage[0].decode("utf-8", "replace").strip()[:_MAX_QUOTED]
        reasons.append(f"it wrote {quoted!r}, which is not an MCP message")
    complaints = [line.strip() for line in reply.complaints.splitlines() if line.strip()]
    if complaints:
        reasons.append(f"last line of its standard error: {complaints[-1][:_MAX_QUOTED]}")
    return f" ({'; '.join(reasons)})" if reasons else ""
