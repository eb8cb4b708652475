"""Proves every task of a benchmark, in parallel; tasks that proved before are not proved again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from stackrank.db import queries
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.base import Benchmark, BenchmarkError, Source, digest
from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.env.corrections import save_correction
from stackrank.env.difficulty import Measure, find_difficulty, load_measure, save_difficulty
from stackrank.env.difficulty import load as difficulty_of
from stackrank.env.sandbox.base import Backend, GuestBug, Say, spec_for
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.scoring.blind import why_not_sealable
from stackrank.env.scoring.proof import Proof as TaskProof
from stackrank.env.scoring.proof import find_proof, save_proof
from stackrank.env.scoring.proof import load as proof_of
from stackrank.env.scoring.verdict import NewSandbox
from stackrank.env.task import Task
from stackrank.env.validate import RecordsValidations, Standing, Validation, validate
from stackrank.errors import PluginError
from stackrank.flows.runs.playing.error_policy import describe_error, find_policy
from stackrank.flows.runs.playing.sandboxes import map_tasks
from stackrank.flows.runs.preparing.environments import build_environments
from stackrank.flows.runs.preparing.stored_benchmark import save_benchmark
from stackrank.wording import count_of

_STORED = {Standing.VALID: True, Standing.INVALID: False, Standing.UNPROVEN: None}
OnResult = Callable[[Validation, int, int], None]
"""Called with a task's result, the number of finished tasks, and the number of all tasks."""


@dataclass(frozen=True)
class Proof:
    """What is known about the tasks of a benchmark."""

    benchmark: Benchmark
    digest: str
    rounds: int
    proved_before: int
    results: tuple[Validation, ...]
    proofs: Mapping[str, TaskProof]
    """The tasks that have a proof: name -> proof."""
    unsealable: Mapping[str, str]
    """Those of them whose verdicts cannot be sealed: name -> why."""
    composed: int = 0
    """How many tasks have several faults in folders of their own. Each of those has the proof of its own task."""

    @property
    def sealable(self) -> int:
        """How many tasks have verdicts that can be sealed."""
        return len(self.proofs) - len(self.unsealable)

    @property
    def distinguishing(self) -> int:
        """How many tasks have hidden tests that tell the program as given from the fix without expected values."""
        return sum(proof.distinguishing > 0 for proof in self.proofs.values())

    @property
    def counts(self) -> Counter[Standing]:
        """The number of tasks with each standing."""
        return Counter(result.standing for result in self.results)

    @property
    def sound(self) -> bool:
        """Whether no task is invalid, and every task could be tried."""
        return not (self.counts[Standing.INVALID] or self.counts[Standing.ERROR])

    def document(self) -> dict[str, Any]:
        """Return the result as plain data."""
        counts = self.counts
        return {
            "benchmark": self.benchmark.name,
            "digest": self.digest,
            "rounds": self.rounds,
            "valid": counts[Standing.VALID],
            "invalid": counts[Standing.INVALID],
            "unproven": counts[Standing.UNPROVEN],
            "errors": counts[Standing.ERROR],
            "proofs": len(self.proofs),
            "distinguishing": self.distinguishing,
            "sealable": self.sealable,
            "proved_before": self.proved_before,
            "excluded": dict(self.benchmark.excluded()),
            "tasks": [self._row(result) for result in self.results],
        }

    def _row(self, result: Validation) -> dict[str, Any]:
        proof = self.proofs.get(result.task)
        return {
            "task": result.task,
            "standing": str(result.standing),
            "valid": _STORED.get(result.standing),
            "reason": result.reason,
            "dropped": list(result.dropped),
            "tests_deciding": proof.deciding if proof else None,
            "tests_covered": proof.covered if proof else None,
            "uncovered_because": proof.reason if proof else "",
            "distinguishing": proof.distinguishing if proof else None,
            "sealable": result.task not in self.unsealable if proof else None,
            "unsealable_because": self.unsealable.get(result.task, ""),
            "measured": result.measured.document() if result.measured else None,
            "fail_to_pass": list(result.fail_to_pass),
            "pass_to_pass": list(result.pass_to_pass),
        }


