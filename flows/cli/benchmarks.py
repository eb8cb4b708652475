"""Commands about benchmarks and their tasks: listing, validating and making them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stackrank.flows.cli.options import BenchmarkName, DataPath, Environments, Fixes, Json, Night, Repos, Sandbox
from stackrank.flows.cli.output import print_json, print_table
from stackrank.flows.cli.progress import progress
from stackrank.wording import print_err, print_out

if TYPE_CHECKING:
    from stackrank.env.benchmarks.base import Source

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
    shown = [{**row, **_short(row), "shown": row["set"] or row["benchmark"]} for row in rows]
    print_table(shown, columns, "There is no benchmark.", width=120)
    for problem in dict.fromkeys(row["problem"] for row in rows if row["problem"]):
        print_out(problem)


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of a row, shortened to fit a terminal of 120 columns."""
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
    from stackrank.env.benchmarks.registry import load_benchmark
    from stackrank.flows.runs.preparing.catalogue import task_rows

    found = load_benchmark(benchmark, Source(path, fixes, repos, environments, night))
    rows = task_rows(connect(), found)
    if as_json:
        print_json(rows)
        return
    columns = {
        "task": "task", "title": "title", "category": "category", "difficulty": "difficulty",
        "predicted": "predicted", "traceback": "traceback", "rank": "rank",
        "validated": "validated", "covered": "tests sealed",
    }  # fmt: skip
    shown = [{**row, **_difficulty(row["measured"] or {})} for row in rows]
    print_table(shown, columns, f"{benchmark} has no tasks.", width=120)
    origin = f", from {found.source}" if found.source else ""
    licence = f"licence {found.license or 'unknown'}"
    print_out(f"\n{len(rows)} tasks, digest {digest(found.tasks())}, {licence}{origin}")
    for row in rows:
        if row["validated"] == "invalid":
            print_out(f"invalid: {row['task']}: {row['reason']}")
        if row["wrong_changes"]:
            print_out(f"weak tests: {row['task']}: {row['wrong_changes']} wrong changes pass (validate --attack)")
    for task_id, reason in found.excluded().items():
        print_out(f"left out: {task_id}: {reason}")
    for note in found.notes if isinstance(found, TaskByTask) else ():
        print_out(f"note: {note}")
    if any(row["measured"] is None for row in rows):
        print_out("`stackrank validate` measures how difficult a task is: see docs/guide/difficulty.md")


def _difficulty(measured: dict[str, Any]) -> dict[str, Any]:
    """Return two cells: where the failing test's traceback leads, and the fault's rank by Ochiai."""
    if not measured or measured["unmeasured"]:
        return {"traceback": "", "rank": ""}
    leads = "fault" if measured["in_traceback"] else "its file" if measured["in_named_file"] else "elsewhere"
    rank = measured["ranks"]["ochiai"]
    return {"traceback": leads, "rank": "-" if rank is None else f"{rank:g}"}


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
    again: Annotated[bool, typer.Option("--again", help="Also check tasks that were checked before.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Write into the tasks which tests have to pass.")] = False,
    attack: Annotated[
        bool, typer.Option("--attack", help="Instead, look for wrong changes that pass, to find weak tests.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed that selects the changes that --attack tries.")] = 0,
    as_json: Json = False,
) -> None:
    """Prove that every task fails as given and passes with its fix.

    With --attack: try mistakes in the fix, parts of it, special cases and the like against each task's tests. A change
    that passes is wrong if it behaves differently from the fix on inputs similar to those of the tests; its task is
    then marked as weak. A change that passes and shows no difference counts as undecided.
    """
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.store import Store
    from stackrank.env.benchmarks.base import Source
    from stackrank.env.validate import Standing, Validation
    from stackrank.flows.runs.preparing.validation import validate_benchmark

    names = [name.strip() for name in tasks.split(",") if name.strip()]
    data = Source(path, fixes, repos, environments, night, count=limit, sandbox=sandbox)
    if attack:
        _attack(benchmark, data, names, limit, workers, sandbox, seed, again, as_json)
        return
    with progress("tasks") as show:

        def on_result(result: Validation, done: int, total: int) -> None:
            show(done, total)
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
            again=again,
            record=record,
            say=print_err,
            on_result=on_result,
        )
    if as_json:
        print_json(proof.document())
    else:
        rows = [
            {"task": each.task, "is": each.standing, "why": each.reason} for each in proof.results if not each.valid
        ]
        left_out = {name: why for name, why in proof.benchmark.excluded().items() if not names or name in names}
        rows += [{"task": name, "is": "left out", "why": why} for name, why in left_out.items()]
        if rows:
            print_table(rows, {"task": "task", "is": "is", "why": "why"}, "")
        proved = f"{proof.counts[Standing.VALID]} of {len(proof.results)} tasks of {proof.benchmark.name}"
        print_out(f"{proved} fail as given and pass with their fix, {rounds} times in a row.")
    raise typer.Exit(0 if proof.sound else 1)


