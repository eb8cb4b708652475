"""Launch of the dashboard."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stackrank.dashboard.launch import command


def test_dashboard_is_private_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_DATABASE_URL", "sqlite:///before.db")
    argv, environment = command(port=8600)
    assert argv[0] == sys.executable and "--server.address=127.0.0.1" in argv and "--server.port=8600" in argv
    assert "--browser.gatherUsageStats=false" in argv and "--server.headless=true" in argv
    assert environment["STACKRANK_DATABASE_URL"] == f"sqlite:///{Path.cwd() / 'before.db'}"


def test_command_line_does_not_show_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_DASHBOARD_OPEN", "1")
    argv, environment = command(host="0.0.0.0", database_url="postgresql://ada:pw-0@host/db")
    assert not any("pw-0" in part for part in argv) and "--server.address=0.0.0.0" in argv
    assert environment["STACKRANK_DATABASE_URL"].endswith("pw-0@host/db")


def test_launch_files_exist() -> None:
    argv, _ = command()
    paths = [part.split("=")[-1] for part in argv if part.endswith((".py", ".toml"))]
    assert len(paths) == 2 and all(Path(name).is_file() for name in paths)


def test_starting_needs_no_streamlit() -> None:
    program = "import sys, stackrank.dashboard.launch; print('streamlit' in sys.modules)"
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert completed.stdout.strip() == "False", completed.stderr
