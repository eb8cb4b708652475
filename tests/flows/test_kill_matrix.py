"""What a run stands on is killed at its start, in its middle and during scoring; verdicts are as if nothing had been.

The processes that play (the flow, a worker) are killed in `test_resume`: what they leave is the same whether Prefect
started them or not. A worker of a pool is killed in `test_pool`. Here: PostgreSQL and the Docker engine, under a run
that goes on by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from db import queries
from db.engine import connect
from tests.flows.playing import drive
from tests.flows.test_resume import POINTS, assert_as_undisturbed, endpoint, scripted_run, wait_for
from tests.postgres import Cluster, cluster
from tests.support.openai_server import OpenAIServer

__all__ = ["endpoint"]
AWAY_S = 4.0


@pytest.fixture
def postgres(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with cluster() as running:
        monkeypatch.setenv("STACKRANK_DATABASE_URL", running.create())
        yield running


@pytest.mark.parametrize("point", POINTS)
def test_postgresql_is_killed_and_comes_back(postgres: Cluster, endpoint: OpenAIServer, point: str) -> None:
    """The run waits for it: no episode is even cut off."""
    run_id = scripted_run()
    why: list[str] = []
    playing = threading.Thread(target=lambda: why.append(drive(run_id)))
    playing.start()
    wait_for(lambda: POINTS[point](run_id), f"an episode at its {point}")
    postgres.kill()
    time.sleep(AWAY_S)
    postgres.start()
    playing.join(timeout=120)
    assert why == [""]
    assert_as_undisturbed(run_id, endpoint)
    assert sum(row["interruptions"] for row in queries.episodes(connect(), run_id)) == 0
