"""Plays the episodes of a run: in threads of this process, on a Dask cluster or on Ray; as Prefect task runs or not.

Importing this module imports Prefect, which takes seconds. The command line does so only when it plays a run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from stackrank import log
from stackrank.db.writes.claims import ClaimedEpisode
from stackrank.flows.engine.endpoint_limits import hold_slots
from stackrank.flows.runs.playing.admission import reserve_room
from stackrank.flows.runs.playing.driver import Driver, OnEnd
from stackrank.flows.runs.playing.episode import play_episode
from stackrank.flows.runs.playing.session import Session, join_run
from stackrank.flows.runs.specification.spec import MOST_WORKERS, RunSpec


@task(
    name="episode",
    task_run_name="{label}",
    cache_policy=NO_CACHE,
    persist_result=False,
    cache_result_in_memory=False,
)
def episode(run_id: int, claim: ClaimedEpisode, token: str, label: str) -> dict[str, Any]:
    """Play one episode that `token` has claimed. Each retry is a separate task run."""
    session = join_run(run_id)
    if session.claims.token == token:
        return _play(session, claim, label)
    # Another process claimed the episode: this one belongs to a cluster.
    session.claims.start_heartbeat()
    if not session.store.hand_over(claim["id"], token, session.claims.token):
        return {"episode": claim["id"], "verdict": "", "stop_reason": ""}
    session.claims.hold(claim["id"])
    try:
        return _play(session, claim, label)
    finally:
        session.claims.drop(claim["id"])


def _play(session: Session, claim: ClaimedEpisode, label: str) -> dict[str, Any]:
    """Play a claimed episode once this machine and the entrant's endpoints have room."""
    with (
        reserve_room(session.tasks[claim["task_id"]].limits, session.is_over),
        hold_slots(session.entrants[claim["entrant_id"]], session.is_over),
        log.doing("episode", run=session.run_id, episode=claim["id"], what=label) as outcome,
    ):
        played = play_episode(session, claim)
        outcome.update(played)
    return played


def drive(session: Session, limit: int | None = None, *, probes: bool = False) -> str:
    """Play the remaining episodes, or at most `limit` of them, from this process. Returns why that ended early.

    `probes`: see `Driver`.
    """
    with _players(session.run.spec) as play:

        def submit(claim: ClaimedEpisode, on_end: OnEnd) -> None:
            play(
                {
                    "run_id": session.run_id,
                    "claim": claim,
                    "token": session.claims.token,
                    "label": _label(session, claim),
                },
                on_end,
            )

        try:
            return Driver(session, submit, limit=limit, probes=probes).run()
        except BaseException:
            # End the episodes, because `_players` waits for them. Other processes continue the episodes of a shard.
            (session.cancel if limit is None else session.release)()
            raise


@contextmanager
def _players(spec: RunSpec) -> Iterator[Callable[[dict[str, Any], OnEnd], None]]:
    """Give a function that starts `episode` and calls back when it is over. On exit, wait for running episodes."""
    if spec.episodes_are_tasks:
        with _runner(spec) as runner:

            def submit(parameters: dict[str, Any], on_end: OnEnd) -> None:
                future: PrefectFuture[Any] = runner.submit(episode, parameters=parameters)
                future.add_done_callback(lambda ended_future: on_end(_error(ended_future)))

            yield submit
        return
    with ThreadPoolExecutor(MOST_WORKERS, thread_name_prefix="episode") as threads:

        def start(parameters: dict[str, Any], on_end: OnEnd) -> None:
            threads.submit(episode.fn, **parameters).add_done_callback(
                lambda ended_future: on_end(ended_future.exception())
            )

        yield start


def _runner(spec: RunSpec) -> TaskRunner[Any]:
    if spec.runner == "threads":
        return ThreadPoolTaskRunner(max_workers=MOST_WORKERS)
    return _on_dask(spec) if spec.runner == "dask" else _on_ray(spec)


def _on_dask(spec: RunSpec) -> TaskRunner[Any]:
    from prefect_dask.task_runners import DaskTaskRunner

    if spec.dask_address:
        return DaskTaskRunner(address=spec.dask_address)
    return DaskTaskRunner(
        cluster_kwargs={"n_workers": spec.workers, "threads_per_worker": 1, "dashboard_address": None}
    )


def _on_ray(spec: RunSpec) -> TaskRunner[Any]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else a cluster that Ray starts reports usage to its makers
    from prefect_ray.task_runners import RayTaskRunner

    if spec.ray_address:
        runner: TaskRunner[Any] = RayTaskRunner(address=spec.ray_address)
    else:
        cluster_kwargs = {"num_cpus": spec.workers, "include_dashboard": False, "log_to_driver": False}
        runner = RayTaskRunner(init_kwargs=cluster_kwargs)
    return runner


def _error(future: PrefectFuture[Any]) -> BaseException | None:
    try:
        future.result()
    except BaseException as error:  # of any kind: the driver decides what it means
        return error
    return None


def _label(session: Session, claim: ClaimedEpisode) -> str:
    label = f"{session.tasks[claim['task_id']].id} · {session.entrants[claim['entrant_id']].spec.label}"
    if session.run.spec.attempts > 1:
        label += f" · {claim['attempt']}"
    if claim["try_number"] > 1:
        label += f" · try {claim['try_number']}"
    return label
