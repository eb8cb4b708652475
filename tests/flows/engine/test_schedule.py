"""Schedules, with a real Prefect server and a real worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import update

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import RUN
from stackrank.db.writes.store import Store
from stackrank.flows.engine import deployed_runs
from stackrank.flows.runs.preparing.prepared_run import check
from stackrank.flows.runs.preparing.stored_run import create_run
from stackrank.flows.runs.specification.spec import RunSpec, read_spec
from stackrank.host.wall_clock import now
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import usable
from tests.support.waiting import wait_for

ROOT = Path(__file__).parents[3]
SPEC = "benchmark: bugs\nlimit: 1\nsandbox: bubblewrap\nretries: 0\nentrants:\n  - {agent: oracle, tools: rewrite}\n"

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    usable("bubblewrap")
    file = tmp_path / "nightly.yaml"
    file.write_text(SPEC)
    return file


@pytest.fixture
def pool(request: pytest.FixtureRequest) -> str:
    """A pool of the test's own: the server is shared."""
    return f"pool-{request.node.name[:40]}"


def _in_the_background() -> None:
    """As shells start a command that ends with an ampersand."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def worker(pool: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    # A run that has to wait is asked for again only when its time has come: a worker looks ahead so far.
    quick = {"PREFECT_WORKER_QUERY_SECONDS": "1", "PREFECT_WORKER_PREFETCH_SECONDS": "1"}
    environment = {**os.environ, **quick}
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "stackrank.flows.cli.main", "worker", "--pool", pool],
            env=environment, cwd=log.parent, stdout=output, stderr=output, preexec_fn=_in_the_background,
        )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        process.wait(600)


def going_on(schedule: str) -> set[str]:
    """The ids of a schedule's flow runs that a worker has taken and not finished."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas import filters
    from prefect.client.schemas.objects import StateType

    kinds = filters.FlowRunFilterStateType(any_=[StateType.PENDING, StateType.RUNNING])
    state_filter = filters.FlowRunFilter(state=filters.FlowRunFilterState(type=kinds))
    # The server is shared: what other tests cut off stays Running there.
    ours = filters.DeploymentFilter(name=filters.DeploymentFilterName(any_=[schedule]))
    with get_client(sync_client=True) as client:
        return {str(run.id) for run in client.read_flow_runs(flow_run_filter=state_filter, deployment_filter=ours)}


def test_a_schedule_plays_its_runs_one_after_the_other(
    stackrank: CommandLine, spec: Path, pool: str, database: str, tmp_path: Path
) -> None:
    engine = connect(database)
    log = tmp_path / "worker.log"

    def over() -> list[dict[str, Any]]:
        return [row for row in queries.runs(engine) if row["status"] == "finished"]

    def begun() -> set[str]:
        # The server may still call a flow run Running whose run is over.
        return going_on("nightly") | {row["prefect_flow_run_id"] for row in over()}

    def about() -> object:
        return queries.runs(engine), log.read_text()

    schedule = stackrank(
        "schedule", str(spec), "--every", "10", "--on-overlap", "queue", "--pool", pool, "--tag", "often", "--json"
    ).json()
    assert (schedule["name"], schedule["every_s"], schedule["on_overlap"], schedule["tags"]) == (
        "nightly",
        10.0,
        "queue",
        ["often"],
    )
    try:
        with worker(pool, log):
            # No further ones, which would all have to be played.
            wait_for(lambda: len(begun()) >= 2, about, every_s=1)
            assert stackrank("schedule", "pause", "nightly").status == 0
            wait_for(lambda: not going_on("nightly"), about, every_s=1)
    finally:
        removed = stackrank("schedule", "remove", "nightly")
    assert removed.status == 0
    rows = sorted(over(), key=lambda row: row["id"])
    assert len(rows) >= 2
    for row, following in pairwise(rows):
        assert row["ended_at"] <= following["started_at"], "runs overlap"
    for row in rows:
        assert (row["schedule"], row["leaderboard"], row["done"]) == ("nightly", "nightly", 1)
        assert row["tags"] == ["often"]
        assert row["prefect_flow_run_id"]
    assert len({row["prefect_flow_run_id"] for row in rows}) == len(rows)
    board = stackrank("leaderboard", "--series", "nightly", "--all", "--json").json()
    assert sum(row["episodes"] for row in (*board["entrants"], *board["reference"])) == len(rows)


