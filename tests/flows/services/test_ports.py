"""Addresses and ports that cannot be listened on."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from stackrank.errors import UsageError
from stackrank.flows.cli.main import app
from stackrank.host.listening import listen


def test_what_cannot_be_listened_on_is_one_sentence() -> None:
    with listen("127.0.0.1", 0) as listener, pytest.raises(UsageError, match="choose another --port or --host"):
        listen("127.0.0.1", listener.getsockname()[1])
    with pytest.raises(UsageError, match="is not a name or address"):
        listen("no such host", 0)


@pytest.mark.parametrize("command", ["dashboard", "up", "worker", "metrics", "demo-endpoint"])
def test_a_port_is_a_port(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--port", "65536"])
    assert result.exit_code == 2 and "65535" in result.output
