"""`stackrank db`, and runs by owner, project and tag."""

from __future__ import annotations

from pathlib import Path

from stackrank.db.connection.engine import HEAD, connect
from stackrank.db.writes.store import Store
from tests.fixtures.calls import CommandLine


def add_run(database: str, name: str, **fields: object) -> None:
    store = Store(connect(database))
    benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=[])
    store.start_run(store.create_run(name=name, benchmark_id=benchmark.id, spec={}, **fields))  # type: ignore[arg-type]


def test_info_and_upgrade(stackrank: CommandLine, database: str) -> None:
    Path(database.removeprefix("sqlite:///")).unlink()  # nobody has made it yet
    assert stackrank("db", "info", "--json").json()["schema"] is None
    assert "stackrank db upgrade" in stackrank("db", "info").out
    assert stackrank("db", "upgrade", "--json").json()["schema"] == HEAD
    add_run(database, "one")
    document = stackrank("db", "info", "--json").json()
    assert (document["schema"], document["rows"]["run"]) == (HEAD, 1)
    assert document["bytes"] > 0
    assert "already" in stackrank("db", "upgrade").out


def test_copy(stackrank: CommandLine, database: str, tmp_path: Path) -> None:
    add_run(database, "one")
    target = f"sqlite:///{tmp_path / 'copy.db'}"
    result = stackrank("db", "copy", "--from", database, "--to", target, "--json")
    assert result.json()["rows"]["run"] == 1
    assert "run: 1 row" in result.err
    assert "already has rows" in stackrank("db", "copy", "--from", database, "--to", target).sentence()
    assert "same database" in stackrank("db", "copy", "--from", database, "--to", database).sentence()
    missing = f"sqlite:///{tmp_path / 'typo.db'}"
    assert "does not exist" in stackrank("db", "copy", "--from", missing, "--to", target).sentence()


def test_runs_are_filtered(stackrank: CommandLine, database: str) -> None:
    add_run(database, "mine", owner="ada", project="p1", tags=["nightly", "eu"])
    add_run(database, "yours", owner="bob", project="p1", tags=["nightly"])

    def names(*filters: str) -> list[str]:
        return [row["name"] for row in stackrank("runs", *filters, "--json").json()]

    assert names() == ["yours", "mine"]
    assert names("--owner", "ada") == ["mine"]
    assert names("--project", "p1", "--tag", "nightly") == ["yours", "mine"]
    assert names("--tag", "nightly", "--tag", "eu") == ["mine"]
    assert names("--leaderboard", "none") == []
    assert "No run matches" in stackrank("runs", "--owner", "eve").out
    output = stackrank("runs").out
    assert "mine" in output and "+00:00" not in output and "." not in output.splitlines()[-1].split()[-1]


def test_archive_and_prune(stackrank: CommandLine, database: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        add_run(database, name, tags=["smoke"])
    assert "is running" in stackrank("db", "prune", "one").sentence()
    for run in (1, 2):
        Store(connect(database)).end_run(run, "finished")
    assert stackrank("db", "prune").status == 2
    assert "name the runs" in stackrank("db", "archive", "--to", str(tmp_path / "a")).err
    assert "deleted 0 runs with no episodes" in stackrank("db", "prune", "--older-than", "1").out
    assert (
        "would delete 2 runs, 1 (one), 2 (two) with no episodes"
        in stackrank("db", "prune", "--tag", "smoke", "--dry-run").out
    )
    archived = stackrank("db", "archive", "one", "--to", str(tmp_path / "kept"), "--json").json()
    assert (archived["runs"], archived["rows"]["runs"]) == ([1], 1)
    assert "name a new folder" in stackrank("db", "archive", "two", "--to", str(tmp_path / "kept")).sentence()
    assert stackrank("db", "prune", "one", "--json").json()["rows"]["run"] == 1
    assert [row["name"] for row in stackrank("runs", "--json").json()] == ["two"]
