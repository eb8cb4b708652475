"""What servers of episodes do with odd clients, addresses and a terminal that is gone; none needs a sandbox."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from typer.testing import CliRunner

from stackrank.env.tools import tool_set
from stackrank.errors import UsageError
from stackrank.extensions.training.serve import MOST_WAITING, make_app
from stackrank.flows.cli.main import app
from stackrank.host.listening import listen
from tests.fixtures.flows import database

__all__ = ["database"]


def test_a_port_is_a_port() -> None:
    result = CliRunner().invoke(app, ["serve-env", "--port", "65536"])
    assert result.exit_code == 2 and "65535" in result.output


def test_a_port_that_is_taken_is_said_before_anything_is_served() -> None:
    with listen("127.0.0.1", 0) as listener:
        port = str(listener.getsockname()[1])
        result = CliRunner().invoke(app, ["serve-env", "bugs/vat-table", "--sandbox", "local", "--port", port])
    assert isinstance(result.exception, UsageError | SystemExit) and "serving" not in result.output


# ---- over WebSocket


class Env:
    """An environment that fails, or hangs until it is closed."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()

    async def areset(self, _: str) -> None:
        raise ZeroDivisionError

    async def astep(self, _: object) -> None:
        await self.closed.wait()
        raise ZeroDivisionError

    async def aclose(self) -> None:
        self.closed.set()


class Sessions:
    """What is served: environments of that kind."""

    names = ("bugs/a",)
    maker = SimpleNamespace(pool=SimpleNamespace(close=lambda: None), tools=tool_set("debug"))

    def __init__(self, idle_s: float = 60) -> None:
        self.envs: list[Env] = []
        self.idle_s = idle_s
        self.members: dict[str, Any] = {}

    def choose(self, _: object) -> str:
        return self.names[0]

    @asynccontextmanager
    async def env(self) -> AsyncIterator[Env]:
        self.envs.append(Env())
        yield self.envs[-1]


def test_pages_of_the_web_are_refused() -> None:
    sessions: Any = Sessions()
    with TestClient(make_app(sessions, ["127.0.0.1", "localhost"]), base_url="http://127.0.0.1:8765") as web:
        assert web.get("/health").status_code == 200
        assert web.get("/health", headers={"Host": "localhost:8765"}).status_code == 200
        assert web.get("/health", headers={"Host": "evil.example:8765"}).status_code == 400
        assert web.post("/reset", json={}, headers={"Origin": "http://evil.example"}).status_code == 403
        with (
            pytest.raises(WebSocketDisconnect),
            web.websocket_connect("ws://127.0.0.1:8765/ws", headers={"Origin": "http://evil.example"}),
        ):
            pass
    assert not sessions.envs
    with TestClient(make_app(sessions)) as web:  # whoever listens for others knows no names of this machine
        assert web.get("/health", headers={"Host": "trainer.example"}).status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 100_000, 400),
        (b'{"a":' * 100_000, 400),
        (b"NaN", 400),
        (b"\xff", 400),
        (b"", 400),
        (b" " * (2 << 20), 413),
    ],
    ids=["lists", "objects", "NaN", "bytes", "empty", "large"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/mcp", "/reset", "/step"])
def test_bodies_that_cannot_be_read_are_explained(path: str, body: bytes, status: int) -> None:
    sessions: Any = Sessions()
    with TestClient(make_app(sessions)) as web:
        answer = web.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (status, 422) and answer.json()["detail"]
        assert web.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).json()["result"]["tools"]
    assert not sessions.envs


def test_a_client_that_sends_nothing_does_not_keep_its_session() -> None:
    sessions: Any = Sessions(idle_s=0.05)
    with TestClient(make_app(sessions)) as web, web.websocket_connect("/ws") as idle:
        assert idle.receive_json()["data"]["code"] == "IDLE"
        with pytest.raises(WebSocketDisconnect):
            idle.receive_json()
    assert sessions.envs[0].closed.is_set()


def test_an_unexpected_error_is_reported_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    sessions: Any = Sessions()
    with TestClient(make_app(sessions)) as web, web.websocket_connect("/ws") as socket:
        socket.send_json({"type": "reset"})
        answer = socket.receive_json()["data"]
        assert answer["code"] == "INTERNAL_ERROR" and "call reset" in answer["message"]
        socket.send_json({"type": "state"})
        assert socket.receive_json()["type"] == "state"
        socket.send_json({"type": "close"})
        with pytest.raises(WebSocketDisconnect):
            socket.receive_json()
    assert "ZeroDivisionError" in caplog.text


def test_whoever_asks_on_without_reading_is_noticed(caplog: pytest.LogCaptureFixture) -> None:
    sessions: Any = Sessions()
    with TestClient(make_app(sessions)) as web, web.websocket_connect("/ws") as socket:
        for _ in range(MOST_WAITING + 2):
            socket.send_json({"type": "step", "data": {"tool": "eval"}})
        assert socket.receive_json()["data"]["code"] == "CAPACITY_REACHED"
        with pytest.raises(WebSocketDisconnect):
            socket.receive_json()
    assert sessions.envs[0].closed.is_set()
    assert not [
        record for record in caplog.records if record.levelno > logging.INFO and "unexpectedly" in record.message
    ]


def test_ports_are_free_again() -> None:
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert listening.family == socket.AF_INET
    listen("127.0.0.1", port).close()