def validate_benchmark(
    store: Store,
    name: str,
    source: Source,
    *,
    tasks: Sequence[str],
    limit: int | None = None,
    rounds: int,
    workers: int | None,
    sandbox: str | None,
    recheck: bool,
    record: bool,
    say: Say,
    on_result: OnResult,
) -> Proof:
    """Prove the tasks of a benchmark (all if `tasks` is empty), and store each result as soon as it is known.

    A task that was proved before, in at least as many rounds, is not proved again unless `recheck` is set.
    `record` writes the result of each valid task into its own files, as soon as it is known, except for tasks that
    have one already: for `bugs` the tests that must pass, the proofs and the measured difficulty, for `deep` the latter
    two, for `releases` also which tests judge which fault, for `repo` lists of tests where there are none. Raises
    BenchmarkError, SandboxError.
    """
    benchmark = load_benchmark(name, source)
    if record and not isinstance(benchmark, RecordsValidations):
        raise BenchmarkError(f"{name} has no files of its own for the results: leave out --record")
    measure = _find_measure(say, recheck)
    all_tasks = tuple(benchmark.tasks())
    selected = select(all_tasks, tasks or None, limit)
    backend = chosen_backend(sandbox)
    saved = save_benchmark(store, benchmark, all_tasks)
    proved = set() if recheck else _recorded(selected) if record else _proved(store, benchmark, selected, rounds)
    unmeasured = {task.id for task in selected if measure and task.id in proved and find_difficulty(task) is None}
    if proved:
        say(f"{len(proved)} of {count_of(len(selected), 'task')} proved before (--again proves them again)")
    if unmeasured:
        say(f"measuring the difficulty of {len(unmeasured)} of them, which was not measured before")
    results = {task: Validation(task, Standing.VALID) for task in proved - unmeasured}

    def add(result: Validation) -> None:
        results[result.task] = result
        on_result(result, len(results), len(selected))

    workers = workers or os.cpu_count() or 2
    unproved = {task.id: task for task in selected if task.id not in proved or task.id in unmeasured}
    if record and isinstance(benchmark, RecordsValidations):
        unproved = {name: benchmark.to_record(task) for name, task in unproved.items()}
    for task_id, reason in build_environments(backend, list(unproved.values()), workers, say).items():
        add(Validation(task_id, Standing.ERROR, reason))
        del unproved[task_id]
    with closing(_results(list(unproved.values()), backend, rounds, workers, unmeasured, measure, say)) as validations:
        for result in validations:
            if result.measured is not None:
                save_difficulty(unproved[result.task], result.measured)
            if result.task in unmeasured:
                add(result)
                continue
            if unproved[result.task].lists_from_elsewhere and result.valid:
                save_correction(unproved[result.task], result.dropped)
                if result.dropped:
                    examples = ", ".join(result.dropped[:3])
                    say(
                        f"{result.task}: {count_of(len(result.dropped), 'listed test does', 'listed tests do')} "
                        f"not count on this machine: {examples}"
                    )
            if result.standing is not Standing.ERROR:
                outcome = (_STORED[result.standing], result.reason)
                covered = (result.proof.deciding, result.proof.covered) if result.proof else (None, None)
                passed = rounds if result.valid else 0
                store.save_validation(saved.id, {result.task: outcome}, rounds=passed, covered=covered)
            if result.proof is not None:
                save_proof(unproved[result.task], result.proof)
            if record and result.valid and isinstance(benchmark, RecordsValidations):
                benchmark.record([result])
            add(result)
    save_benchmark(store, benchmark, all_tasks)  # again, now with the measurements
    ordered = tuple(results[task.id] for task in selected)
    if record and isinstance(benchmark, RecordsValidations):
        valid = [validation for validation in ordered if validation.valid and validation.task in unproved]
        recorded = {task.id: task for task in _keep_results(store, name, source, valid, rounds)}
        selected = [recorded.get(task.id, task) for task in selected]
    proofs = {task.id: proof for task in selected if (proof := find_proof(task) or results[task.id].proof)}
    unsealable = {
        task.id: reason
        for task in selected
        if task.id in proofs and (reason := why_not_sealable(task, proofs[task.id]))
    }
    return Proof(
        benchmark,
        digest(all_tasks),
        rounds,
        len(proved),
        ordered,
        proofs,
        unsealable,
        sum(task.is_composed for task in selected),
    )


