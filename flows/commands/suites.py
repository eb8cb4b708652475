"""Commands about benchmarks: benchmarks, tasks, validate."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from db import queries
from db.engine import connect
from db.store import Store
from env.benchmarks import bug_suite
from env.benchmarks.base import Benchmark, BenchmarkError, Source, digest
from env.benchmarks.bug_suite import BugSuite
from env.benchmarks.registry import benchmark_names, load_benchmark, select
from env.sandbox.pool import Pool
from env.sandbox.registry import backend, default_backend
from env.task import Task
from env.validate import Validation, validate
from flows.output import print_json, print_table, say
from flows.plan import save_benchmark


def benchmarks(as_json: bool) -> None:
    """List the benchmarks that can be loaded as they are, and those that need a path."""
    known = {(row["name"], row["digest"]): row for row in queries.benchmarks(connect())}
    rows: list[dict[str, Any]] = []
    for name in benchmark_names():
        try:
            found = load_benchmark(name)
            tasks = tuple(found.tasks())
        except BenchmarkError as error:
            rows.append({"benchmark": name, "tasks": None, "problem": str(error)})
            continue
        rows.append({**_about(found, tasks), **_validated(known.get((name, digest(tasks))))})
    if as_json:
        print_json(rows)
        return
    columns = {
        "benchmark": "benchmark", "tasks": "tasks", "difficulties": "difficulties", "license": "license",
        "source": "source", "digest": "digest", "validated": "validated", "problem": "",
    }  # fmt: skip
    shown = [{**row, "difficulties": _counted(row.get("difficulties", {}))} for row in rows]
    print_table(shown, columns, "There is no benchmark.")


def _about(benchmark: Benchmark, tasks: tuple[Task, ...]) -> dict[str, Any]:
    return {
        "benchmark": benchmark.name,
        "tasks": len(tasks),
        "categories": dict(Counter(task.category for task in tasks)),
        "difficulties": dict(Counter(task.difficulty for task in tasks)),
        "license": benchmark.license,
        "source": benchmark.source,
        "digest": digest(tasks),
        "excluded": dict(benchmark.excluded()),
    }


def _validated(row: dict[str, Any] | None) -> dict[str, Any]:
    if row is None or not row["validated_at"]:
        return {"validated": None, "validated_at": None}
    return {"validated": f"{row['tasks_valid']} of {row['tasks_total']}", "validated_at": row["validated_at"]}


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def tasks(name: str, source: Source, as_json: bool) -> None:
    """List the tasks of a benchmark."""
    found = load_benchmark(name, source)
    rows: list[dict[str, Any]] = [
        {
            "task": task.id,
            "title": task.title,
            "category": task.category,
            "difficulty": task.difficulty,
            "files": _count(task),
            "fault_files": [fault.file for fault in task.faults],
            "fail_to_pass": len(task.fail_to_pass),
            "digest": task.digest,
        }
        for task in found.tasks()
    ]
    if as_json:
        print_json(rows)
        return
    columns = {"task": "task", "title": "title", "category": "category", "difficulty": "difficulty", "files": "files"}
    print_table(rows, columns, f"{name} has no tasks.")
    for task, reason in found.excluded().items():
        print(f"left out: {task}: {reason}")


def _count(task: Task) -> int | None:
    """How many files a task has; None where its repository is not at hand."""
    try:
        return len(task.files)
    except BenchmarkError:
        return None


def validate_benchmark(
    name: str,
    source: Source,
    names: list[str],
    *,
    rounds: int,
    workers: int | None,
    sandbox: str | None,
    write: bool,
    as_json: bool,
) -> int:
    """Prove every task and store the result. Returns the exit status: 0 when all are valid.

    `write`: put the tests that have to pass into the tasks' own files (`bugs` only).
    """
    if write and name != BugSuite.name:
        raise BenchmarkError(f"--record writes into the files of {BugSuite.name} only, not of {name}")
    found = load_benchmark(name, source)
    all_tasks = tuple(found.tasks())
    chosen = select(all_tasks, names or None, None)
    place = backend(sandbox) if sandbox else default_backend()
    store = Store(connect())
    results: list[Validation] = []
    count = workers or os.cpu_count() or 2
    with Pool(place, size=count) as pool, ThreadPoolExecutor(max_workers=count) as threads:
        for result in threads.map(lambda task: validate(task, pool.take, rounds), chosen):
            results.append(result)
            if not result.valid:
                say(f"{result.task}: {result.reason}")
            elif len(results) % 10 == 0 or len(results) == len(chosen):
                say(f"{len(results)} of {len(chosen)} tasks checked")
    if write:
        for result in results:
            if result.valid:
                bug_suite.record(result.task, result.fail_to_pass, result.pass_to_pass, source.path or bug_suite.DATA)
    saved = save_benchmark(store, found, all_tasks)
    store.save_validation(saved.id, {result.task: (result.valid, result.reason) for result in results})
    valid = sum(result.valid for result in results)
    if as_json:
        print_json(_document(found, all_tasks, results, rounds, valid))
    else:
        rows = [{"task": result.task, "reason": result.reason} for result in results if not result.valid]
        if rows:
            print_table(rows, {"task": "task", "reason": "why it is not valid"}, "")
        proved = f"{valid} of {len(results)} tasks of {name}"
        print(f"{proved} fail as given and pass with their fix, {rounds} times in a row.")
    return 0 if valid == len(results) else 1


def _document(
    benchmark: Benchmark, tasks: tuple[Task, ...], results: list[Validation], rounds: int, valid: int
) -> dict[str, Any]:
    return {
        "benchmark": benchmark.name,
        "digest": digest(tasks),
        "rounds": rounds,
        "valid": valid,
        "invalid": len(results) - valid,
        "tasks": [
            {
                "task": result.task,
                "valid": result.valid,
                "reason": result.reason,
                "fail_to_pass": list(result.fail_to_pass),
                "pass_to_pass": list(result.pass_to_pass),
            }
            for result in results
        ],
    }
