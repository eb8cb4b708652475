"""Makes this version's flows startable: creates the work pool, and points stored deployments at these flows.

Importing this module imports Prefect.
"""

from __future__ import annotations

from stackrank import log
from stackrank.flows.engine.deployed_runs import RESUMED_RUN, SCHEDULED_RUN
from stackrank.flows.engine.deployments import ensure_pool, prefect_client
from stackrank.flows.engine.shards import SHARD


def prepare_pool(name: str) -> None:
    """Create the work pool if it is missing, and update deployments of earlier versions. A second call changes nothing.

    Workers of an earlier version cannot import the flows of this one, so update all of them.
    """
    with prefect_client() as client:
        ensure_pool(client, name)
        for workflow in (RESUMED_RUN, SCHEDULED_RUN, SHARD):
            for updated in workflow.update_former(client):
                log.info("deployment updated", flow=workflow.flow.name, name=updated, entrypoint=workflow.entrypoint)
