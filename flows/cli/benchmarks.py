"""Commands about benchmarks and their tasks: listing, validating and making them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stackrank import wording
from stackrank.flows.cli.options import (
    BenchmarkName,
    DataPath,
    Environments,
    Fixes,
    Json,
    Night,
    Repos,
    Sandbox,
)
from stackrank.flows.cli.output import print_json, print_table
from stackrank.flows.cli.plugin_commands import find_option
from stackrank.flows.cli.progress import progress
from stackrank.wording import count_of, print_err, print_out

app = typer.Typer()


@app.command()
def benchmarks(as_json: Json = False) -> None:
    """List benchmarks."""
    from stackrank.db.connection.engine import connect
    from stackrank.flows.runs.preparing.catalogue import benchmark_rows

    rows = benchmark_rows(connect())
    if as_json:
        print_json(rows)
        return
    columns = {
        "shown": "benchmark", "tasks": "tasks", "kinds": "kinds", "difficulties": "difficulties",
        "license": "licence", "source": "source", "digest": "digest", "proved": "validated",
    }  # fmt: skip
    cells = [{**row, **_short(row), "shown": row["set"] or row["benchmark"]} for row in rows]
    print_table(cells, columns, "There is no benchmark.")
    for row in rows:
        if row.get("rates"):
            for line in wording.verdict_rates(row["rates"], row["digest"]):
                print_out(f"verdicts of {row['set'] or row['benchmark']}: {line}")
    for problem in dict.fromkeys(row["problem"] for row in rows if row["problem"]):
        print_out(problem)


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of a row, shortened to fit a terminal of 120 columns."""
    if row["tasks"] is None:
        return {}
    validated = row["validated"]
    difficulties = {name: count for name, count in row["difficulties"].items() if name}
    return {
        "kinds": len([name for name in row["categories"] if name]),
        "difficulties": ", ".join(f"{count} {name}" for name, count in difficulties.items()),
        "digest": row["digest"][:8],
        "proved": f"{validated} ({row['validated_rounds']}x)" if validated else "no",
    }


@app.command()
def tasks(
    benchmark: BenchmarkName,
    path: DataPath = None,
    fixes: Fixes = None,
    repos: Repos = None,
    environments: Environments = None,
    night: Night = "",
    as_json: Json = False,
) -> None:
    """List the tasks of a benchmark."""
    from stackrank.db.connection.engine import connect
    from stackrank.env.benchmarks.base import Source, TaskByTask, digest
    from stackrank.env.benchmarks.description import descriptions_of
    from stackrank.env.benchmarks.registry import load_benchmark
    from stackrank.env.benchmarks.verdict_rates import find_rates
    from stackrank.flows.runs.preparing.catalogue import task_rows

    loaded = load_benchmark(benchmark, Source(path, fixes, repos, environments, night))
    rows = task_rows(connect(), loaded)
    if as_json:
        print_json(rows)
        return
    columns = {
        "task": "task", "title": "title", "category": "category", "difficulty": "difficulty",
        "traceback": "traceback", "rank": "rank", "agents_see": "agents see", "validated": "validated",
        "covered": "tests sealed",
    }  # fmt: skip
    left_out = [row for row in rows if row["left_out"]]
    rows = [row for row in rows if not row["left_out"]]
    print_table(rows, columns, f"{benchmark} has no tasks.")
    origin = f", from {loaded.source}" if loaded.source else ""
    licence = f"licence {loaded.license or 'unknown'}"
    described, _excluded = descriptions_of(loaded)
    print_out(f"\n{count_of(len(rows), 'task')}, digest {digest(described)}, {licence}{origin}")
    if measured_rates := find_rates(loaded, described):
        for line in wording.verdict_rates(measured_rates.document(), digest(described)):
            print_out(f"verdicts: {line}")
    proved = [row for row in rows if row["sealable"] is not None]
    if rows:
        sealable, telling = (sum(bool(row[field]) for row in proved) for field in ("sealable", "distinguishing"))
        for line in wording.proofs(len(rows), len(proved), sealable, telling):
            print_out(line)
    for row in rows:
        if row["sealable"] is False:
            print_out(f"cannot be sealed: {row['task']}: {row['unsealable_because']}")
        if row["validated"] == "invalid":
            print_out(f"invalid: {row['task']}: {row['reason']}")
        if row["wrong_changes"]:
            print_out(
                f"weak tests: {row['task']}: "
                f"{count_of(row['wrong_changes'], 'wrong change passes', 'wrong changes pass')} (validate --attack)"
            )
    for row in left_out:
        print_out(f"left out: {row['task']}: {row['left_out']}")
    for note in loaded.notes if isinstance(loaded, TaskByTask) else ():
        print_out(f"note: {note}")
    if any(row["measured"] is None for row in rows):
        print_out("`stackrank validate` measures how difficult a task is: see docs/guide/difficulty.md")


