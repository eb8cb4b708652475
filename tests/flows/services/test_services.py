"""dashboard, up and down, with the real programs."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.dashboard.serving import free_port, wait_until_it_serves
from tests.fixtures.calls import CommandLine, interruptible

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=300) as answer:
        return str(answer.read().decode())


def test_up_finds_what_runs_and_down_ends_it(
    stackrank: CommandLine, prefect_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    port = free_port()
    first = stackrank("up", "--port", str(port), "--json")
    try:
        document = first.json()
        assert (first.status, document["dashboard"]) == (0, f"http://127.0.0.1:{port}/")
        assert document["prefect"] == prefect_server
        assert "starting the dashboard" in first.err
        assert fetch(f"{document['dashboard']}_stcore/health") == "ok"
        assert "OK" in fetch(document["worker"])
        repeated = stackrank("up", "--port", str(port))
        assert document["dashboard"] in repeated.out
        assert "starting" not in repeated.err
    finally:
        down = stackrank("down", "--json")
    ended = {"ended": ["worker", "dashboard"], "unfinished": []}
    assert down.json() == ended, "a server that was configured is not ours to end"
    assert "nothing" in stackrank("down").out


def test_dashboard_in_the_foreground(database: str) -> None:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "stackrank.flows.cli.main", "dashboard", "--port", str(port)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible,
    )  # fmt: skip
    try:
        wait_until_it_serves(f"http://127.0.0.1:{port}", process)
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=600)
    assert f"127.0.0.1:{port}" in err.splitlines()[0]


def test_an_address_that_is_not_ours(stackrank: CommandLine) -> None:
    assert "cannot listen" in stackrank("dashboard", "--host", "192.0.2.1").sentence()
