"""Lists the available benchmarks and tasks, with what is known about their soundness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.env.benchmarks.base import Benchmark, BenchmarkError, Source, digest, family_of
from stackrank.env.benchmarks.registry import benchmark_names, load_benchmark
from stackrank.env.benchmarks.testfiles import is_below, is_test_file, paths_named
from stackrank.env.benchmarks.verdict_rates import find_rates
from stackrank.env.difficulty import Difficulty, difficulty_label, find_difficulty
from stackrank.env.scoring.blind import can_seal, why_not_sealable
from stackrank.env.scoring.proof import find_proof
from stackrank.env.task import Task
from stackrank.errors import PluginError

Row = dict[str, Any]
_STANDING = {True: "valid", False: "invalid", None: "unproven"}


def benchmark_rows(engine: Engine) -> list[Row]:
    """Return all benchmarks: their current state or, if their data must be named, the state when last validated or run.

    A family of sets has a row for each stored set: `benchmark` is the family, `set` the name of the set.
    """
    stored = {row["name"]: row for row in reversed(queries.benchmarks(engine))}
    rows: list[Row] = []
    for name in benchmark_names():
        family = [stored.pop(set_name) for set_name in list(stored) if family_of(set_name) == name]
        try:
            benchmark = load_benchmark(name, Source(fetch=False))
            tasks = tuple(benchmark.tasks())
        except (BenchmarkError, PluginError) as error:
            last_rows = [_stored(engine, row) for row in family] or [{"benchmark": name, "set": "", "tasks": None}]
            rows += [{**row, "problem": str(error)} for row in last_rows]
            continue
        rows.append({**_about(benchmark, tasks, engine), "problem": ""})
        rows += [{**_stored(engine, row), "problem": ""} for row in family if row["name"] != name]
    return rows + [{**_stored(engine, row), "problem": ""} for row in stored.values()]


def task_rows(engine: Engine, benchmark: Benchmark) -> list[Row]:
    """Return a row for each task of a benchmark. Tasks that are left out have a row with the reason, and no digest."""
    validations, audits = queries.validations(engine, benchmark.name), queries.audits(engine, benchmark.name)
    repaired = queries.resolved_by(engine, benchmark.name, "repair")
    rows: list[Row] = []
    for task in benchmark.tasks():
        row = validations.get((task.id, task.digest))
        proof = find_proof(task)
        audit = audits.get((task.id, task.digest))
        measured = find_difficulty(task)
        repair = repaired.get((task.id, task.digest))
        rows.append(
            {
                "task": task.id,
                "title": task.title,
                "category": task.category,
                "difficulty": difficulty_label(task),
                "predicted": measured.predicted if measured else None,
                "measured": measured.document() if measured else None,
                "files": _count(task),
                "fault_files": [fault.file for fault in task.faults],
                "fail_to_pass": len(task.fail_to_pass),
                "digest": task.digest,
                "validated": _STANDING[row["valid"]] if row else None,
                "validated_rounds": row["validated_rounds"] if row else 0,
                "tests_deciding": proof.deciding if proof else None,
                "tests_covered": proof.covered if proof else None,
                "sealable": can_seal(task, proof) if proof else None,
                "unsealable_because": why_not_sealable(task, proof) if proof else "",
                "covered": f"{proof.covered} of {proof.deciding}" if proof else None,
                "reason": row["invalid_reason"] if row else "",
                "wrong_changes": len(audit["wrong"]) if audit else None,
                "test": task.score_command or task.test_command,
                "visible_test": task.test_command,
                "agents_see": _visible_part(task),
                **_rank_of(measured),
                "left_out": "",
                "repair": f"{repair[0]} of {repair[1]}" if repair else None,
            }
        )
    blank: Row = dict.fromkeys(rows[0]) if rows else {}
    return rows + [{**blank, "task": name, "left_out": reason} for name, reason in benchmark.excluded().items()]


def _visible_part(task: Task) -> str:
    """Say which of the tests that decide agents see."""
    if not task.test_command:
        return "statement alone"
    command = task.score_command or task.test_command
    try:
        places = paths_named(command, {*task.files, *task.hidden_files}) or ["."]
    except BenchmarkError:  # its repository is not available
        places = ["."]
    hidden = any(is_below(path, place) for path in filter(is_test_file, task.hidden_files) for place in places)
    return "a part" if hidden or command != task.test_command else "all tests"


def _rank_of(measured: Difficulty | None) -> Row:
    """Return where the failing test's traceback leads, and the fault's rank by Ochiai; empty if not measured."""
    if measured is None or measured.unmeasured:
        return {"traceback": "", "rank": ""}
    leads = "fault" if measured.in_traceback else "its file" if measured.in_named_file else "elsewhere"
    rank = measured.ranks["ochiai"]
    return {"traceback": leads, "rank": "-" if rank is None else f"{rank:g}"}


def _about(benchmark: Benchmark, tasks: Sequence[Task], engine: Engine) -> Row:
    stored = queries.validations(engine, benchmark.name)
    rates = find_rates(benchmark, tasks)
    validations = [stored.get((task.id, task.digest)) for task in tasks]
    facts = {
        "benchmark": family_of(benchmark.name),
        "set": benchmark.name,
        "tasks": len(tasks),
        "categories": dict(Counter(task.category for task in tasks)),
        "difficulties": dict(Counter(difficulty_label(task) for task in tasks)),
        "license": benchmark.license,
        "source": benchmark.source,
        "digest": digest(tasks),
        "excluded": dict(benchmark.excluded()),
        "rates": rates.document() if rates else None,
    }
    return {**facts, **_validated([row for row in validations if row], len(tasks))}


def _stored(engine: Engine, row: Mapping[str, Any]) -> Row:
    tasks = queries.tasks(engine, row["id"])
    facts = {
        "benchmark": family_of(row["name"]),
        "set": row["name"],
        "tasks": row["tasks_total"],
        "categories": dict(Counter(task["category"] for task in tasks)),
        "difficulties": dict(Counter(task["difficulty"] for task in tasks)),
        "license": row["license"],
        "source": row["source"],
        "digest": row["digest"],
        "rates": row["rates"],
    }
    return {**facts, **_validated([task for task in tasks if task["validated_at"]], len(tasks))}


def _validated(rows: Sequence[Mapping[str, Any]], total: int) -> Row:
    if not rows:
        return {"validated": None, "validated_at": None}
    valid = [row for row in rows if row["valid"]]
    return {
        "validated": f"{len(valid)} of {total}",
        "validated_rounds": min((row["validated_rounds"] for row in valid), default=0),
        "validated_at": max(row["validated_at"] for row in rows),
    }


def _count(task: Task) -> int | None:
    """Return how many files a task has; None if its repository is not available."""
    try:
        return len(task.files)
    except BenchmarkError:
        return None
