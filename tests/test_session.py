"""An interrupted pytest session leaves no server, sandbox or database behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.env.sandbox.test_infrastructure import left
from tests.fixtures.env import ISOLATING, usable
from tests.support.session import marked
from tests.support.side_by_side import GROUPS, RANKS
from tests.support.waiting import wait_for

ROOT = Path(__file__).parents[1]
CONFTEST = """
pytest_plugins = [
    "tests.support.session", "tests.support.databases",
    "tests.fixtures.flows", "tests.fixtures.db", "tests.fixtures.dashboard",
]
"""
TEST = """
import json, os, pathlib, threading
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.registry import backend
from stackrank.home import process_mark

def test_that_never_ends({fixtures}):
    kept = [Sandbox(backend(kind), SandboxSpec()) for kind in {kinds}]
    made = dict(mark=os.environ["TEST_SESSION_MARK"], owner=process_mark(), folder=str(postgres.folder))
    pathlib.Path("part").write_text(json.dumps(made))
    os.rename("part", "made")
    threading.Event().wait()
"""
EVERYTHING = "postgres, prefect_server, browser, served"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "fixtures", "options"),
    [
        pytest.param(signal.SIGTERM, EVERYTHING, ["-n", "1"], marks=pytest.mark.exhaustive),
        (signal.SIGTERM, "postgres", []),
        pytest.param(signal.SIGKILL, "postgres", [], marks=pytest.mark.exhaustive),
    ],
)
def test_session_end_stops_everything_it_started(
    tmp_path: Path, end: signal.Signals, fixtures: str, options: list[str]
) -> None:
    kinds = [usable(kind) for kind in ISOLATING]
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TEST.format(fixtures=fixtures, kinds=ISOLATING))
    command = [sys.executable, "-m", "pytest", "--rootdir", str(tmp_path), "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    log = tmp_path / "log"
    with log.open("wb") as output:
        session = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=output, stderr=output)
    try:
        wait_for(lambda: session.poll() is not None or (tmp_path / "made").exists(), log.read_text)
        assert session.poll() is None, log.read_text()
        document = json.loads((tmp_path / "made").read_text())
        mark = document["mark"]
        running = " ".join(process.name() for process in marked(mark))
        assert all(name in running for name in ("postgres", *(["chrom", "python"] if "browser" in fixtures else [])))
        assert all(left(kind, document["owner"]) for kind in kinds)
        session.send_signal(end)
        session.wait(600)
        wait_for(lambda: not marked(mark), lambda: [process.cmdline() for process in marked(mark)])
        wait_for(
            lambda: not any(left(kind, document["owner"]) for kind in kinds), "the end of its sandboxes", every_s=0.1
        )
        wait_for(lambda: not Path(document["folder"]).exists(), "the end of its database", every_s=0.1)
    finally:
        session.kill()


def test_grouped_files_exist_and_are_unique() -> None:
    assert [file for file in RANKS if not (ROOT / file).is_file()] == []
    assert len(RANKS) == sum(map(len, GROUPS))