def test_a_new_specification_keeps_times_and_pauses(stackrank: CommandLine, spec: Path, pool: str) -> None:
    call = ("schedule", str(spec), "--name", "kept", "--pool", pool, "--json")
    try:
        row = stackrank(*call, "--cron", "0 3 * * *", "--timezone", "Europe/Berlin").json()
        assert row["cron"] == "0 3 * * *"
        # Known at once, though the server has not made the flow run yet.
        start = datetime.fromisoformat(row["next"])
        assert start.astimezone(ZoneInfo("Europe/Berlin")).hour == 3
        assert timedelta(0) < start - now() <= timedelta(hours=25)
        stackrank("schedule", "pause", "kept")
        spec.write_text(SPEC.replace("limit: 1", "limit: 2"))
        row = stackrank(*call).json()
        assert (row["cron"], row["timezone"], row["paused"]) == ("0 3 * * *", "Europe/Berlin", True)
        assert row["next"] is None
        assert row["spec"]["limit"] == 2
        assert stackrank("schedule", "resume", "kept").status == 0
        row = stackrank(*call, "--every", "3600").json()
        assert row["paused"] is False
        assert (row["cron"], row["every_s"]) == (None, 3600.0)
    finally:
        stackrank("schedule", "remove", "kept")


@pytest.mark.exhaustive
def test_trigger_once_and_skip_while_one_goes_on(
    stackrank: CommandLine, spec: Path, pool: str, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.client.orchestration import get_client

    monkeypatch.setenv("STACKRANK_SILENT_S", "3600")  # no worker lives long enough to take up what another one left
    engine = connect(database)
    cut_off = create_run(Store(engine), check(read_spec(spec, {}), engine), schedule="by-hand").id
    by_others = create_run(Store(engine), check(read_spec(spec, {}), engine), schedule="another").id
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(update(RUN).values(status="running", heartbeat_at=now() - timedelta(days=1)))
    stackrank("schedule", str(spec), "--name", "by-hand", "--pool", pool)
    try:
        first = stackrank("schedule", "trigger", "by-hand", "--key", "monday", "--json").json()
        second_call = stackrank("schedule", "trigger", "by-hand", "--key", "monday", "--json").json()
        assert first["flow_run"] == second_call["flow_run"]
        second = stackrank("schedule", "trigger", "by-hand", "--json").json()

        def states() -> list[str]:
            with get_client(sync_client=True) as client:
                return sorted(
                    str(client.read_flow_run(triggered["flow_run"]).state_name) for triggered in (first, second)
                )

        log = tmp_path / "worker.log"
        with worker(pool, log):
            wait_for(lambda: states() == ["Cancelled", "Completed"], lambda: (states(), log.read_text()), every_s=1)
        run, foreign, interrupted = queries.runs(engine)
        assert (run["status"], run["schedule"]) == ("finished", "by-hand")
        assert (interrupted["id"], interrupted["status"], interrupted["done"]) == (cut_off, "finished", 1), (
            "its worker had died"
        )
        assert (foreign["id"], foreign["status"]) == (by_others, "running"), "another schedule's business"
    finally:
        stackrank("schedule", "remove", "by-hand")


@pytest.mark.exhaustive
def test_prefect_knows_the_limits_of_the_specification(stackrank: CommandLine, spec: Path, pool: str) -> None:
    from prefect.client.orchestration import get_client

    call = ("schedule", str(spec), "--cron", "0 3 * * *", "--timezone", "Europe/Berlin", "--name", "limits")
    stackrank(*call, "--pool", pool)
    schedule = stackrank(*call, "--pool", pool, "--json").json()
    try:
        assert (schedule["cron"], schedule["timezone"], schedule["on_overlap"]) == (
            "0 3 * * *",
            "Europe/Berlin",
            "skip",
        )
        stackrank("schedule", "trigger", "limits")
        with get_client(sync_client=True) as client:
            deployment = client.read_deployment_by_name("scheduled-run/limits")
            assert len(deployment.schedules) == 1, "the second call replaced the first"
            fields = deployment.parameter_openapi_schema["definitions"]["RunSpec"]
            assert fields["properties"]["attempts"]["maximum"] == 100
            assert "Episodes per task" in fields["properties"]["attempts"]["description"]
            assert fields["additionalProperties"] is False
            wrong = {"spec": {**deployment.parameters["spec"], "attempts": 0}}
            with pytest.raises(Exception, match="minimum"):
                client.create_flow_run_from_deployment(deployment.id, parameters=wrong)
    finally:
        stackrank("schedule", "remove", "limits")
    with get_client(sync_client=True) as client:
        flow_runs = [
            flow_run for flow_run in client.read_flow_runs(limit=200) if flow_run.deployment_id == deployment.id
        ]
    assert not flow_runs, "nobody would play them"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cron", "sometimes"], ["sometimes", "0 3 * * *"]),
        (["--cron", "0 3 * * *", "--timezone", "Mars/Base"], ["Mars/Base", "Europe/Berlin"]),
        (["--cron", "0 3 * * *", "--every", "5"], ["--cron", "--every"]),
        (["--on-overlap", "fight"], ["fight", "queue"]),
        (["--name", "a/b"], ["a/b", "--name"]),
    ],
)
def test_a_bad_schedule_is_one_sentence(
    stackrank: CommandLine, spec: Path, arguments: list[str], words: list[str]
) -> None:
    result = stackrank("schedule", str(spec), *arguments)
    assert result.status == 2
    assert all(word in result.sentence() for word in words)


