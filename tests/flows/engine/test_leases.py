"""A run whose slot Prefect cannot keep any more: it goes on."""

from __future__ import annotations

import threading
from uuid import UUID, uuid4

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from tests.flows.engine.test_resume import assert_as_undisturbed, endpoint, scripted_run, steps_of
from tests.support.openai_server import OpenAIServer
from tests.support.waiting import wait_for

pytestmark = pytest.mark.exhaustive

__all__ = ["endpoint"]
LEASE_S = 60.0
"""The least that the server takes."""


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server", "database")
def test_a_run_whose_lease_is_lost_continues(
    endpoint: OpenAIServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server does not know any more who holds the slot of a schedule, which the engine of flows keeps so."""
    from prefect.client.orchestration import get_client
    from prefect.concurrency import _leases

    from stackrank.flows.engine.evaluate import evaluate

    monkeypatch.setattr(_leases, "_RENEWAL_FRACTION", 1.0 / LEASE_S)  # every second
    endpoint._script.delay_s = 1.0  # type: ignore[union-attr]
    run_id = scripted_run(workers=1)
    with get_client(sync_client=True) as client:
        name = f"lost-{uuid4()}"
        client.upsert_global_concurrency_limit_by_name(name, 1)
        slots = client.increment_concurrency_slots_with_lease(
            names=[name], slots=1, mode="concurrency", lease_duration=300.0
        )
        lease = UUID(slots.json()["lease_id"])

        def lose() -> None:
            wait_for(lambda: steps_of(run_id), "an episode at its start")
            client.release_concurrency_slots_with_lease(lease)

        losing = threading.Thread(target=lose)
        with _leases.maintain_concurrency_lease(lease, LEASE_S, raise_on_lease_renewal_failure=True):
            losing.start()
            state = evaluate(run_id=run_id, label="lost", return_state=True)
        losing.join()
    assert "Prefect released the run's slot" in capsys.readouterr().err
    assert state.is_completed(), state
    assert queries.run(connect(), run_id)["status"] == "finished"
    assert_as_undisturbed(run_id, endpoint)
