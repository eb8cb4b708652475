"""What `stackrank mcp` does with odd clients, addresses and a terminal that is gone; none needs a sandbox."""

from __future__ import annotations

import asyncio
import io
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.actions import Action
from stackrank.env.sandbox.base import SandboxError
from stackrank.env.tools import tool_set
from stackrank.errors import UsageError
from stackrank.extensions.mcp import outside_run as outside
from stackrank.extensions.mcp.environment_server import _Guarded, serve_http
from stackrank.extensions.mcp.outside_run import Client, OutsideGame
from stackrank.flows.cli.main import app
from stackrank.wording import print_err

PLAYER = Client("Visual Studio Code", "1.2")


class Gone(io.StringIO):
    """A terminal that somebody closed."""

    def write(self, _: str) -> int:
        raise BrokenPipeError


def test_a_player_whose_terminal_is_gone_gets_an_answer(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SandboxError("the engine is gone")

    monkeypatch.setattr(outside, "play_prepared", fail)
    monkeypatch.setattr("sys.stderr", Gone())
    game = OutsideGame(Store(connect()), "vat-table", "debug", "", {"benchmark": "bugs", "sandbox": "local"}, print_err)
    assert "the engine is gone" in game.opening(PLAYER)
    assert not game.act(PLAYER, Action("eval")).ok
    game.wait()
    (entrant,) = game._spec(PLAYER)["entrants"]
    assert entrant["name"] == "outside/Visual Studio Code (debug)"
    assert entrant["config"] == {"name": "Visual Studio Code", "client": "Visual Studio Code 1.2"}


@pytest.mark.parametrize(
    ("method", "session", "status", "session_open"),
    [
        ("DELETE", b"plays", 200, True),
        ("DELETE", b"looks", 200, False),
        ("DELETE", b"plays", 404, False),
        ("DELETE", b"plays", 421, False),
        ("POST", b"plays", 200, False),
    ],
)
def test_only_the_player_ends_the_episode(method: str, session: bytes, status: int, session_open: bool) -> None:
    leaving: list[bool] = []
    game: Any = SimpleNamespace(leave=lambda: leaving.append(True))

    async def answer(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def nothing(*_: Any) -> Any:
        """Whoever asks is not there."""

    guarded = _Guarded(answer, game, "t", {"plays"})
    headers = [(b"authorization", b"Bearer t"), (b"mcp-session-id", session)]
    asyncio.run(guarded({"type": "http", "method": method, "headers": headers}, nothing, nothing))
    assert bool(leaving) is session_open


def test_an_address_that_no_request_can_name_is_refused() -> None:
    game: Any = SimpleNamespace(steps=5, tools=tool_set("debug"))
    for host in ("0.0.0.0", "::"):
        with pytest.raises(UsageError, match=f"--host {host} stands for all addresses"):
            serve_http(game, host, 0, "", print_err)


def test_a_port_is_a_port() -> None:
    result = CliRunner().invoke(app, ["mcp", "x", "--port", "65536"])
    assert result.exit_code == 2 and "65535" in result.output
