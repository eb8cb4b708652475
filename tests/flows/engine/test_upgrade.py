"""What an earlier version stored goes on to work: deployments in Prefect's server, and a run that was cut off."""

from __future__ import annotations

import socket
import sqlite3
from pathlib import Path
from uuid import UUID

import pytest

from stackrank.env.patches import make_diff
from tests.env.benchmarks.test_foreign_benchmarks import BROKEN, CHECK, FIXED, write
from tests.fixtures.calls import CommandLine

pytestmark = pytest.mark.usefixtures("prefect_server")
SPEC = {"benchmark": "bugs", "limit": 1, "entrants": [{"agent": "oracle", "tools": "rewrite"}]}


def stored(name: str, entrypoint: str) -> UUID:
    """A deployment as it was made before the package was called `stackrank`."""
    from prefect.client.orchestration import get_client

    from stackrank.flows.engine.deployed_runs import SCHEDULED_RUN
    from stackrank.flows.engine.shards import SHARD

    workflow = SHARD if entrypoint.endswith(".shard") else SCHEDULED_RUN
    with get_client(sync_client=True) as client:
        made = workflow.deploy(client, name=name, pool="old-pool", parameters={"spec": SPEC}, tags=["kept"])
        client.request("PATCH", "/deployments/{id}", path_params={"id": made}, json={"entrypoint": entrypoint})
        assert client.read_deployment(made).entrypoint == entrypoint
    return made


def entrypoint_of(deployment: UUID) -> str | None:
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        found = client.read_deployment(deployment)
        assert found.tags == ["kept"] and found.work_pool_name == "old-pool" and found.parameters == {"spec": SPEC}
        return found.entrypoint


def importable(entrypoint: str | None) -> bool:
    from prefect.flows import load_flow_from_entrypoint

    return load_flow_from_entrypoint(str(entrypoint)).name in ("scheduled-run", "shard")


def test_a_worker_brings_deployments_up_to_date() -> None:
    from stackrank.flows.engine.pools import prepare_pool

    schedule = stored("before-worker", "flows.deployments.scheduled_run")
    shard = stored("old-pool", "flows.shards.shard")
    own = stored("own", "my_package.flows.nightly")
    prepare_pool("old-pool")  # what `stackrank worker` and `stackrank up` do first
    assert entrypoint_of(schedule) == "stackrank.flows.engine.deployed_runs.scheduled_run"
    assert entrypoint_of(shard) == "stackrank.flows.engine.shards.shard"
    assert importable(entrypoint_of(schedule)) and importable(entrypoint_of(shard))
    assert entrypoint_of(own) == "my_package.flows.nightly", "somebody's own flow is not ours to change"


@pytest.mark.parametrize("command", [("list",), ("trigger", "before-list")])
def test_listing_or_starting_schedules_updates_deployments_too(
    stackrank: CommandLine, command: tuple[str, ...]
) -> None:
    schedule = stored("before-list", "flows.deployments.scheduled_run")
    try:
        assert stackrank("schedule", *command).status == 0
        assert importable(entrypoint_of(schedule))
    finally:
        stackrank("schedule", "remove", "before-list")


def test_a_run_that_was_cut_off_before_the_rename_goes_on(
    stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database was written by the version before: four episodes, of which two were done and one was cut off."""
    for name in ("double", "triple"):
        code = f"{name}_code.py"
        write(tmp_path / "data" / name, {code: BROKEN, "test.py": CHECK.replace("double_code", f"{name}_code")})
        write(tmp_path / "fixes", {f"{name}.patch": make_diff({code: BROKEN.encode()}, {code: FIXED.encode()})})
    written = (Path(__file__).parent / "data" / "cut_off_before_the_rename.sql").read_text(encoding="utf-8")
    file = tmp_path / "old.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(written.replace("@DATA@", str(tmp_path)).replace("@HOST@", socket.gethostname()))
    connection.close()
    monkeypatch.setenv("STACKRANK_DATABASE_URL", f"sqlite:///{file}")
    (before,) = stackrank("runs", "--json").json()
    assert (before["status"], before["done"], before["resolved"]) == ("running", 2, 2)
    shown = [stackrank("trace", str(number), "--json").json()["steps"] for number in (1, 2)]
    assert [step["tool"] for step in shown[0]] == ["", "rewrite", "eval"]
    result = stackrank("resume", "cut-off", "--json")
    assert result.status == 0, result.err
    assert (result.json()["episodes"], result.json()["resolved"]) == (4, 4)
    again = [stackrank("trace", str(number), "--json").json()["steps"] for number in (1, 2)]
    assert again == shown, "what was done stays"
    (cut_off,) = [row for row in stackrank("episodes", "cut-off", "--json").json() if row["interruptions"]]
    steps = stackrank("trace", str(cut_off["id"]), "--json").json()["steps"]
    assert [step["tool"] for step in steps] == ["", "rewrite", "eval"], "its steps go on where they were"
