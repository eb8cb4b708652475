"""`stackrank validate`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from db import queries
from db.engine import connect
from db.store import Store
from env.benchmarks import bug_suite
from env.benchmarks.base import Benchmark, BenchmarkError, Source, digest
from env.benchmarks.bug_suite import BugSuite
from env.benchmarks.registry import load_benchmark, select
from env.corrections import save_correction
from env.sandbox.base import GuestBug
from env.sandbox.pool import Pool
from env.sandbox.registry import backend, default_backend
from env.scoring import NewSandbox
from env.task import Task
from env.validate import Standing, Validation, validate
from flows.errors import policy, sentence
from flows.output import print_json, print_table, say
from flows.plan import save_benchmark
from flows.prepare import prepare

_STORED = {Standing.VALID: True, Standing.INVALID: False, Standing.UNPROVEN: None}


def validate_benchmark(
    name: str,
    source: Source,
    names: list[str],
    *,
    rounds: int,
    workers: int | None,
    sandbox: str | None,
    again: bool,
    write: bool,
    as_json: bool,
) -> int:
    """Prove every task and store each result when it comes. Returns the exit status: 1 when a task is not sound.

    A task that was proved before, in at least as many rounds, is not played again unless `again`, or `write`: put
    the tests that have to pass into the tasks' own files (`bugs` only).
    """
    if write and name != BugSuite.name:
        raise BenchmarkError(f"--record writes into the files of {BugSuite.name} only, not of {name}")
    found = load_benchmark(name, source)
    all_tasks = tuple(found.tasks())
    chosen = select(all_tasks, names or None, None)
    place = backend(sandbox) if sandbox else default_backend()
    store = Store(connect())
    saved = save_benchmark(store, found, all_tasks)
    known = {} if again or write else _proved(store, found, chosen, rounds)
    results = {task: Validation(task, Standing.VALID) for task in known}
    left = [task for task in chosen if task.id not in known]
    if known:
        say(f"{len(known)} of {len(chosen)} tasks were proved before (--again proves them once more)")
    count = workers or os.cpu_count() or 2
    unbuilt = prepare(place, left, count, say)
    with Pool(place, size=count) as pool, _shown(len(chosen), len(known)) as show:
        for task_id, reason in unbuilt.items():
            results[task_id] = Validation(task_id, Standing.ERROR, reason)
            show(results[task_id])
        by_name = {task.id: task for task in left if task.id not in unbuilt}
        for result in _each(list(by_name.values()), pool.take, rounds, count):
            results[result.task] = result
            if by_name[result.task].lists_from_elsewhere and result.valid:
                save_correction(by_name[result.task], result.dropped)
                if result.dropped:
                    some = ", ".join(result.dropped[:3])
                    say(f"{result.task}: {len(result.dropped)} tests of its lists do not count here: {some}")
            if result.standing is not Standing.ERROR:
                outcome = (_STORED[result.standing], result.reason)
                store.save_validation(saved.id, {result.task: outcome}, rounds=rounds if result.valid else 0)
            show(result)
    ordered = [results[task.id] for task in chosen]
    if write:
        for result in ordered:
            if result.valid:
                bug_suite.record(result.task, result.fail_to_pass, result.pass_to_pass, source.path or bug_suite.DATA)
    counts = Counter(result.standing for result in ordered)
    if as_json:
        print_json(_document(found, all_tasks, ordered, rounds, len(known)))
    else:
        _print(found, ordered, counts, rounds)
    return 1 if counts[Standing.INVALID] or counts[Standing.ERROR] else 0


def _proved(store: Store, benchmark: Benchmark, tasks: Sequence[Task], rounds: int) -> set[str]:
    known = queries.validations(store.engine, benchmark.name)
    rows = {task.id: known.get((task.id, task.digest)) for task in tasks}
    return {name for name, row in rows.items() if row and row["valid"] and row["validated_rounds"] >= rounds}


def _each(tasks: Sequence[Task], new_sandbox: NewSandbox, rounds: int, workers: int) -> Iterator[Validation]:
    """The results as they come. What is not known for lack of time, or of the infrastructure, is tried once more."""
    late: list[Task] = []
    threads = ThreadPoolExecutor(max_workers=workers)
    try:
        futures = {threads.submit(_prove, task, new_sandbox, rounds): task for task in tasks}
        for future in as_completed(futures):
            if future.result().out_of_time or future.result().standing is Standing.ERROR:
                late.append(futures[future])
            else:
                yield future.result()
    finally:
        threads.shutdown(cancel_futures=True)
    for task in late:  # alone, so that none takes another's time
        yield _prove(task, new_sandbox, rounds)


def _prove(task: Task, new_sandbox: NewSandbox, rounds: int) -> Validation:
    """One task; a failure of the infrastructure is this task's alone."""
    try:
        return validate(task, new_sandbox, rounds)
    except Exception as error:
        if policy(error).retried or isinstance(error, GuestBug):
            return Validation(task.id, Standing.ERROR, sentence(error))
        if isinstance(error, BenchmarkError):  # what is read only when it is needed, such as a repository
            return Validation(task.id, Standing.ERROR, str(error))
        raise


@contextmanager
def _shown(total: int, done: int) -> Iterator[Callable[[Validation], None]]:
    """Progress on standard error: a bar on a terminal, else a line now and then; what is not valid at once."""
    terminal = sys.stderr.isatty()
    columns = (TextColumn("tasks"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not terminal) as bar:
        line = bar.add_task("", total=total, completed=done)
        count = done

        def show(result: Validation) -> None:
            nonlocal count
            count += 1
            bar.advance(line)
            if not result.valid:
                bar.console.print(f"{result.task}: {result.standing}: {result.reason}", markup=False, highlight=False)
            elif not terminal and (count % 10 == 0 or count == total):
                say(f"{count} of {total} tasks checked")

        yield show


def _print(benchmark: Benchmark, results: list[Validation], counts: Counter[Standing], rounds: int) -> None:
    rows = [{"task": each.task, "is": str(each.standing), "reason": each.reason} for each in results if not each.valid]
    rows += [{"task": name, "is": "left out", "reason": reason} for name, reason in benchmark.excluded().items()]
    if rows:
        print_table(rows, {"task": "task", "is": "is", "reason": "why"}, "")
    proved = f"{counts[Standing.VALID]} of {len(results)} tasks of {benchmark.name}"
    print(f"{proved} fail as given and pass with their fix, {rounds} times in a row.")


def _document(
    benchmark: Benchmark, tasks: tuple[Task, ...], results: list[Validation], rounds: int, known: int
) -> dict[str, Any]:
    counts = Counter(result.standing for result in results)
    return {
        "benchmark": benchmark.name,
        "digest": digest(tasks),
        "rounds": rounds,
        "valid": counts[Standing.VALID],
        "invalid": counts[Standing.INVALID],
        "unproven": counts[Standing.UNPROVEN],
        "errors": counts[Standing.ERROR],
        "proved_before": known,
        "excluded": dict(benchmark.excluded()),
        "tasks": [
            {
                "task": result.task,
                "standing": str(result.standing),
                "valid": _STORED.get(result.standing),
                "reason": result.reason,
                "dropped": list(result.dropped),
                "fail_to_pass": list(result.fail_to_pass),
                "pass_to_pass": list(result.pass_to_pass),
            }
            for result in results
        ],
    }
