"""A debugger that says too much: the host accepts every report of its session."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.sandbox.replies.debugger import Debugged, Paused
from stackrank.env.sandbox.replies.decoder import decode
from stackrank.extensions.languages.guest.session import Session

DEBUGGER = """\
import json, sys

def send(**message):
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    sys.stdout.buffer.flush()

lines = iter(sys.stdin.buffer.readline, b"")
variables = [{"name": "v%d" % number, "value": "x" * 2000} for number in range(100)]
frame = {"id": 1, "name": "f" * 200_000, "line": 1, "source": {"path": "/" + "c" * 200_000}}
answers = {
    "stackTrace": {"stackFrames": [frame] * 70},
    "scopes": {"scopes": [{"variablesReference": 1}] * 2},
    "variables": {"variables": variables},
    "evaluate": {"result": "y" * 20_000},
}
for line in lines:
    next(lines)
    request = json.loads(sys.stdin.buffer.read(int(line.split(b":")[1])))
    command = request["command"]
    send(type="response", request_seq=request["seq"], success=True, body=answers.get(command, {}))
    if command == "launch":
        send(type="event", event="initialized")
    elif command == "configurationDone":
        send(type="event", event="stopped", body={"reason": "exception", "threadId": 1, "text": "z" * 100_000})
"""
LAUNCH = {
    "protocol": "dap", "adapter": [sys.executable, "-c", DEBUGGER], "over_socket": False, "cwd": "/", "stop_in": [],
    "arguments": {},
}  # fmt: skip


@pytest.fixture
def session(tmp_path: Path) -> Any:
    (tmp_path / "a.js").write_text("x\n")
    session = Session(str(tmp_path))

    def answer(*commands: str) -> Debugged:
        request = {"commands": "\n".join(commands), "target": "", "timeout_s": 60, "scripts": True, "launch": LAUNCH}
        return decode(Debugged, json.dumps(session.answer(request)).encode())

    yield answer
    answer("q")


def test_a_session_reports_a_bounded_amount(session: Any) -> None:
    paused = session("c", *(["p x"] * 40))
    assert isinstance(paused.standing, Paused) and paused.standing.event == "exception", paused.text[:500]
    assert len(paused.standing.exception or "") == 1000 and len(paused.standing.stack) == 60
    assert len(paused.standing.function) == len(paused.standing.file) == 4096
    assert len(paused.standing.locals) == 100 and len(paused.text) == 256 << 10


def test_breakpoints_are_limited(session: Any) -> None:
    reply = session(*(f"b a.js:1 if x == {number}" for number in range(1001)))
    assert "there are 1000 breakpoints, the most that there may be" in reply.text
    assert len(reply.breakpoints) == 1000 and len(reply.points) == 500
