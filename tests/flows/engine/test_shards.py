"""A run that a pool's workers play: what the flow that leads it makes of them. The workers are not there."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from stackrank.flows.runs.playing.session import join_run, leave_run
from stackrank.host.wall_clock import now
from tests.fixtures.playing import make_run


def test_workers_that_can_play_nothing_end_the_run(
    prefect_server: str, database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A key that they do not have, for instance: without end, a new shard would follow each that fails."""
    from prefect.states import Failed

    from stackrank.flows.engine import shards

    monkeypatch.setattr(shards, "TICK_S", 0.05)
    submit, submitted = shards._submit, list[UUID]()

    def fails(client: Any, *arguments: Any) -> UUID:
        flow_run_id = submit(client, *arguments)
        client.set_flow_run_state(
            flow_run_id, Failed(message="the environment variable OPENAI_API_KEY is not set"), force=True
        )
        submitted.append(flow_run_id)
        return flow_run_id

    monkeypatch.setattr(shards, "_submit", fails)
    spec = {"entrants": [{"agent": "random"}], "limit": 2, "shard_size": 1, "sandbox": "bubblewrap"}
    session = join_run(make_run(**spec, pool="nobody"))
    try:
        session.store.start_run(session.run_id)
        reason = shards.lead_shards(session)
    finally:
        leave_run(session.run_id)
    assert reason == (
        "the workers of the pool nobody cannot play the run: the environment variable OPENAI_API_KEY is not set"
    )
    assert len(submitted) == 4  # two rounds of two
    assert (
        capsys.readouterr().err.count("no worker serves the pool: start one with `stackrank worker --pool nobody`") == 1
    )


def test_how_old_a_shard_is_no_other_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.client.schemas.objects import FlowRun, StateType

    from stackrank.flows.engine import shards

    clock = [100.0]
    monkeypatch.setattr(shards.time, "monotonic", lambda: clock[0])
    first_seen: dict[UUID, float] = {}
    fields = {"flow_id": uuid4(), "state_type": StateType.RUNNING}
    ahead = FlowRun(**fields, start_time=now() + timedelta(hours=1))
    just, long_ago = (FlowRun(**fields, start_time=now() - timedelta(seconds=shard_run)) for shard_run in (1, 60))
    assert all(shards._is_young(shard_run, first_seen) for shard_run in (ahead, just, long_ago))
    clock[0] += 21.0
    assert not any(shards._is_young(shard_run, first_seen) for shard_run in (ahead, just, long_ago))