def _attack(
    benchmark: str,
    data: Source,
    tasks: list[str],
    limit: int | None,
    workers: int | None,
    sandbox: str | None,
    seed: int,
    again: bool,
    as_json: bool,
) -> None:
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.store import Store
    from stackrank.extensions.authoring.audit.run import audit_benchmark

    with progress("tasks") as show:
        found = audit_benchmark(
            Store(connect()),
            benchmark,
            data,
            tasks=tasks,
            limit=limit,
            workers=workers,
            sandbox=sandbox,
            seed=seed,
            repeat=again,
            say=print_err,
            on_result=lambda result, done, total: show(done, total),
        )
    if as_json:
        print_json(found.document())
        return
    for result in found.results:
        if result.reason:
            print_out(f"not audited: {result.task}: {result.reason}")
        for wrong in result.wrong:
            print_out(f"{result.task}: {wrong.kind} passes ({wrong.test}: {wrong.wrong} instead of {wrong.fixed})")
            print_out(wrong.diff)
    tried, undecided = (found.document()[name] for name in ("candidates", "undecided"))
    print_out(f"{found.weak} of {found.audited} tasks of {benchmark} let a wrong change through.")
    print_out(f"{tried} changes were tried; {undecided} of them pass and behave like the fix as far as known.")


@app.command()
def inject(
    path: Annotated[Path, typer.Argument(help="Folder of a Python project with tests.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Number of bugs.")] = 50,
    seed: Annotated[int, typer.Option(help="Seed that selects from the possible bugs.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder to write. Default: PROJECT-bugs.")] = None,
    test: Annotated[str | None, typer.Option(help="The project's test command. Default: pytest on all tests.")] = None,
    requirements: Annotated[
        list[str] | None,
        typer.Option("--require", "--requirements", help="Requirements that pip installs, separated by commas."),
    ] = None,
    setup: Annotated[
        list[str] | None,
        typer.Option(
            help="Command that installs the project. Repeat for several. "
            "Default: pip install -e . and what its tests need; '' for none."
        ),
    ] = None,
    python: Annotated[str, typer.Option(help="Python version, such as 3.11. Default: the sandbox's own.")] = "",
    timeout: Annotated[float, typer.Option(min=1, help="Time limit for a task's tests, in seconds.")] = 60,
    deep: Annotated[
        bool, typer.Option("--deep", help="Only bugs whose fault is measurably far from the failure.")
    ] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of bugs tried concurrently.")] = None,
    sandbox: Sandbox = None,
    as_json: Json = False,
) -> None:
    """Create a benchmark by planting bugs in a project; its tests detect each of them.

    With --deep: plant mistakes with state, copies, keys, order and the like. Keep only faults that are in no file
    named by the failing test's traceback, and that the tests rank below the first 20 lines.
    """
    import os
    import re
    from collections import Counter

    from stackrank.env.benchmarks.repo_schema import TASKS_FILE
    from stackrank.env.environment import Environment
    from stackrank.env.sandbox.registry import chosen_backend
    from stackrank.extensions.authoring.inject.injection import Tally
    from stackrank.extensions.authoring.inject.plant import plant
    from stackrank.extensions.authoring.inject.write import SOURCE

    # Split at commas between packages, not at those within versions and extras.
    comma = re.compile(r"\s*,(?![^\[]*\])\s*(?=[A-Za-z])")
    needs = [each for given in requirements or () for each in comma.split(given.strip()) if each]
    with progress("bugs", count) as show:
        rejected: Counter[str] = Counter()

        def on_tally(tally: Tally) -> None:
            rejected.clear()
            rejected.update(tally.problems)
            why = ", ".join(f"{number} {reason}" for reason, number in tally.problems.most_common(3))
            tried = f"{tally.tried} of {tally.candidates} candidates tried"
            # Of more than are wanted, those with hidden tests are taken.
            show(min(tally.found, count), count, f"{tried}; {why}" if why else tried)

        made = plant(
            path,
            count=count,
            seed=seed,
            out=out,
            test=test,
            environment=Environment(python, tuple(needs), tuple(filter(None, setup or ()))),
            guess=setup is None,
            timeout_s=timeout,
            deep=deep,
            workers=workers or os.cpu_count() or 2,
            backend=chosen_backend(sandbox),
            say=print_err,
            on_tally=on_tally,
        )
    kinds = Counter(candidate.category for candidate, _ in made.bugs)
    difficulties = Counter(result.difficulty for _, result in made.bugs)
    found, file = len(made.bugs), made.folder / TASKS_FILE
    if as_json:
        document = {"tasks": found, "file": str(file), "source": str(made.folder / SOURCE), "wanted": count}
        document["hidden_tests"] = made.with_hidden
        print_json({**document, "categories": kinds, "difficulties": difficulties, "rejected": rejected})
        return
    fewer = f" ({count} were requested, but the tests detect no other possible bug)" if found < count else ""
    print_out(f"{file}: {found} bugs{fewer}, {made.with_hidden} of them with hidden tests")
    print_out(", ".join(f"{number} {each}" for each, number in (*kinds.most_common(), *difficulties.most_common())))
    for why, number in rejected.most_common():
        print_out(f"rejected: {number}: {why}")
    print_out(f"Validate them: stackrank validate repo --path {made.folder}")


