"""The home folder and its locks."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from stackrank.db.connection.engine import connect
from stackrank.errors import NotReady
from stackrank.home import locked, write_whole


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


def test_other_users_cannot_read_what_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "share" / "stackrank"))
    old_mask = os.umask(0o022)
    try:
        for number in range(2):  # new, and replaced
            write_whole(tmp_path / "share" / "stackrank" / "proofs" / "abc.json", str(number))
        connect(f"sqlite:///{tmp_path}/results/stackrank.db").dispose()
        with locked("prefixes/abc"):
            modes = {str(path.relative_to(tmp_path)): stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    finally:
        os.umask(old_mask)
    folders = {"share", "share/stackrank", "share/stackrank/proofs", "share/stackrank/prefixes", "results"}
    assert {path for path in modes if modes[path] == 0o700} == folders
    files = {path: mode for path, mode in modes.items() if path not in folders}
    assert {path for path in files if not path.endswith(".lock") and files[path] & 0o077} == set()
    assert len(files) == 3
