"""The real Prefect server that tests of flows share: settings, login, schedules, and what commands say without it."""

from __future__ import annotations

import base64
import json
import os
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest

from stackrank.flows.services import prefect_server as server
from tests.fixtures.flows import Answer
from tests.support.waiting import wait_for


def test_real_server_is_found(prefect_server: str, prefect_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(prefect_home))
    monkeypatch.delenv("PREFECT_API_URL")
    assert server.ensure_server(say=pytest.fail) == prefect_server
    status = server.server_status()
    assert status is not None and status["healthy"]
    assert server.client_env(prefect_server)["PREFECT_HOME"] == str(prefect_home / "prefect")
    assert (prefect_home / "prefect" / "prefect.db").exists()
    # As the server has understood them: a setting that Prefect renames would be ignored without a word.
    status_code, body = asked(f"{prefect_server}/admin/settings", {"Authorization": authorization()})
    assert status_code == 200
    settings = json.loads(body)["server"]
    assert "flow_runs" in settings["services"]["db_vacuum"]["enabled"]
    assert settings["concurrency"]["lease_storage"].endswith(".filesystem"), "slots outlive a restart with their leases"
    assert settings["analytics_enabled"] is False
    assert settings["ui"]["show_promotional_content"] is False
    assert settings["ui"]["static_directory"] == str(prefect_home / "prefect" / "ui")


def authorization() -> str:
    """The header for the server of the home that is set."""
    return "Basic " + base64.b64encode(server.login_file().read_bytes()).decode()


def asked(url: str, headers: dict[str, str], method: str = "GET", body: bytes | None = None) -> tuple[int, bytes]:
    """Status and body of an answer."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method)) as answer:
            assert answer.headers.get("Access-Control-Allow-Origin") in (None, headers.get("Origin"))
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_the_local_server_lets_nobody_else_in(
    prefect_server: str, prefect_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(prefect_home))
    assert stat.S_IMODE(server.login_file().stat().st_mode) == 0o600
    status = server.server_status()
    assert status is not None
    password = server.login_file().read_text().partition(":")[2]
    assert len(password) > 40
    assert not any(password in part for part in psutil.Process(status["pid"]).cmdline())
    credentials = {"Authorization": authorization()}
    guessed = {"Authorization": "Basic " + base64.b64encode(b"stackrank:guess").decode()}
    version_url = f"{prefect_server}/admin/version"
    assert asked(version_url, credentials)[0] == 200
    assert asked(version_url, {})[0] == asked(version_url, guessed)[0] == 401
    # A page of another origin: the browser asks first, and a form that needs no asking lacks the token.
    headers = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    make = f"{prefect_server}/flows/"
    origin = prefect_server.removesuffix("/api")
    assert asked(make, {"Origin": origin, **headers}, "OPTIONS")[0] == 200
    assert asked(make, {"Origin": "https://elsewhere.example", **headers}, "OPTIONS")[0] == 400
    body = json.dumps({"name": "planted"}).encode()
    assert asked(make, {**credentials, "Content-Type": "application/json"}, "POST", body)[0] == 403


WORKER, LIST = ("worker", "--pool", "none"), ("schedule", "list")


@pytest.mark.parametrize("command", [WORKER, pytest.param(LIST, marks=pytest.mark.exhaustive)])
def test_a_wrong_login_is_told_in_one_sentence(prefect_server: str, tmp_path: Path, command: tuple[str, ...]) -> None:
    login = {"PREFECT_API_URL": prefect_server, "PREFECT_API_AUTH_STRING": "of:another"}
    process = subprocess.run(
        [sys.executable, "-m", "stackrank.flows.cli.main", *command],
        env={**os.environ, **login, "STACKRANK_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert process.returncode == 1
    *_, error = process.stderr.splitlines()
    assert error.startswith("error: The Prefect server at http://127.0.0.1") and "PREFECT_API_AUTH_STRING" in error


@pytest.mark.slow
@pytest.mark.parametrize("command", [LIST, pytest.param(WORKER, marks=pytest.mark.exhaustive)])
def test_a_server_that_is_gone_when_a_command_begins_is_told_in_one_sentence(
    answering: Answer, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """It said that it is healthy a moment ago."""
    url = answering(200, "application/json", b"true", dies=True) + "/api"
    process = subprocess.run(
        [sys.executable, "-m", "stackrank.flows.cli.main", *command],
        env={**os.environ, "PREFECT_API_URL": url, "PREFECT_CLIENT_MAX_RETRIES": "0", "STACKRANK_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert process.returncode == 1
    *_, error = process.stderr.splitlines()
    assert error.startswith("error: The Prefect server rejected the request (") and error.endswith("try again.")


def test_cron_gets_scheduled_runs(prefect_server: str) -> None:
    """Breaks when the pinned Prefect, FastAPI and SQLAlchemy do not go together: the scheduler then stays silent."""
    from prefect import flow
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import DeploymentScheduleCreate
    from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterId
    from prefect.client.schemas.schedules import CronSchedule

    @flow(name="smoke")
    def smoke() -> None:
        pass

    schedule = DeploymentScheduleCreate(schedule=CronSchedule(cron="*/5 * * * *", timezone="UTC"), active=True)
    with get_client(sync_client=True) as client:
        flow_id = client.create_flow(smoke)
        deployment = client.create_deployment(flow_id=flow_id, name="nightly", schedules=[schedule])
        only_ours = DeploymentFilter(id=DeploymentFilterId(any_=[deployment]))
        runs = wait_for(lambda: client.read_flow_runs(deployment_filter=only_ours), "a scheduled run", every_s=0.5)
    assert {run.state_name for run in runs} == {"Scheduled"}