@pytest.mark.exhaustive
def test_show_attaches_an_automation(stackrank: CommandLine, spec: Path, pool: str, tmp_path: Path) -> None:
    from prefect.client.orchestration import get_client

    stackrank("schedule", str(spec), "--name", "watched", "--pool", pool)
    try:
        output = stackrank("schedule", "show", "watched").out
        file = tmp_path / "automation.yaml"
        file.write_text(output[output.index("# To act") :])
        command = [sys.executable, "-m", "prefect", "automation", "create", "--from-file", str(file)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stdout + process.stderr
        with get_client(sync_client=True) as client:
            (automation,) = client._client.post("/automations/filter", json={}).json()
            assert automation["trigger"]["match"] == {"prefect.resource.id": "stackrank.leaderboard.watched"}
            client._client.delete(f"/automations/{automation['id']}")
    finally:
        stackrank("schedule", "remove", "watched")


@pytest.mark.parametrize("command", ["show", "pause", "resume", "trigger", "remove"])
def test_a_schedule_that_is_not_there(stackrank: CommandLine, command: str) -> None:
    result = stackrank("schedule", command, "nobody")
    assert result.status == 2
    assert "stackrank schedule list" in result.sentence()


@pytest.mark.exhaustive
def test_the_prefect_file_makes_schedules(stackrank: CommandLine) -> None:
    from stackrank.flows.engine.deployments import prepare_pool

    prepare_pool("stackrank")
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all"]
    command += ["--prefect-file", "deploy/prefect.yaml"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    schedules = {row["name"]: row for row in stackrank("schedule", "list", "--json").json()}
    try:
        assert (schedules["repair-nightly"]["cron"], schedules["repair-nightly"]["on_overlap"]) == ("0 3 * * *", "skip")
        assert schedules["oracle-weekly"]["timezone"] == "Europe/Berlin"
        for row in schedules.values():
            RunSpec.model_validate(row["spec"])
    finally:
        for name in ("repair-nightly", "oracle-weekly"):
            stackrank("schedule", "remove", name)


def test_a_run_that_prefect_starts_with_a_matrix_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Prefect's pages hand it over: nobody has made a list of entrants of it yet."""
    spec = {"benchmark": "bugs", "matrix": {"agents": ["oracle"], "tools": ["rewrite", "debug"]}}
    flow_run = SimpleNamespace(parameters={"spec": spec}, scheduled_start_time=datetime(2026, 1, 31, 3))
    monkeypatch.setattr(deployed_runs, "flow_run", flow_run)
    monkeypatch.setattr(deployed_runs, "deployment", SimpleNamespace(name="nightly"))
    assert deployed_runs._scheduled_label() == "nightly 2026-01-31 03:00 · oracle (rewrite), oracle (debug)"
