"""A package that is installed beside stackrank adds a tool, an agent, a benchmark and a sandbox."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.packages import pip

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PLAY = """
import json
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from tests.fixtures.playing import play_run

entrant = {"agent": "counter", "tools": "count,rewrite"}
run = play_run(benchmark="tiny", sandbox="plain", entrants=[entrant], retries=0)
(episode,) = queries.episodes(connect(), run)
steps = queries.steps(connect(), episode["id"])
print(json.dumps({"run": queries.run(connect(), run), "episode": episode, "steps": steps}, default=str))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the plug-in is installed in."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(ROOT / "tests" / "support" / "plugin", folder / "source")
    pip("install", "--no-deps", "--no-build-isolation", "--no-index", "--target", folder / "site", source)
    return folder / "site"


def call(site: Path, home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    url = f"sqlite:///{home / 'stackrank.db'}"
    environment = {**os.environ, "PYTHONPATH": str(site), "STACKRANK_DATABASE_URL": url}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_a_plugin_is_played(installed: Path, tmp_path: Path) -> None:
    done = call(installed, tmp_path, "-c", PLAY)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout.splitlines()[-1])
    assert (document["episode"]["verdict"], document["episode"]["stop_reason"]) == ("resolved", "submitted")
    assert [step["tool"] for step in document["steps"]] == ["", "count", "rewrite", "submit"]
    assert document["steps"][1]["observation"] == "2 lines"
    assert document["episode"]["sandbox"] == "plain" and document["run"]["benchmark"] == "tiny"


def test_a_plugin_is_listed_and_a_wrong_name_lists_it(installed: Path, tmp_path: Path) -> None:
    stackrank = ("-m", "stackrank.flows.cli.main")
    listed = json.loads(call(installed, tmp_path, *stackrank, "benchmarks", "--json").stdout)
    assert ("tiny", 1) in [(row["benchmark"], row["tasks"]) for row in listed]
    checks = json.loads(call(installed, tmp_path, *stackrank, "doctor", "--json").stdout)["checks"]
    assert "plain" in [check["check"] for check in checks]
    wrong = call(installed, tmp_path, *stackrank, "run", "--agent", "oracle", "--sandbox", "vm")
    assert wrong.returncode == 2 and "docker, bubblewrap, local or plain, not 'vm'" in wrong.stderr
