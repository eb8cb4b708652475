"""Commands about benchmarks: benchmarks, tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine

from db import queries
from db.engine import connect
from env.benchmarks.base import Benchmark, BenchmarkError, Source, digest
from env.benchmarks.registry import benchmark_names, load_benchmark
from env.task import Task
from flows.output import print_json, print_table

_STANDING = {True: "valid", False: "invalid", None: "unproven"}


def benchmarks(as_json: bool) -> None:
    """List the benchmarks: as they are, or, where their data has to be named, as they were last validated or run."""
    engine = connect()
    stored = {row["name"]: row for row in reversed(queries.benchmarks(engine))}
    rows: list[dict[str, Any]] = []
    for name in benchmark_names():
        try:
            found = load_benchmark(name)
            rows.append({**_about(found, tuple(found.tasks()), engine), "problem": ""})
        except BenchmarkError as error:
            last = _stored(engine, stored[name]) if name in stored else {"benchmark": name, "tasks": None}
            rows.append({**last, "problem": str(error)})
    rows += [{**_stored(engine, row), "problem": ""} for name, row in stored.items() if name not in benchmark_names()]
    if as_json:
        print_json(rows)
        return
    columns = {
        "benchmark": "benchmark", "tasks": "tasks", "kinds": "kinds", "difficulties": "difficulties",
        "license": "licence", "source": "source", "digest": "digest", "proved": "validated",
    }  # fmt: skip
    print_table([{**row, **_short(row)} for row in rows], columns, "There is no benchmark.", width=120)
    for row in rows:
        if row["problem"]:
            print(row["problem"])


def _about(benchmark: Benchmark, tasks: Sequence[Task], engine: Engine) -> dict[str, Any]:
    known = queries.validations(engine, benchmark.name)
    found = [known.get((task.id, task.digest)) for task in tasks]
    about = {
        "benchmark": benchmark.name,
        "tasks": len(tasks),
        "categories": dict(Counter(task.category for task in tasks)),
        "difficulties": dict(Counter(task.difficulty for task in tasks)),
        "license": benchmark.license,
        "source": benchmark.source,
        "digest": digest(tasks),
        "excluded": dict(benchmark.excluded()),
    }
    return {**about, **_validated([row for row in found if row], len(tasks))}


def _stored(engine: Engine, row: dict[str, Any]) -> dict[str, Any]:
    tasks = queries.tasks(engine, row["id"])
    about = {
        "benchmark": row["name"],
        "tasks": row["tasks_total"],
        "categories": dict(Counter(task["category"] for task in tasks)),
        "difficulties": dict(Counter(task["difficulty"] for task in tasks)),
        "license": row["license"],
        "source": row["source"],
        "digest": row["digest"],
    }
    return {**about, **_validated([task for task in tasks if task["validated_at"]], len(tasks))}


def _validated(rows: Sequence[dict[str, Any]], total: int) -> dict[str, Any]:
    if not rows:
        return {"validated": None, "validated_at": None}
    valid = [row for row in rows if row["valid"]]
    return {
        "validated": f"{len(valid)} of {total}",
        "validated_rounds": min((row["validated_rounds"] for row in valid), default=0),
        "validated_at": max(row["validated_at"] for row in rows),
    }


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """The cells of a row as a terminal of 120 columns has room for them."""
    if row["tasks"] is None:
        return {}
    validated = row["validated"]
    known = {name: count for name, count in row["difficulties"].items() if name}
    return {
        "kinds": len([name for name in row["categories"] if name]),
        "difficulties": ", ".join(f"{count} {name}" for name, count in known.items()),
        "digest": row["digest"][:8],
        "proved": f"{validated} ({row['validated_rounds']}x)" if validated else "no",
    }


def tasks(name: str, source: Source, as_json: bool) -> None:
    """List the tasks of a benchmark."""
    found = load_benchmark(name, source)
    all_tasks = tuple(found.tasks())
    known = queries.validations(connect(), found.name)
    rows: list[dict[str, Any]] = []
    for task in all_tasks:
        row = known.get((task.id, task.digest))
        rows.append(
            {
                "task": task.id,
                "title": task.title,
                "category": task.category,
                "difficulty": task.difficulty,
                "files": _count(task),
                "fault_files": [fault.file for fault in task.faults],
                "fail_to_pass": len(task.fail_to_pass),
                "digest": task.digest,
                "validated": _STANDING[row["valid"]] if row else None,
                "validated_rounds": row["validated_rounds"] if row else 0,
                "reason": row["invalid_reason"] if row else "",
            }
        )
    if as_json:
        print_json(rows)
        return
    columns = {
        "task": "task", "title": "title", "category": "category", "difficulty": "difficulty", "files": "files",
        "validated": "validated",
    }  # fmt: skip
    print_table(rows, columns, f"{name} has no tasks.", width=120)
    print(f"\n{len(rows)} tasks, digest {digest(all_tasks)}, licence {found.license}, from {found.source}")
    for row in rows:
        if row["validated"] == "invalid":
            print(f"invalid: {row['task']}: {row['reason']}")
    for task_id, reason in found.excluded().items():
        print(f"left out: {task_id}: {reason}")


def _count(task: Task) -> int | None:
    """How many files a task has; None where its repository is not at hand."""
    try:
        return len(task.files)
    except BenchmarkError:
        return None
