"""Stores a benchmark and its tasks in the database."""

from __future__ import annotations

from typing import Any

from stackrank.db.writes.store import SavedBenchmark, Store
from stackrank.env.benchmarks.base import Benchmark, digest
from stackrank.env.benchmarks.git import CommitFiles
from stackrank.env.benchmarks.verdict_rates import find_rates
from stackrank.env.difficulty import difficulty_label, find_difficulty
from stackrank.env.task import Task
from stackrank.patches.contents import decode_text

MOST_SHOWN = 256 * 1024
"""Most bytes of a task's files that are stored for the trace page."""


def save_benchmark(store: Store, benchmark: Benchmark, tasks: tuple[Task, ...]) -> SavedBenchmark:
    """Store the benchmark and its tasks, and return their rows. Calling this again is harmless."""
    rates = find_rates(benchmark, tasks)
    return store.save_benchmark(
        name=benchmark.name,
        digest=digest(tasks),
        license=benchmark.license,
        source=benchmark.source,
        tasks=[_task_row(task) for task in tasks],
        rates=rates.document() if rates else None,
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
    texts: dict[str, str] = {}
    bytes_left = MOST_SHOWN
    # Of a whole repository, only the faulty files are read.
    files = task.files.read(faulty) if isinstance(task.files, CommitFiles) else task.files
    for path in sorted(files, key=lambda path: (path not in faulty, not path.endswith(".py"), path)):
        content = files[path]
        if len(content) > bytes_left or (text := decode_text(content, path)) is None:
            continue
        texts[path] = text
        bytes_left -= len(content)
    return texts
