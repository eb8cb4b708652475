"""The Prefect server is killed under a run, at its start, in its middle and during scoring.

Episodes do not need it: they go on, and the command ends soon after them, with what they found.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.flows.services import prefect_server as server
from tests.fixtures.acts import ACTS, WITH_ACTS, release
from tests.fixtures.calls import CommandLine
from tests.fixtures.flows import in_home
from tests.fixtures.scripted import ENTRANT, RESOLVED, UNRESOLVED
from tests.flows.engine.test_resume import ATTEMPTS, POINTS, ROOT, assert_as_undisturbed, endpoint, scripted_run
from tests.support.openai_server import OpenAIServer
from tests.support.waiting import wait_for

pytestmark = pytest.mark.exhaustive

__all__ = ["endpoint"]


@pytest.fixture(scope="module")
def server_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("own-server")


@pytest.fixture
def own_server(server_home: Path) -> Iterator[psutil.Process]:
    """A Prefect server that may be killed; PREFECT_API_URL names it."""
    with pytest.MonkeyPatch.context() as patch:
        with in_home(server_home):
            url = server.ensure_server(say=print)
            status = server.server_status()
            variables = server.client_env(url)
        assert status is not None
        for name, value in variables.items():
            patch.setenv(name, value)
        process = psutil.Process(status["pid"])
        yield process
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


@pytest.mark.parametrize(("point", "act"), WITH_ACTS)
def test_the_prefect_server_is_killed(
    prefect_server: str,
    prefect_home: Path,
    own_server: psutil.Process,
    stackrank: CommandLine,
    endpoint: OpenAIServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    point: str,
    act: str,
) -> None:
    if point != "middle" or act:  # once as users have it: the client's patience takes longest
        monkeypatch.setenv("PREFECT_CLIENT_MAX_RETRIES", "0")
    spec = {"tasks": [RESOLVED, UNRESOLVED], "entrants": [ENTRANT], "attempts": ATTEMPTS, "workers": 2, "steps": 10}
    file = tmp_path / "run.yaml"
    file.write_text(json.dumps({**spec, "sandbox": "bubblewrap", "name": "alone"}))
    command = [sys.executable, "-m", "stackrank.flows.cli.main", "run", str(file), "--json"]
    run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: run.poll() is not None or queries.runs(connect()), "the run")
        wait_for(lambda: run.poll() is not None or POINTS[point](1), f"an episode at its {point}")
        assert run.poll() is None, run.communicate()
        if act:
            ACTS[act](1)
        own_server.kill()
        release(1, act)
        # Prefect's client alone would try to deliver every event for seconds, for minutes in all.
        out, err = run.communicate(timeout=600)
    finally:
        run.kill()
    assert (run.returncode, json.loads(out)["status"]) == (0, "finished"), err
    assert "the Prefect server cannot be reached" in err and "stackrank resume" not in err, "nothing is left to play"
    assert_as_undisturbed(1, endpoint)
    with in_home(prefect_home):
        variables = server.client_env(prefect_server)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    resumed = stackrank("resume", "alone", "--json")
    assert (resumed.status, resumed.json()["status"]) == (0, "finished")
    assert_as_undisturbed(1, endpoint)


def test_the_prefect_server_is_killed_before_the_run_starts(
    prefect_server: str,
    prefect_home: Path,
    own_server: psutil.Process,
    stackrank: CommandLine,
    endpoint: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The run has its row, and Prefect has never heard of it."""
    monkeypatch.setenv("PREFECT_CLIENT_MAX_RETRIES", "0")
    run_id = scripted_run()
    own_server.kill()
    url = os.environ["PREFECT_API_URL"]
    code = f"from stackrank.flows.cli.playing import evaluate; evaluate({run_id}, {url!r}, True, False)"
    process = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert json.loads(process.stdout)["status"] == "pending", process.stderr
    assert "the Prefect server cannot be reached" in process.stderr and f"`stackrank resume {run_id}`" in process.stderr
    with in_home(prefect_home):
        variables = server.client_env(prefect_server)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    resumed = stackrank("resume", str(run_id), "--json")
    assert (resumed.status, resumed.json()["status"]) == (0, "finished")
    assert_as_undisturbed(run_id, endpoint)
