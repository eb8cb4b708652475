"""The home folder and its locks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stackrank.errors import NotReady
from stackrank.home import locked


def test_a_lock_below_a_folder_that_nobody_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "new"))
    with locked("environments/abc"):
        assert (tmp_path / "new" / "environments" / "abc.lock").exists()


def test_a_home_that_cannot_be_written_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "file"))
    with pytest.raises(NotReady, match="STACKRANK_HOME"), locked("a/b"):
        pass


def test_who_waits_for_a_lock_says_so_once_and_names_who_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path))
    said: list[str] = []
    with locked("host"):
        waiting = locked("host", when_busy=lambda: said.append("busy"), patience_s=0.05)
        with pytest.raises(NotReady, match=f"Process {os.getpid()} has held the lock"), waiting:
            raise AssertionError("nobody gets in")
    with locked("host", when_busy=lambda: said.append("busy"), patience_s=0.05):
        assert said == ["busy"]