@app.command()
def validate(
    benchmark: BenchmarkName,
    path: DataPath = None,
    fixes: Fixes = None,
    repos: Repos = None,
    environments: Environments = None,
    night: Night = "",
    tasks: Annotated[str, typer.Option(help="Only these tasks, separated by commas.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Most tasks, taken evenly from the list.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many times in a row each task is checked.")] = 5,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of concurrent tasks.")] = None,
    sandbox: Sandbox = None,
    recheck: Annotated[bool, typer.Option("--again", help="Also check tasks that were checked before.")] = False,
    record: Annotated[
        bool,
        typer.Option(
            "--record", help="Write lists of tests, proofs and difficulties that tasks lack into their files."
        ),
    ] = False,
    attack: Annotated[
        bool, typer.Option("--attack", help="Instead, look for wrong changes that pass, to find weak tests.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed that selects the changes that --attack tries.")] = 0,
    rates: Annotated[
        bool, typer.Option("--rates", help="Instead, measure how often verdicts are wrong, with labelled changes.")
    ] = False,
    changes: Annotated[
        Path | None,
        typer.Option(help="JSONL file or folder of patches for --rates. Default: the changes that come with it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Prove that every task fails as given and passes with its fix.

    With --attack: try mistakes in the fix, parts of it, special cases and the like against each task's tests. A change
    that passes is wrong if it behaves differently from the fix on inputs similar to those of the tests; its task is
    then marked as weak. A change that passes and shows no difference counts as undecided.

    With --rates: give verdicts on changes whose authors say whether they are right or wrong, and print how often wrong
    ones are resolved and right ones are not. With --record, the rates are stored with the benchmark.
    """
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.store import Store
    from stackrank.env.benchmarks.base import Source
    from stackrank.env.validate import Standing, Validation
    from stackrank.flows.runs.preparing.validation import validate_benchmark

    names = [name.strip() for name in tasks.split(",") if name.strip()]
    data = Source(path, fixes, repos, environments, night, count=limit, sandbox=sandbox)
    if attack:
        run_attack = find_option("validate", "attack", "authoring")
        run_attack(benchmark, data, names, limit, workers, sandbox, seed, recheck, as_json)
        return
    if rates:
        run_rates = find_option("validate", "rates", "authoring")
        run_rates(benchmark, data, changes, names, limit, workers, sandbox, record, as_json)
        return
    with progress("tasks") as show:

        def on_result(result: Validation, completed: int, total: int) -> None:
            show(completed, total)
            if not result.valid:
                print_err(f"{result.task}: {result.standing}: {result.reason}")

        proof = validate_benchmark(
            Store(connect()),
            benchmark,
            data,
            tasks=names,
            limit=limit,
            rounds=rounds,
            workers=workers,
            sandbox=sandbox,
            recheck=recheck,
            record=record,
            say=print_err,
            on_result=on_result,
        )
    if as_json:
        print_json(proof.document())
    else:
        rows = [
            {"task": result.task, "is": result.standing, "why": result.reason}
            for result in proof.results
            if not result.valid
        ]
        left_out = {name: reason for name, reason in proof.benchmark.excluded().items() if not names or name in names}
        rows += [{"task": name, "is": "left out", "why": reason} for name, reason in left_out.items()]
        if rows:
            print_table(rows, {"task": "task", "is": "is", "why": "why"}, "")
        valid, tried = proof.counts[Standing.VALID], count_of(len(proof.results), "task")
        does = "fails as given and passes with its fix" if valid == 1 else "fail as given and pass with their fix"
        print_out(f"{valid} of {tried} of {proof.benchmark.name} {does}, {wording.times_in_a_row(rounds)}.")
        if whole := len(proof.results) - proof.composed:
            for line in wording.proofs(whole, len(proof.proofs), proof.sealable, proof.distinguishing):
                print_out(line)
        if proof.composed:
            print_out(
                f"{count_of(proof.composed, 'task')} with several faults: each fault has the proof of its own task."
            )
        for name, reason in proof.unsealable.items():
            print_out(f"cannot be sealed: {name}: {reason}")
    raise typer.Exit(0 if proof.sound else 1)
