"""Making this version's flows startable: the work pool is there, and deployments that are stored name these flows.

Importing this module imports Prefect.
"""

from __future__ import annotations

from stackrank import log
from stackrank.flows.engine.deployments import asked, ensure_pool
from stackrank.flows.engine.resumed_run import RESUMED_RUN
from stackrank.flows.engine.scheduled_run import SCHEDULED_RUN
from stackrank.flows.engine.shards import SHARD


def prepare_pool(name: str) -> None:
    """Make the work pool if there is none, and update what earlier versions stored. Changes nothing when called again.

    Workers of an earlier version cannot import the flows of this one: update them all.
    """
    with asked() as client:
        ensure_pool(client, name)
        for workflow in (RESUMED_RUN, SCHEDULED_RUN, SHARD):
            for updated in workflow.update_former(client):
                log.info("deployment updated", flow=workflow.flow.name, name=updated, entrypoint=workflow.entrypoint)
