"""Tries tasks that were never validated, before anybody plays them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing

from stackrank.db import queries
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.base import Benchmark, BenchmarkError
from stackrank.env.sandbox.base import Backend, GuestBug, Say
from stackrank.env.scoring.proof import find_proof
from stackrank.env.scoring.verdict import NewSandbox
from stackrank.env.task import Task
from stackrank.env.validate import Standing, Validation, try_once
from stackrank.flows.runs.playing.error_policy import describe_error, find_policy
from stackrank.flows.runs.playing.sandboxes import map_tasks
from stackrank.flows.runs.preparing.stored_benchmark import save_benchmark

_SAY_EVERY_S = 10.0


def try_unvalidated(
    store: Store,
    benchmark: Benchmark,
    all_tasks: tuple[Task, ...],
    tasks: Sequence[Task],
    backend: Backend,
    workers: int,
    say: Say,
) -> dict[str, str]:
    """Try those of `tasks` that were never validated, and store the results, so that each is tried once.

    Returns the tasks that cannot be played: name -> why. They pass as given, or fail with their known fix. A task whose
    lists were made elsewhere is not tried, because only `validate` can correct them. Raises what `map_tasks` raises.
    """
    validations = queries.validations(store.engine, benchmark.name)
    unknown = [task for task in tasks if not validations.get((task.id, task.digest)) and not _is_proved(task)]
    foreign = [task.id for task in unknown if task.lists_from_elsewhere]
    if foreign:
        say(f"never validated: {_listed(foreign)}; `stackrank validate` shows which of their tests count here")
    tried = [task for task in unknown if not task.lists_from_elsewhere]
    if not tried:
        return {}
    say(f"never validated, so tried once before anybody plays: {_listed([task.id for task in tried])}")
    saved = save_benchmark(store, benchmark, all_tasks)
    invalid: dict[str, str] = {}
    told = time.monotonic()
    with closing(map_tasks(_try, tried, backend, workers)) as results:
        for number, result in enumerate(results, 1):
            if time.monotonic() - told > _SAY_EVERY_S:
                told = time.monotonic()
                say(f"tried {number} of {len(tried)}")
            if result.standing is Standing.ERROR or result.out_of_time:
                say(f"{result.task} could not be tried: {result.reason}")
                continue
            valid = {Standing.VALID: True, Standing.INVALID: False}.get(result.standing)
            store.save_validation(saved.id, {result.task: (valid, result.reason)}, rounds=int(bool(valid)))
            if valid is False:
                invalid[result.task] = result.reason
    return invalid


def _is_proved(task: Task) -> bool:
    """Whether a proof comes with the task, whose author has validated it. One of this machine shows less: verdicts make
    proofs too, also of tasks that pass as given."""
    if task.is_composed:
        return all(_is_proved(part.task) for part in task.parts)
    proof = find_proof(task) if task.proof else None
    return proof is not None and proof.deciding > 0


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)} task{'s' * (len(names) > 1)} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})"


def _try(task: Task, new_sandbox: NewSandbox) -> Validation:
    try:
        return try_once(task, new_sandbox)
    except Exception as error:
        if find_policy(error).retried or isinstance(error, GuestBug | BenchmarkError):
            return Validation(task.id, Standing.ERROR, describe_error(error))
        raise


def explain(invalid: Mapping[str, str]) -> str:
    """Return the reasons of the first few invalid tasks, for a sentence."""
    return "; ".join(f"{name}: {reason}" for name, reason in list(invalid.items())[:3])