def _keep_results(
    store: Store, name: str, source: Source, valid: Sequence[Validation], rounds: int
) -> tuple[Task, ...]:
    """Store the results also for the tasks as the record has changed them: they are the same tasks. Returns these."""
    benchmark = load_benchmark(name, source)
    tasks = tuple(benchmark.tasks())
    saved = save_benchmark(store, benchmark, tasks)
    for result in valid:
        covered = (result.proof.deciding, result.proof.covered) if result.proof else (None, None)
        store.save_validation(saved.id, {result.task: (True, "")}, rounds=rounds, covered=covered)
    return tasks


def _find_measure(say: Say, again: bool) -> Measure | None:
    """Return the function that measures tasks, unless they were measured before and this does not have to be done
    `again`; None if no plug-in provides one.
    """
    try:
        measure = load_measure()
    except PluginError as error:
        say(f"the difficulty of tasks is not measured: {error}")
        return None
    if measure is None or again:
        return measure
    return lambda task, sandbox: find_difficulty(task) or measure(task, sandbox)


def _proved(store: Store, benchmark: Benchmark, tasks: Sequence[Task], rounds: int) -> set[str]:
    validations = queries.validations(store.engine, benchmark.name)
    rows = {task.id: validations.get((task.id, task.digest)) for task in tasks}
    return {name for name, row in rows.items() if row and row["valid"] and row["validated_rounds"] >= rounds}


def _recorded(tasks: Sequence[Task]) -> set[str]:
    """Return the tasks that come with a proof and a difficulty."""
    recorded = set()
    for task in tasks:
        proof = proof_of(task.proof) if task.proof else None
        measured = difficulty_of(task.measured) if task.measured else None
        if proof and measured and proof.digest == measured.digest == task.digest:
            recorded.add(task.id)
    return recorded


def _results(
    tasks: Sequence[Task],
    backend: Backend,
    rounds: int,
    workers: int,
    proved: Collection[str],
    measure: Measure | None,
    say: Say,
) -> Generator[Validation, None, None]:
    """Yield results as they come. Tasks that ran out of time or hit an infrastructure failure are tried once more."""
    retried: set[str] = set()
    prove = partial(_prove, rounds=rounds, proved=proved, measure=measure, say=say)
    with closing(map_tasks(prove, tasks, backend, workers)) as results:
        for result in results:
            if result.out_of_time or result.standing is Standing.ERROR:
                retried.add(result.task)
            else:
                yield result
    # One at a time, so that none takes time from another.
    with closing(map_tasks(prove, [task for task in tasks if task.id in retried], backend, 1)) as results:
        yield from results


def _prove(
    task: Task, new_sandbox: NewSandbox, rounds: int, proved: Collection[str], measure: Measure | None, say: Say
) -> Validation:
    """Prove one task; an infrastructure failure becomes its result. A task in `proved` is only measured."""
    try:
        if measure and task.id in proved:
            with new_sandbox(spec_for(task, warm=False)) as sandbox:
                return Validation(task.id, Standing.VALID, measured=measure(task, sandbox))
        return validate(task, new_sandbox, rounds, measure, say)
    except Exception as error:
        if find_policy(error).retried or isinstance(error, GuestBug):
            return Validation(task.id, Standing.ERROR, describe_error(error))
        if isinstance(error, BenchmarkError):  # from data that is read only when needed, such as a repository
            return Validation(task.id, Standing.ERROR, str(error))
        raise
