"""Runs in the database: creating one, and loading one to continue it."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.queries.comparisons.history import earlier_results
from stackrank.db.stats.informative import deal_tasks, predict_telling
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.base import digest
from stackrank.env.sandbox.base import Say
from stackrank.env.task import Task
from stackrank.flows.runs.preparing.entrants import Entrant
from stackrank.flows.runs.preparing.prepared_run import PreparedRun, build, check
from stackrank.flows.runs.preparing.stored_benchmark import save_benchmark
from stackrank.flows.runs.specification.spec import SpecError, make_spec
from stackrank.flows.runs.specification.stop_rule import StopSpec
from stackrank.terms import FAILURE_POINTS
from stackrank.wording import count_of

_NAMED = 3
"""Most entrants that the name of a run lists."""


@dataclass(frozen=True)
class StoredRun:
    """A prepared run, and where it is in the database."""

    id: int
    prepared: PreparedRun
    tasks: Mapping[int, Task]
    """The id of its row -> the task."""
    entrants: Mapping[int, Entrant]
    """The id of its row -> the entrant."""


def create_run(store: Store, prepared: PreparedRun, *, schedule: str = "", flow_run_id: str = "") -> StoredRun:
    """Store a run with all its episodes as pending.

    `schedule`: the deployment that starts the run; `flow_run_id`: the Prefect flow run that creates it.
    """
    benchmark = save_benchmark(store, prepared.benchmark, prepared.all_tasks)
    entrants = {_save_entrant(store, entrant): entrant for entrant in prepared.entrants}
    tasks = list(prepared.tasks)
    if (stop := prepared.spec.stop) is not None:
        telling = _telling(store, benchmark.task_ids, stop, [task.id for task in tasks])
        by_name = {task.id: task for task in tasks}
        tasks = [by_name[name] for name in deal_tasks(telling, prepared.spec.seed)]
        is_informative = len(set(telling.values())) > 1
        stop = stop.model_copy(update={"telling": telling if is_informative else {}})
        prepared = replace(prepared, spec=prepared.spec.model_copy(update={"stop": stop}))
    spec = prepared.spec
    # Task by task, with all entrants and attempts of a task together, so that an interrupted run compares fairly.
    cells = [
        (benchmark.task_ids[task.id], entrant_id, attempt)
        for task in tasks
        for attempt in range(1, spec.attempts + 1)
        for entrant_id in entrants
    ]
    name = f"{spec.name or schedule or spec.benchmark}-{datetime.now():%Y-%m-%d-%H%M}"
    if spec.name and not schedule:
        name = spec.name
    run_id = store.create_run(
        name=name,
        benchmark_id=benchmark.id,
        spec=spec.model_dump(mode="json"),
        seed=spec.seed,
        tags=spec.tags,
        owner=spec.owner,
        project=spec.project,
        leaderboard=spec.leaderboard,
        conditions=prepared.conditions,
        versions=versions(),
        host=platform.node(),
        schedule=schedule,
        prefect_flow_run_id=flow_run_id,
        cells=cells,
        sandbox=prepared.backend.name,
    )
    return StoredRun(run_id, prepared, _by_row_id(benchmark.task_ids, prepared.all_tasks), entrants)


def _telling(store: Store, ids: Mapping[str, int], stop: StopSpec, tasks: Sequence[str]) -> dict[str, float]:
    """Return how much each of these tasks tells: as the specification says, or as earlier results predict."""
    if stop.order == "random":
        return dict.fromkeys(tasks, 1.0)
    if stop.telling:
        if absent := set(tasks).difference(stop.telling):
            raise SpecError(f"stop.telling has no number for the task {min(absent)}: give one for each task, or none")
        return {task: stop.telling[task] for task in tasks}
    return dict(zip(tasks, predict_telling(*earlier_results(store.engine, [ids[task] for task in tasks])), strict=True))


def load_run(run_id: int, say: Say) -> StoredRun:
    """Prepare a stored run on this machine to continue it. Nothing but its conditions is written.

    Raises SpecError if its tasks or entrants have changed since it was created, SandboxError, DatabaseError.
    """
    engine = connect()
    row = queries.run(engine, run_id)
    stored = row["done"] + row["running"] + row["pending"] + row["not_played"]
    if stored < row["episodes_total"]:
        raise SpecError(
            f"run {run_id} is still being created, or its creation was interrupted (it has {stored} of its "
            f"{count_of(row['episodes_total'], 'episode')}): start a new run"
        )
    # The tasks chosen when the run was created, because the set of tasks known as invalid may have changed since.
    selection = {"tasks": queries.tasks_of_run(engine, run_id)}
    checked = check(make_spec({**row["spec"], **selection}, f"run {run_id}"))
    if digest(checked.all_tasks) != row["benchmark_digest"]:
        raise SpecError(
            f"the tasks of {checked.benchmark.name} have changed since run {run_id} was created: start a new run"
        )
    prepared = build(checked, say)
    task_ids = {task["name"]: task["id"] for task in queries.tasks(engine, row["benchmark_id"])}
    entrants = {entrant.digest: entrant for entrant in prepared.entrants}
    for entrant_row in row["entrants"]:
        if entrant_row["digest"] not in entrants:
            raise SpecError(f"{entrant_row['name']} has changed since run {run_id} was created: start a new run")
    Store(engine).record_conditions(run_id, prepared.conditions)
    return StoredRun(
        run_id,
        prepared,
        _by_row_id(task_ids, prepared.all_tasks),
        {entrant_row["id"]: entrants[entrant_row["digest"]] for entrant_row in row["entrants"]},
    )


def _by_row_id(task_ids: Mapping[str, int], tasks: Sequence[Task]) -> dict[int, Task]:
    return {task_ids[task.id]: task for task in tasks}


def _save_entrant(store: Store, entrant: Entrant) -> int:
    return store.save_entrant(
        digest=entrant.digest,
        name=entrant.spec.label,
        agent=entrant.spec.agent,
        agent_version=entrant.agent.version,
        model=entrant.spec.model,
        tools=entrant.tools.name,
        tool_list=entrant.tools.tools,
        tool_versions=entrant.tool_versions,
        config=entrant.spec.config,
        reference=entrant.agent.reference,
    )


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    installed = {"python": platform.python_version(), "failure_points": FAILURE_POINTS}
    for package in ("stackrank", "prefect", "openai", "docker", "pytest"):
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed


def run_label(board: str, start: datetime, entrants: Sequence[str]) -> str:
    """Return a run's name in Prefect: `LEADERBOARD 2026-01-31 03:00 · ENTRANT, ENTRANT +3`."""
    listed = ", ".join(entrants[:_NAMED]) + (f" +{len(entrants) - _NAMED}" if len(entrants) > _NAMED else "")
    return f"{board} {start:%Y-%m-%d %H:%M} · {listed}"


def label_of(run: Mapping[str, Any]) -> str:
    """Return `run_label` for a run's row, as `db.queries.run` returns it."""
    start = datetime.fromisoformat(run["created_at"]).astimezone()
    return run_label(run["leaderboard"] or run["name"], start, [entrant["name"] for entrant in run["entrants"]])
