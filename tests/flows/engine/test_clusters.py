"""Episodes on clusters: the same episodes, played by other processes than the one that hands them out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from tests.fixtures.calls import CommandLine

SPEC = "sandbox: bubblewrap\nbenchmark: bugs\nworkers: 2\nlimit: 3\nentrants: [{{agent: oracle}}]\nrunner: {}\n"
each_runner = pytest.mark.parametrize("runner", ["dask", "ray"])


@pytest.mark.exhaustive
@each_runner
@pytest.mark.usefixtures("prefect_server")
def test_a_run_on_a_cluster(runner: str, database: str, tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(SPEC.format(runner))
    # A process of its own: functions whose lines are measured cannot be sent to others.
    command = [sys.executable, "-m", "stackrank.flows.cli.main", "run", str(file), "--json"]
    # Into a file: what a cluster leaves running would keep a pipe open.
    with (tmp_path / "output").open("w+") as output, subprocess.Popen(command, stdout=output) as run:
        run.wait()
        output.seek(0)
        document = json.load(output)
    assert (run.returncode, document["status"], document["errors"]) == (0, "finished", 0)
    rows = queries.episodes(connect(database), "latest", counted=None)
    assert len(rows) == 3
    players = {row["claimed_by"] for row in rows}
    assert all(players) and not any(f":{run.pid}:" in player for player in players)


@each_runner
def test_without_the_package(
    runner: str, stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stackrank.flows.runs.preparing.prepared_run.find_spec", lambda name: None)
    file = tmp_path / "run.yaml"
    file.write_text(SPEC.format(runner))
    result = stackrank("run", str(file))
    assert result.status == 2
    assert f"pip install 'stackrank[{runner}]'" in result.sentence()
