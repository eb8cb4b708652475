"""The Prefect flow: a run is a flow run, each of its episodes a task run. A thin adapter over `flows.episode`.

Importing this module imports Prefect, which takes seconds: the command line does so only where it plays a run.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import PrefectFuture, wait
from prefect.runtime import flow_run, task_run
from prefect.states import Cancelled, Completed, Failed
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.tasks import Task, exponential_backoff

from db import queries
from db.engine import connect
from db.models import RunStatus
from db.store import Store
from env.sandbox.registry import reap
from flows import log, preflight
from flows.endpoint_limits import slots
from flows.episode import InfrastructureError, Stage, play_episode
from flows.reporting import progress_shown, report
from flows.stage import leave, stage_of

HEARTBEAT_S = 2.0


def _infrastructure_failed(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    return isinstance(state.result(raise_on_failure=False), InfrastructureError)


@task(
    name="episode",
    task_run_name="{label}",
    retry_condition_fn=_infrastructure_failed,
    retry_jitter_factor=0.5,
    cache_policy=NO_CACHE,
    persist_result=False,
    cache_result_in_memory=False,
)
def episode(run_id: int, episode_id: int, label: str) -> dict[str, Any]:
    """Play one episode. Prefect's retries are the tries of the episode: each has a row of its own."""
    stage = stage_of(run_id)
    row = queries.episode(stage.store.engine, episode_id)
    if (task_run.get_run_count() or 1) > 1:
        stage.tries[episode_id] = stage.store.retry_episode(stage.tries.get(episode_id, episode_id))
    current = stage.tries.get(episode_id, episode_id)
    entrant = stage.entrants[row["entrant_id"]]
    with (
        slots(entrant, stage.cancelled.is_set),
        log.doing("episode", run=run_id, episode=current, what=label) as outcome,
    ):
        played = play_episode(stage, current, stage.tasks[row["task_id"]], entrant)
        outcome.update(played)
    return played


@flow(name="evaluate", flow_run_name="{label}", persist_result=False)
def evaluate(run_id: int, label: str) -> State[Any]:
    """Play every episode of a run that has no verdict yet. Only ids are given; the rest is in the database."""
    store = Store(connect())
    try:
        reap()
        stage = stage_of(run_id)
        preflight.check(stage.plan.entrants)
        store.start_run(run_id)
        log.info("run started", run=run_id, flow_run=flow_run.id)
        with _heartbeat(stage, run_id), progress_shown(store.engine, run_id):
            _play_all(stage, run_id)
    except BaseException as error:
        status = RunStatus.CANCELLED if isinstance(error, KeyboardInterrupt) else RunStatus.FAILED
        store.end_run(run_id, status, " ".join(str(error).split())[:500] or type(error).__name__)
        raise
    finally:
        leave(run_id)
    counts = queries.progress(store.engine, run_id)
    reason = ", ".join(f"{counts[name]} {name}" for name in ("resolved", "unresolved", "errors"))
    if stage.cancelled.is_set():
        store.end_run(run_id, RunStatus.CANCELLED, reason)
        return Cancelled(message=reason)
    if left := counts["pending"] + counts["running"]:
        reason = f"{left} episodes could not be played, see the Prefect run for why; {reason}"
        store.end_run(run_id, RunStatus.FAILED, reason)
        return Failed(message=reason)
    store.end_run(run_id, RunStatus.FINISHED, reason)
    log.info("run finished", run=run_id, result=reason)
    report(store.engine, run_id, stage.plan.spec)
    return Completed(message=reason)


def _play_all(stage: Stage, run_id: int) -> None:
    # Both here: Prefect works the delays out from the number of retries it is given with them.
    play_one = episode.with_options(
        retries=stage.plan.spec.retries, retry_delay_seconds=exponential_backoff(backoff_factor=2)
    )
    threads: ThreadPoolTaskRunner[dict[str, Any]] = ThreadPoolTaskRunner(max_workers=stage.plan.spec.workers)
    with threads as runner:
        futures: list[PrefectFuture[Any]] = []
        for row in stage.store.unfinished_episodes(run_id):
            label = f"{stage.tasks[row['task_id']].id} · {stage.entrants[row['entrant_id']].spec.label}"
            if stage.plan.spec.attempts > 1:
                label += f" · {row['attempt']}"
            parameters = {"run_id": run_id, "episode_id": row["id"], "label": label}
            futures.append(runner.submit(play_one, parameters=parameters))
        wait(futures)


@contextmanager
def _heartbeat(stage: Stage, run_id: int) -> Iterator[None]:
    """Say every few seconds that the run's owner lives, and hear whether the run was cancelled meanwhile."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(HEARTBEAT_S):
            if stage.store.heartbeat(run_id) is RunStatus.CANCELLED:
                stage.cancel()

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
