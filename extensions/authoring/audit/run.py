"""Auditing the tests of a benchmark's tasks in parallel: finds and stores wrong changes that pass the tests.

Results found under equal conditions (task, engine, seed, sandbox) are reused, so an interrupted audit continues where
it stopped.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import libcst as cst
from pydantic import TypeAdapter

from stackrank.db import queries
from stackrank.db.writes.store import Store
from stackrank.env import mutation
from stackrank.env.benchmarks.base import Benchmark, BenchmarkError, Source, digest
from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.operators.catalogue import OPERATORS
from stackrank.env.mutation.source import ParsedFile
from stackrank.env.patches import PatchError, apply_patch, touched_files
from stackrank.env.sandbox.base import GuestBug, Say
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.scoring.record import environment_digest
from stackrank.env.scoring.verdict import NewSandbox
from stackrank.env.task import Task
from stackrank.extensions.authoring import audit as audit_package
from stackrank.extensions.authoring import inject
from stackrank.extensions.authoring.audit.audit import Audit, audit
from stackrank.extensions.authoring.audit.changes import Variant
from stackrank.flows.runs.playing.error_policy import describe_error, find_policy
from stackrank.flows.runs.playing.sandboxes import map_tasks
from stackrank.flows.runs.preparing.environments import build_environments
from stackrank.flows.runs.preparing.stored_benchmark import save_benchmark
from stackrank.wording import count_of

_AUDIT = TypeAdapter(Audit)
OnAudit = Callable[[Audit, int, int], None]
"""Called with a task's result, the number of finished tasks, and the number of all tasks."""


@dataclass(frozen=True)
class Audits:
    """What is known about the tests of a benchmark's tasks."""

    benchmark: Benchmark
    digest: str
    seed: int
    audited_before: int
    """How many of `results` come from an earlier audit under equal conditions."""
    results: tuple[Audit, ...]

    @property
    def audited(self) -> int:
        """How many tasks were audited."""
        return sum(result.audited for result in self.results)

    @property
    def weak(self) -> int:
        """How many tasks let a wrong change through."""
        return sum(bool(result.wrong) for result in self.results)

    def document(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "benchmark": self.benchmark.name,
            "digest": self.digest,
            "seed": self.seed,
            "audited": self.audited,
            "audited_before": self.audited_before,
            "with_wrong_changes": self.weak,
            "share": self.weak / self.audited if self.audited else None,
            "candidates": sum(result.tried for result in self.results),
            "undecided": sum(len(result.undecided) for result in self.results),
            "tasks": [{**asdict(result), "wrong_changes": len(result.wrong)} for result in self.results],
        }


def audit_benchmark(
    store: Store,
    name: str,
    source: Source,
    *,
    tasks: Sequence[str],
    limit: int | None,
    workers: int | None,
    sandbox: str | None,
    seed: int = 0,
    repeat: bool = False,
    say: Say,
    on_result: OnAudit,
) -> Audits:
    """Audit the tasks of a benchmark (all if `tasks` is empty), and store each result as soon as it is known.

    Results stored under equal conditions are reused, unless `again` is set. Raises BenchmarkError, SandboxError.
    """
    benchmark = load_benchmark(name, source)
    all_tasks = tuple(benchmark.tasks())
    selected = select(all_tasks, tasks or None, limit)
    backend = chosen_backend(sandbox)
    saved = save_benchmark(store, benchmark, all_tasks)
    rejected = queries.rejected_changes(store.engine, benchmark.name)
    conditions = {task.id: _conditions(task, backend.name, seed, rejected.get(task.id, ())) for task in selected}
    stored = {} if repeat else queries.audits(store.engine, benchmark.name)
    results = {
        task.id: _AUDIT.validate_python(row)
        for task in selected
        if (row := stored.get((task.id, task.digest))) and row.get("conditions") == conditions[task.id]
    }
    if reused := len(results):
        say(f"{reused} of {count_of(len(selected), 'task')} with results of an earlier audit; --again repeats it")
    remaining = [task for task in selected if task.id not in results]
    workers = workers or os.cpu_count() or 2
    unbuilt = build_environments(backend, remaining, workers, say)
    results |= {task: Audit(task, reason) for task, reason in unbuilt.items()}
    buildable = [task for task in remaining if task.id not in unbuilt]
    search = functools.partial(_audit, seed=seed, rejected=rejected)
    with closing(map_tasks(search, buildable, backend, workers)) as audits:
        for result in audits:
            results[result.task] = result
            if result.audited:
                # Candidates that were not tried for lack of time are tried in the next audit.
                under = None if result.untried else conditions[result.task]
                store.save_audit(saved.id, result.task, {**asdict(result), "conditions": under})
            on_result(result, len(results), len(selected))
    return Audits(benchmark, digest(all_tasks), seed, reused, tuple(results[task.id] for task in selected))


def _conditions(task: Task, backend: str, seed: int, rejected: Sequence[str]) -> str:
    """Hash everything that an audit depends on besides the task."""
    parts = (_engine(), environment_digest(task, backend), seed, *sorted(rejected))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@functools.cache
def _engine() -> str:
    """Hash the source of the code that makes and tries candidates; the scorer only confirms those that pass."""
    engine = hashlib.sha256(version("libcst").encode())
    folders = [Path(package.__path__[0]) for package in (audit_package, inject, mutation)]
    for file in sorted(file for folder in folders for file in folder.rglob("*.py")):
        engine.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return engine.hexdigest()


def rejected_fixes(task: Task, diffs: Sequence[str]) -> Iterator[Variant]:
    """Yield the fixes of this task that a person rejected, if they still apply to its files."""
    for diff in diffs:
        touched = touched_files(task.fix) | touched_files(diff)
        try:
            work = apply_patch({path: task.files[path] for path in touched if path in task.files}, diff)
        except PatchError:
            continue
        yield Variant("a fix that a person rejected", work)


def wrong_repairs(task: Task) -> Iterator[Callable[[], Variant]]:
    """Yield functions that make the changes that `repair` could try in the lines that the known fix touches."""
    for fault in task.faults:
        try:
            text = task.files[fault.file].decode()
            program = ParsedFile(fault.file, text)
        except (KeyError, UnicodeDecodeError, cst.ParserSyntaxError):
            continue
        fixed = {faulty.file: task.files[faulty.file] for faulty in task.faults if faulty.file in task.files}
        first, last = min(fault.lines, default=1), max(fault.lines, default=0)
        for context in program.contexts:
            if first <= program.line(context.node) <= last:
                for operator in OPERATORS:
                    for mutation in operator(context):
                        yield functools.partial(_as_candidate, mutation, fault.file, text, fixed)


def _as_candidate(mutation: Mutation, file: str, text: str, files: Mapping[str, bytes]) -> Variant:
    return Variant(f"a repair ({mutation.kind})", {**files, file: mutation.apply(text).encode()})


def _audit(task: Task, new_sandbox: NewSandbox, seed: int, rejected: Mapping[str, Sequence[str]]) -> Audit:
    """Audit one task; an infrastructure failure becomes the result of this task only."""
    try:
        rejected_variants = [*rejected_fixes(task, rejected.get(task.id, ()))]
        return audit(task, new_sandbox, wrong_repairs(task), seed, rejected_variants)
    except Exception as error:
        if find_policy(error).retried or isinstance(error, GuestBug):
            return Audit(task.id, describe_error(error))
        if isinstance(error, BenchmarkError):
            return Audit(task.id, str(error))
        raise
