"""Lists the available benchmarks and tasks, with what is known about their soundness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.env.benchmarks.base import Benchmark, BenchmarkError, Source, digest, family_of
from stackrank.env.benchmarks.description import TaskDescription, descriptions_of
from stackrank.env.benchmarks.registry import benchmark_names, load_benchmark
from stackrank.env.benchmarks.verdict_rates import find_rates
from stackrank.env.difficulty import Difficulty
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
            tasks, excluded = descriptions_of(benchmark)
        except (BenchmarkError, PluginError) as error:
            last_rows = [_stored(engine, row) for row in family] or [{"benchmark": name, "set": "", "tasks": None}]
            rows += [{**row, "problem": str(error)} for row in last_rows]
            continue
        rows.append({**_about(benchmark, tasks, excluded, engine), "problem": ""})
        rows += [{**_stored(engine, row), "problem": ""} for row in family if row["name"] != name]
    return rows + [{**_stored(engine, row), "problem": ""} for row in stored.values()]


def task_rows(engine: Engine, benchmark: Benchmark) -> list[Row]:
    """Return a row for each task of a benchmark. Tasks that are left out have a row with the reason, and no digest."""
    validations, audits = queries.validations(engine, benchmark.name), queries.audits(engine, benchmark.name)
    repaired = queries.resolved_by(engine, benchmark.name, "repair")
    rows: list[Row] = []
    tasks, excluded = descriptions_of(benchmark)
    for task in tasks:
        row = validations.get((task.id, task.digest))
        audit = audits.get((task.id, task.digest))
        repair = repaired.get((task.id, task.digest))
        proved = task.deciding is not None
        rows.append(
            {
                "task": task.id,
                "title": task.title,
                "category": task.category,
                "difficulty": task.label,
                "predicted": task.measured.predicted if task.measured else None,
                "measured": task.measured.document() if task.measured else None,
                "files": task.files,
                "fault_files": list(task.fault_files),
                "fail_to_pass": task.fail_to_pass,
                "digest": task.digest,
                "validated": _STANDING[row["valid"]] if row else None,
                "validated_rounds": row["validated_rounds"] if row else 0,
                "tests_deciding": task.deciding,
                "tests_covered": task.covered,
                "distinguishing": task.distinguishing,
                "sealable": not task.unsealable if proved else None,
                "unsealable_because": task.unsealable,
                "covered": f"{task.covered} of {task.deciding}" if proved else None,
                "reason": row["invalid_reason"] if row else "",
                "wrong_changes": len(audit["wrong"]) if audit else None,
                "test": task.test,
                "visible_test": task.visible_test,
                "agents_see": task.agents_see,
                **_rank_of(task.measured),
                "left_out": "",
                "repair": f"{repair[0]} of {repair[1]}" if repair else None,
            }
        )
    blank: Row = dict.fromkeys(rows[0]) if rows else {}
    return rows + [{**blank, "task": name, "left_out": reason} for name, reason in excluded.items()]


def _rank_of(measured: Difficulty | None) -> Row:
    """Return where the failing test's traceback leads, and the fault's rank by Ochiai; empty if not measured."""
    if measured is None or measured.unmeasured:
        return {"traceback": "", "rank": ""}
    leads = "fault" if measured.in_traceback else "its file" if measured.in_named_file else "elsewhere"
    rank = measured.ranks["ochiai"]
    return {"traceback": leads, "rank": "-" if rank is None else f"{rank:g}"}


def _about(benchmark: Benchmark, tasks: Sequence[TaskDescription], excluded: Mapping[str, str], engine: Engine) -> Row:
    stored = queries.validations(engine, benchmark.name)
    rates = find_rates(benchmark, tasks)
    validations = [stored.get((task.id, task.digest)) for task in tasks]
    facts = {
        "benchmark": family_of(benchmark.name),
        "set": benchmark.name,
        "tasks": len(tasks),
        "categories": dict(Counter(task.category for task in tasks)),
        "difficulties": dict(Counter(task.label for task in tasks)),
        "license": benchmark.license,
        "source": benchmark.source,
        "digest": digest(tasks),
        "excluded": dict(excluded),
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
