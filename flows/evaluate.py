"""The Prefect flow: a run is a flow run, each of its episodes a task run. A thin adapter over `flows.driver`.

Importing this module imports Prefect, which takes seconds: the command line does so only where it plays a run.
"""

from __future__ import annotations

from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.futures import PrefectFuture
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from db import queries
from db.engine import connect
from db.models import RunStatus
from db.store import Store
from env.sandbox.registry import reap
from flows import log, preflight
from flows.driver import Claim, Done, Driver, reopen_errors
from flows.endpoint_limits import slots
from flows.episode import play_episode
from flows.host import room
from flows.reporting import progress_shown, report
from flows.stage import Stage, leave, stage_of


@task(
    name="episode",
    task_run_name="{label}",
    cache_policy=NO_CACHE,
    persist_result=False,
    cache_result_in_memory=False,
)
def episode(run_id: int, claim: dict[str, Any], token: str, label: str) -> dict[str, Any]:
    """Play one episode that `token` has claimed. Its further tries are task runs of their own."""
    stage = stage_of(run_id)
    if stage.token != token:
        # Another process than the one that claimed it.
        stage.start_heart()
        if not stage.store.hand_over(claim["id"], token, stage.token):
            return {"episode": claim["id"], "verdict": "", "stop_reason": ""}
    with (
        stage.waiting(claim["id"]),
        room(stage.tasks[claim["task_id"]].limits, stage.over.is_set),
        slots(stage.entrants[claim["entrant_id"]], stage.over.is_set),
        log.doing("episode", run=run_id, episode=claim["id"], what=label) as outcome,
    ):
        played = play_episode(stage, claim)
        outcome.update(played)
    return played


@flow(name="evaluate", flow_run_name="{label}", persist_result=False)
def evaluate(run_id: int, label: str, errors: bool = True) -> State[Any]:
    """Play every episode of a run that has no verdict yet. Only ids are given; the rest is in the database.

    Playing a run again goes on with it, wherever it was left: nothing that is done is done again. `errors`: also the
    episodes that ended in an error.
    """
    reap()
    try:
        stage = stage_of(run_id)
    except Exception as error:
        Store(connect()).end_run(run_id, RunStatus.FAILED, _in_one_line(error))
        raise
    store = stage.store
    try:
        preflight.check(stage.plan.entrants)
        store.start_run(run_id, prefect_flow_run_id=str(flow_run.id or ""))
        if errors:
            reopen_errors(stage)
        log.info("run started", run=run_id, flow_run=flow_run.id)
        stage.start_heart()
        with progress_shown(store.engine, run_id):
            if stage.plan.spec.pool:
                from flows.shards import lead

                why = lead(stage)
            else:
                why = drive(stage)
    except BaseException as error:
        status = RunStatus.FAILED if isinstance(error, Exception) else RunStatus.CANCELLED
        store.end_run(run_id, status, _in_one_line(error))
        raise
    finally:
        leave(run_id)
    counts = queries.progress(store.engine, run_id)
    reason = ", ".join(f"{counts[name]} {name}" for name in ("resolved", "unresolved", "errors"))
    if stage.over.is_set():
        store.end_run(run_id, RunStatus.CANCELLED, reason)
        return Cancelled(message=reason)
    if not why and (left := counts["pending"] + counts["running"]):
        why = f"{left} episodes have no verdict: `stackrank resume {run_id}` goes on with them"
    if why:
        store.end_run(run_id, RunStatus.FAILED, why)
        return Failed(message=why)
    store.end_run(run_id, RunStatus.FINISHED, reason)
    log.info("run finished", run=run_id, result=reason)
    report(store.engine, run_id, stage.plan.spec)
    return Completed(message=reason)


def _in_one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:500] or type(error).__name__


def drive(stage: Stage, limit: int | None = None) -> str:
    """Play what is left, or `limit` episodes of it, from this process. Returns why it ended early."""
    with _runner(stage) as runner:

        def submit(claim: Claim, done: Done) -> None:
            parameters = {"run_id": stage.run_id, "claim": claim, "token": stage.token, "label": _label(stage, claim)}
            future: PrefectFuture[Any] = runner.submit(episode, parameters=parameters)
            future.add_done_callback(lambda over: done(_error(over)))

        try:
            return Driver(stage, submit, limit=limit).run()
        except BaseException:
            # The runner waits for its threads: they have to end. Others go on with what a shard leaves.
            (stage.cancel if limit is None else stage.release)()
            raise


def _runner(stage: Stage) -> TaskRunner[Any]:
    spec = stage.plan.spec
    if spec.runner == "threads":
        return ThreadPoolTaskRunner(max_workers=spec.workers)
    from prefect_dask.task_runners import DaskTaskRunner

    if spec.dask_address:
        return DaskTaskRunner(address=spec.dask_address)
    return DaskTaskRunner(
        cluster_kwargs={"n_workers": spec.workers, "threads_per_worker": 1, "dashboard_address": None}
    )


def _error(future: PrefectFuture[Any]) -> BaseException | None:
    try:
        future.result()
    except BaseException as error:  # whatever it was: who plays the run decides
        return error
    return None


def _label(stage: Stage, claim: Claim) -> str:
    label = f"{stage.tasks[claim['task_id']].id} · {stage.entrants[claim['entrant_id']].spec.label}"
    if stage.plan.spec.attempts > 1:
        label += f" · {claim['attempt']}"
    if claim["try_number"] > 1:
        label += f" · try {claim['try_number']}"
    return label
