"""Prefect deployments of the flows that workers run, in a work pool.

Importing this module imports Prefect, which takes seconds. The command line does so only when it needs Prefect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import httpx
from prefect import Flow
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate, WorkPoolCreate
from prefect.client.schemas.filters import FlowFilter, FlowFilterName
from prefect.client.schemas.objects import ConcurrencyLimitStrategy, ConcurrencyOptions, WorkPoolStatus
from prefect.client.schemas.responses import DeploymentResponse
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound, PrefectHTTPStatusError
from prefect.utilities.callables import parameter_schema
from prefect.workers.process import ProcessWorker
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.flows.services.background import ServerError
from stackrank.flows.services.prefect_server import explain_http_error

PAGE = 200
"""The most rows that Prefect's API returns at once."""
OnOverlap = Literal["skip", "queue"]
STRATEGIES: dict[OnOverlap, ConcurrencyLimitStrategy] = {
    "skip": ConcurrencyLimitStrategy.CANCEL_NEW,
    "queue": ConcurrencyLimitStrategy.ENQUEUE,
}


@contextmanager
def prefect_client() -> Iterator[SyncPrefectClient]:
    """Give a client. Failed connections and answers that report errors are raised as ServerError."""
    try:
        with get_client(sync_client=True) as client:
            yield client
    except (httpx.TransportError, PrefectHTTPStatusError, RuntimeError) as error:
        if server_error := explain_http_error(error):
            raise server_error from error
        if isinstance(error, RuntimeError):
            raise
        raise ServerError(
            f"The Prefect server rejected the request ({str(error).splitlines()[0]}): try again."
        ) from error


@dataclass(frozen=True)
class Workflow:
    """A flow that workers run, and how many of its runs may be active at the same time."""

    flow: Flow[..., Any]
    limit: int | None
    """The most concurrent flow runs of one deployment; None for no limit."""

    @property
    def entrypoint(self) -> str:
        """The import path of the flow. Workers have stackrank installed, so they fetch no code."""
        return f"{self.flow.fn.__module__}.{self.flow.fn.__qualname__}"

    def deploy(
        self,
        client: SyncPrefectClient,
        *,
        name: str,
        pool: str,
        parameters: dict[str, Any],
        schedules: Sequence[DeploymentScheduleCreate] = (),
        tags: Sequence[str] = (),
        on_overlap: OnOverlap = "queue",
        paused: bool = False,
        description: str = "",
    ) -> UUID:
        """Create the deployment FLOW/NAME, or update it to these values."""
        ensure_pool(client, pool)
        return client.create_deployment(
            flow_id=client.create_flow_from_name(self.flow.name),
            name=name,
            entrypoint=self.entrypoint,
            work_pool_name=pool,
            parameters=parameters,
            parameter_openapi_schema=parameter_schema(self.flow).model_dump(exclude_unset=True),
            enforce_parameter_schema=True,
            schedules=list(schedules),
            concurrency_limit=self.limit,
            concurrency_options=ConcurrencyOptions(collision_strategy=STRATEGIES[on_overlap]) if self.limit else None,
            tags=list(tags),
            description=description,
            paused=paused,
            pull_steps=[],
        )

    def list_deployments(self, client: SyncPrefectClient) -> list[DeploymentResponse]:
        """Return all deployments of this flow."""
        deployments: list[DeploymentResponse] = []
        flow_filter = FlowFilter(name=FlowFilterName(any_=[self.flow.name]))
        while page := client.read_deployments(flow_filter=flow_filter, limit=PAGE, offset=len(deployments)):
            deployments += page
        return deployments


def run_tag(engine: Engine, run_id: int) -> str:
    """Return the tag of a run's flow runs. It includes the creation time, as databases may share a server."""
    run = queries.run_state(engine, run_id)
    return f"stackrank-run-{run_id}@{run['created_at'] if run else ''}"


def is_unserved(client: SyncPrefectClient, pool: str) -> bool:
    """Whether no worker of an existing pool has sent a heartbeat lately."""
    return client.read_work_pool(pool).status is WorkPoolStatus.NOT_READY


def ensure_pool(client: SyncPrefectClient, name: str) -> None:
    """Create a process pool of this name, unless a pool exists. An existing pool of any type is used unchanged."""
    try:
        client.read_work_pool(name)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        pool = WorkPoolCreate(name=name, type=ProcessWorker.type, base_job_template=template)
        try:
            client.create_work_pool(pool)
        except ObjectAlreadyExists:
            return  # another process was faster


def prepare_pool(name: str) -> None:
    """Create the work pool if it is missing. Raises ServerError."""
    with prefect_client() as client:
        ensure_pool(client, name)
