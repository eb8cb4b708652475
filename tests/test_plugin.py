"""An installed package with one plug-in of each kind."""

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
VISIT = """
from pathlib import Path
from streamlit.testing.v1 import AppTest
from stackrank import dashboard

app = AppTest.from_file(str(Path(dashboard.__file__).with_name("app.py")), default_timeout=600)
app.switch_page(str(Path({page!r})))
app.run()
assert not app.exception, app.exception[0].stack_trace
print(*(element.value for element in (*app.title, *app.markdown)))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the plug-in is installed."""
    folder = tmp_path_factory.mktemp("plugin")
    compiled = shutil.ignore_patterns("__pycache__")  # by others, meanwhile
    source = shutil.copytree(ROOT / "tests" / "support" / "plugin", folder / "source", ignore=compiled)
    pip("install", "--no-deps", "--no-build-isolation", "--no-index", "--target", folder / "site", source)
    return folder / "site"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def python(site: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the plug-in installed."""
    url = f"sqlite:///{home / 'stackrank.db'}"
    environment = {**os.environ, "PYTHONPATH": str(site), "STACKRANK_DATABASE_URL": url}
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def stackrank(site: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return python(site, home, "-m", "stackrank.flows.cli.main", *arguments)


def test_plugins_play_and_export_an_episode(site: Path, home: Path) -> None:
    process = python(site, home, "-c", PLAY)
    assert process.returncode == 0, process.stderr
    played = json.loads(process.stdout.splitlines()[-1])
    assert (played["episode"]["verdict"], played["episode"]["stop_reason"]) == ("resolved", "submitted")
    assert [step["tool"] for step in played["steps"]] == ["", "count", "rewrite", "submit"]
    assert played["steps"][1]["observation"] == "2 lines"
    assert played["episode"]["sandbox"] == "plain" and played["run"]["benchmark"] == "tiny"
    exported = stackrank(site, home, "export", "--format", "verdicts")
    assert json.loads(exported.stdout) == {"episode": played["episode"]["id"], "verdict": "resolved"}
    assert "the verdict of an episode" in stackrank(site, home, "export", "--help").stdout


@pytest.mark.exhaustive
def test_plugins_are_listed(site: Path, home: Path) -> None:
    benchmarks = json.loads(stackrank(site, home, "benchmarks", "--json").stdout)
    assert ("tiny", 1) in [(row["benchmark"], row["tasks"]) for row in benchmarks]
    checks = json.loads(stackrank(site, home, "doctor", "--json").stdout)["checks"]
    assert "plain" in [check["check"] for check in checks]
    wrong = stackrank(site, home, "run", "--agent", "oracle", "--sandbox", "vm")
    assert wrong.returncode == 2 and "docker, bubblewrap, local or plain, not 'vm'" in wrong.stderr


@pytest.mark.exhaustive
def test_plugin_commands(site: Path, home: Path) -> None:
    assert stackrank(site, home, "greet", "Ann").stdout == "Hello Ann\n"
    unharmed = stackrank(site, home, "runs", "--json")
    assert (unharmed.returncode, unharmed.stderr) == (0, "")
    listed = stackrank(site, home, "--help")
    assert "Greet somebody." in listed.stdout and "broken" not in listed.stdout
    assert listed.stderr.startswith("warning: the plug-in 'broken' of the package stackrank-plugin-for-tests")
    process = stackrank(site, home, "broken")
    assert process.returncode == 1 and "plugin_for_tests_that_is_missing" in process.stderr.splitlines()[-1]


def test_a_page(site: Path, home: Path) -> None:
    page = python(site, home, "-c", VISIT.format(page=str(site / "greeting.py")))
    assert page.returncode == 0, page.stderr
    assert page.stdout.split("\n")[0] == "Greeting A plug-in drew this."
