"""The home folder and its locks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stackrank.errors import NotReady
from stackrank.home import locked


def test_lock_creates_its_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "new"))
    with locked("environments/abc"):
        assert (tmp_path / "new" / "environments" / "abc.lock").exists()


def test_unwritable_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "file"))
    with pytest.raises(NotReady, match="STACKRANK_HOME"), locked("a/b"):
        pass


def test_waiting_for_a_lock_is_reported_once_with_its_holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path))
    messages: list[str] = []
    with locked("host"):
        waiting = locked("host", when_busy=lambda: messages.append("busy"), patience_s=0.05)
        with pytest.raises(NotReady, match=f"Process {os.getpid()} has held the lock"), waiting:
            raise AssertionError("nobody gets in")
    with locked("host", when_busy=lambda: messages.append("busy"), patience_s=0.05):
        assert messages == ["busy"]
