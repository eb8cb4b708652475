"""`stackrank backup` and `stackrank restore`: what comes back is what was there, or nothing changes."""

from __future__ import annotations

import sqlite3
import tarfile
from pathlib import Path

import pytest

from stackrank.db.connection.engine import connect
from stackrank.db.maintenance.copy import counts
from stackrank.home import home
from tests.fixtures.calls import CommandLine
from tests.flows.cli.test_database import add_run


@pytest.fixture(autouse=True)
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a key, a proof, a cache and Prefect's database."""
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    for path, content in {
        "decisions.key": "secret",
        "proofs/a.json": "{}",
        "environments/x/lib.py": "cache",
        "worker.lock": "1",
    }.items():
        file = home() / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    (home() / "decisions.key").chmod(0o600)
    (home() / "prefect").mkdir()
    with sqlite3.connect(home() / "prefect" / "prefect.db") as prefect:
        prefect.execute("PRAGMA journal_mode = WAL")
        prefect.execute("CREATE TABLE deployment (name TEXT)")
        prefect.execute("INSERT INTO deployment VALUES ('nightly')")
    prefect.close()
    return home()


def move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> Path:
    """Go to another machine: another home and another database."""
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / name))
    monkeypatch.setenv("STACKRANK_DATABASE_URL", f"sqlite:///{tmp_path / name}.db")
    return tmp_path / name


def test_a_backup_comes_back_on_another_machine(
    stackrank: CommandLine, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_run(database, "one")
    add_run(database, "two")
    before = counts(connect(database))
    file = tmp_path / "b.tar.gz"
    assert "2 runs" in stackrank("backup", str(file)).out
    assert file.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob(".backup-*"))

    other = move(tmp_path, monkeypatch, "other")
    document = stackrank("restore", str(file), "--json").json()
    assert counts(connect(f"sqlite:///{other}.db")) == before == document["rows"]
    restored = sorted(path.relative_to(other).as_posix() for path in other.rglob("*") if path.is_file())
    assert restored == ["decisions.key", "prefect/prefect.db", "proofs/a.json"]
    assert (other / "decisions.key").read_text() == "secret"
    assert (other / "decisions.key").stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(other / "prefect" / "prefect.db") as prefect:
        assert prefect.execute("SELECT name FROM deployment").fetchall() == [("nightly",)]
    prefect.close()


def test_nothing_is_overwritten(
    stackrank: CommandLine, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_run(database, "one")
    file = tmp_path / "b.tar.gz"
    stackrank("backup", str(file))
    assert "already exists" in stackrank("backup", str(file)).sentence()
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "empty"))
    assert "already has rows" in stackrank("restore", str(file)).sentence()
    assert not (tmp_path / "empty").exists()
    other = move(tmp_path, monkeypatch, "other")
    other.mkdir()
    (other / "decisions.key").write_text("another")
    assert "decisions.key already exists and differs" in stackrank("restore", str(file)).sentence()
    assert (other / "decisions.key").read_text() == "another"
    assert not Path(f"{other}.db").exists()


@pytest.mark.parametrize("damage", ["cut", "changed", "foreign", "text"])
def test_a_damaged_backup_changes_nothing(
    damage: str, stackrank: CommandLine, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_run(database, "one")
    file = tmp_path / "b.tar.gz"
    stackrank("backup", str(file))
    content = file.read_bytes()
    if damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "text":
        file.write_text("backup")
    else:
        unpacked = tmp_path / "unpacked"
        with tarfile.open(file) as archive:
            archive.extractall(unpacked, filter="data")
        (unpacked / "home" / "decisions.key").write_text("forged")
        names = ["manifest.json", "home/decisions.key"]
        if damage == "foreign":
            (unpacked / "evil").write_text("x")
            names.append("evil")
        with tarfile.open(file, "w:gz") as archive:
            for name in names:
                archive.add(unpacked / name, f"../{name}" if name == "evil" else name)
    other = move(tmp_path, monkeypatch, "other")
    assert "is not a whole backup of stackrank: take another copy" in stackrank("restore", str(file)).sentence()
    assert not other.exists() and not Path(f"{other}.db").exists() and not (tmp_path / "evil").exists()


def test_a_missing_file_is_one_sentence(stackrank: CommandLine, database: str, tmp_path: Path) -> None:
    assert str(tmp_path / "no.tar.gz") in stackrank("restore", str(tmp_path / "no.tar.gz")).sentence()
