"""Episodes on a Dask cluster: the same episodes, played by other processes than the one that hands them out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stackrank.db import queries
from stackrank.db.engine import connect
from tests.flows.calls import CommandLine

SPEC = "runner: dask\nsandbox: bubblewrap\nbenchmark: bugs\nworkers: 2\nlimit: 3\nentrants: [{agent: oracle}]\n"


@pytest.mark.usefixtures("prefect_server")
def test_a_run_on_a_dask_cluster(database: str, tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(SPEC)
    # A process of its own: functions whose lines are measured cannot be sent to others.
    command = [sys.executable, "-m", "stackrank.flows.cli.main", "run", str(file), "--json"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    document = json.loads(ran.stdout)
    assert (ran.returncode, document["status"], document["errors"]) == (0, "finished", 0)
    rows = queries.episodes(connect(database), "latest", counted=None)
    assert len(rows) == 3
    players = {row["claimed_by"] for row in rows}
    assert all(players) and not any(f":{os.getpid()}:" in player for player in players)


def test_without_the_package(stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stackrank.flows.runs.check.find_spec", lambda name: None)
    file = tmp_path / "run.yaml"
    file.write_text(SPEC)
    result = stackrank("run", str(file))
    assert result.status == 2
    assert "pip install 'stackrank[dask]'" in result.sentence()