@app.command("export-tasks")
def export_tasks(
    benchmark: BenchmarkName,
    out: Annotated[Path, typer.Option(help="A new folder for the tasks.")],
    format: Annotated[str, typer.Option(help="harbor: one Harbor task directory per task.")] = "harbor",
    path: DataPath = None,
    fixes: Fixes = None,
    repos: Repos = None,
    environments: Environments = None,
    tasks: Annotated[str, typer.Option(help="Only these tasks, separated by commas.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Most tasks, taken evenly from the list.")] = None,
    as_json: Json = False,
) -> None:
    """Write the tasks of a benchmark for other harnesses. To play them here, use --benchmark harbor --path OUT."""
    from stackrank.env.benchmarks.base import BenchmarkError, Source
    from stackrank.env.benchmarks.registry import load_benchmark, select
    from stackrank.extensions.harbor.write import write_tasks

    if format != "harbor":
        raise BenchmarkError(f"there is no format {format!r} for tasks: choose harbor")
    found = load_benchmark(benchmark, Source(path, fixes, repos, environments))
    names = [name.strip() for name in tasks.split(",") if name.strip()]
    chosen = select(found.tasks(), names, limit)
    left_out = {**found.excluded(), **write_tasks(chosen, out)}
    written = len([task for task in chosen if task.id not in left_out])
    if as_json:
        print_json({"benchmark": found.name, "folder": str(out.absolute()), "tasks": written, "left_out": left_out})
        return
    print_out(f"{out}: {written} tasks of {found.name}, licence {found.license or 'unknown'}")
    for task_id, reason in left_out.items():
        print_out(f"left out: {task_id}: {reason}")


@app.command("init-task")
def init_task(
    repo: Annotated[str, typer.Argument(help="A git repository: a path or a URL.")],
    commit: Annotated[str, typer.Argument(help="The commit that fixed the bug and added a test.")],
    out: Annotated[Path, typer.Option(help="Folder for tasks.yaml and the patches; an existing one is extended.")],
    test: Annotated[str, typer.Option(help="The test command. Default: pytest on the changed test files.")] = "",
    setup: Annotated[
        list[str] | None,
        typer.Option(
            help="Command that installs the project. Repeat for several. "
            "Default: pip install -e . and what its tests need."
        ),
    ] = None,
    require: Annotated[
        list[str] | None, typer.Option(help="A requirement that pip installs. Repeat for several.")
    ] = None,
    python: Annotated[str, typer.Option(help="Python version, such as 3.11. Default: the sandbox's own.")] = "",
    subdir: Annotated[str, typer.Option(help="The folder of the repository that is the workspace.")] = ".",
    statement: Annotated[str, typer.Option(help="Description of the bug that agents get.")] = "",
    hidden_tests: Annotated[
        bool, typer.Option("--hidden-tests", help="Withhold the tests from agents, and use them for the verdict.")
    ] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Time limit for the tests, in seconds.")] = 300,
    id: Annotated[str, typer.Option(help="Name of the task. Default: from the repository and the commit.")] = "",
    sandbox: Annotated[str | None, typer.Option(help="docker or bubblewrap.")] = None,
    as_json: Json = False,
) -> None:
    """Create a task from a commit that fixed a bug: find the tests that it makes pass, and validate the task."""
    from stackrank.env.benchmarks.repo_schema import TASKS_FILE
    from stackrank.env.sandbox.registry import chosen_backend
    from stackrank.extensions.authoring.from_commit import TaskOptions
    from stackrank.extensions.authoring.new_task import make_task

    options = TaskOptions(
        id=id,
        statement=statement,
        test=test,
        setup=tuple(setup or ()),
        requirements=tuple(require or ()),
        python=python,
        subdir=subdir,
        hidden_tests=hidden_tests,
        timeout_s=timeout,
    )
    task = make_task(repo, commit, out, options, chosen_backend(sandbox), print_err)
    if as_json:
        print_json(
            {"task": task.id, "file": str(out / TASKS_FILE), **task.model_dump(include={"fail_to_pass", "test"})}
        )
        return
    print_out(
        f"{out / TASKS_FILE}: {task.id}, {len(task.fail_to_pass)} tests to pass, {len(task.pass_to_pass)} to keep."
    )
    print_out(f"Play it: stackrank run --benchmark repo --path {out} --tasks {task.id} --agent oracle")
