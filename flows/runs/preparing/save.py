"""Stores a checked run in the database."""

from __future__ import annotations

import platform
import random
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from stackrank.db.writes.store import SavedBenchmark, Store
from stackrank.env.benchmarks.base import Benchmark, digest
from stackrank.env.benchmarks.git import CommitFiles
from stackrank.env.difficulty import difficulty_label, find_difficulty
from stackrank.env.task import Task
from stackrank.flows.runs.preparing.check import CheckedRun, Entrant
from stackrank.terms import FAILURE_POINTS

MOST_SHOWN = 256 * 1024
"""Most bytes of a task's files that are stored for the trace page."""
_NAMED = 3
"""Most entrants that the name of a run lists."""


def save_benchmark(store: Store, benchmark: Benchmark, tasks: tuple[Task, ...]) -> SavedBenchmark:
    """Store the benchmark and its tasks, and return their rows. Calling this again is harmless."""
    return store.save_benchmark(
        name=benchmark.name,
        digest=digest(tasks),
        license=benchmark.license,
        source=benchmark.source,
        tasks=[_task_row(task) for task in tasks],
    )


def _task_row(task: Task) -> dict[str, Any]:
    measured = find_difficulty(task)
    return {
        "name": task.id,
        "title": task.title,
        "statement": task.statement,
        "category": task.category,
        "difficulty": difficulty_label(task),
        "measured": measured.document() if measured else None,
        "digest": task.digest,
        "tags": list(task.tags),
        "faults": [
            {"file": fault.file, "functions": list(fault.functions), "lines": list(fault.lines)}
            for fault in task.faults
        ],
        "fix": task.fix,
        "files": shown_files(task),
    }


def shown_files(task: Task) -> dict[str, str]:
    """Return the text files of a task that a trace shows, up to MOST_SHOWN bytes: faulty ones, Python, others."""
    faulty = {fault.file for fault in task.faults}
    shown: dict[str, str] = {}
    left = MOST_SHOWN
    # Of a whole repository, only the faulty files are read.
    files = task.files.read(faulty) if isinstance(task.files, CommitFiles) else task.files
    for path in sorted(files, key=lambda path: (path not in faulty, not path.endswith(".py"), path)):
        content = files[path]
        if len(content) > left or b"\0" in content:
            continue
        try:
            shown[path] = content.decode()
        except UnicodeDecodeError:
            continue
        left -= len(content)
    return shown


def save_run(store: Store, run: CheckedRun, *, schedule: str = "", flow_run_id: str = "") -> int:
    """Store the run with all its episodes as pending. Returns the run's id.

    `schedule`: the deployment that starts the run; `flow_run_id`: the Prefect flow run that creates it.
    """
    spec = run.spec
    saved = save_benchmark(store, run.benchmark, run.all_tasks)
    name = f"{spec.name or schedule or spec.benchmark}-{datetime.now():%Y-%m-%d-%H%M}"
    if spec.name and not schedule:
        name = spec.name
    entrants = [save_entrant(store, entrant) for entrant in run.entrants]
    tasks = list(run.tasks)
    if spec.stop is not None:  # the tasks played first must represent all
        random.Random(spec.seed).shuffle(tasks)
    # Task by task, with all entrants and attempts of a task together, so that an interrupted run compares fairly.
    cells = [
        (saved.task_ids[task.id], entrant, attempt)
        for task in tasks
        for attempt in range(1, spec.attempts + 1)
        for entrant in entrants
    ]
    return store.create_run(
        name=name,
        benchmark_id=saved.id,
        spec=spec.model_dump(mode="json"),
        seed=spec.seed,
        tags=spec.tags,
        owner=spec.owner,
        project=spec.project,
        leaderboard=spec.leaderboard,
        conditions=run.conditions,
        versions=versions(),
        host=platform.node(),
        schedule=schedule,
        prefect_flow_run_id=flow_run_id,
        cells=cells,
        sandbox=run.backend.name,
    )


def save_entrant(store: Store, entrant: Entrant) -> int:
    """Store the entrant, and return the id of its row. Calling this again is harmless."""
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
    found = {"python": platform.python_version(), "failure_points": FAILURE_POINTS}
    for package in ("stackrank", "prefect", "openai", "docker", "pytest"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def run_label(board: str, start: datetime, entrants: Sequence[str]) -> str:
    """Return a run's name in Prefect: `LEADERBOARD 2026-01-31 03:00 · ENTRANT, ENTRANT +3`."""
    shown = ", ".join(entrants[:_NAMED]) + (f" +{len(entrants) - _NAMED}" if len(entrants) > _NAMED else "")
    return f"{board} {start:%Y-%m-%d %H:%M} · {shown}"


def label_of(run: Mapping[str, Any]) -> str:
    """Return `run_label` for a run's row, as `db.queries.run` returns it."""
    start = datetime.fromisoformat(run["created_at"]).astimezone()
    return run_label(run["leaderboard"] or run["name"], start, [each["name"] for each in run["entrants"]])
