"""Commands that make tasks, the attack on a benchmark's tests, and the error rates of its verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stackrank import wording
from stackrank.flows.cli.options import Json, PythonVersion, Requirements, Sandbox, Setup
from stackrank.flows.cli.output import print_json
from stackrank.flows.cli.progress import progress
from stackrank.patches.writing import shown_text
from stackrank.wording import count_of, print_err, print_out

if TYPE_CHECKING:
    from stackrank.env.benchmarks.base import Source


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
    setup: Setup = None,
    python: PythonVersion = "",
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
    needs = [name for option in requirements or () for name in comma.split(option.strip()) if name]
    with progress("bugs", count) as show:
        rejected: Counter[str] = Counter()

        def on_tally(tally: Tally) -> None:
            rejected.clear()
            rejected.update(tally.problems)
            reasons = ", ".join(f"{number} {reason}" for reason, number in tally.problems.most_common(3))
            tried = f"{tally.tried} of {count_of(tally.candidates, 'candidate')} tried"
            # Of more than are wanted, those with hidden tests are taken.
            show(min(tally.bugs, count), count, f"{tried}; {reasons}" if reasons else tried)

        planted = plant(
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
    kinds = Counter(candidate.category for candidate, _ in planted.bugs)
    difficulties = Counter(result.difficulty for _, result in planted.bugs)
    bug_count, file = len(planted.bugs), planted.folder / TASKS_FILE
    if as_json:
        document = {"tasks": bug_count, "file": str(file), "source": str(planted.folder / SOURCE), "wanted": count}
        document["hidden_tests"] = planted.with_hidden
        print_json({**document, "categories": kinds, "difficulties": difficulties, "rejected": rejected})
        return
    # Those that are left out are replaced a few times only.
    missing = "others are left out" if planted.left_out else "the tests detect no other possible bug"
    fewer = f" ({count} were requested, but {missing})" if bug_count < count else ""
    print_out(f"{file}: {count_of(bug_count, 'bug')}{fewer}, {planted.with_hidden} of them with hidden tests")
    print_out(", ".join(f"{number} {name}" for name, number in (*kinds.most_common(), *difficulties.most_common())))
    for reason, number in rejected.most_common():
        print_out(f"rejected: {number}: {reason}")
    print_out(f"Validate them: stackrank validate repo --path {planted.folder}")


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
    require: Requirements = None,
    python: PythonVersion = "",
    subdir: Annotated[str, typer.Option(help="The folder of the repository that is the workspace.")] = ".",
    statement: Annotated[str, typer.Option(help="Description of the bug that agents get.")] = "",
    hidden_tests: Annotated[
        bool, typer.Option("--hidden-tests", help="Withhold the tests from agents, and use them for the verdict.")
    ] = False,
    toolchain: Annotated[str, typer.Option(help="The language, such as go, if the tests are not in Python.")] = "",
    results: Annotated[str, typer.Option(help="How the output of --test is read then, such as go or junit.")] = "",
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
        toolchain=toolchain,
        results=results,
    )
    task = make_task(repo, commit, out, options, chosen_backend(sandbox), print_err)
    if as_json:
        lists = task.model_dump(include={"fail_to_pass", "test"})
        print_json({"task": task.id, "file": str(out / TASKS_FILE), **lists})
        return
    counts = f"{count_of(len(task.fail_to_pass), 'test')} to pass, {len(task.pass_to_pass)} to keep"
    print_out(f"{out / TASKS_FILE}: {task.id}, {counts}.")
    print_out(f"Play it: stackrank run --benchmark repo --path {out} --tasks {task.id} --agent oracle")


def attack(
    benchmark: str,
    data: Source,
    tasks: list[str],
    limit: int | None,
    workers: int | None,
    sandbox: str | None,
    seed: int,
    recheck: bool,
    as_json: bool,
) -> None:
    """Look for wrong changes that pass a benchmark's tests; answers `stackrank validate --attack`."""
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.store import Store
    from stackrank.extensions.authoring.audit.run import audit_benchmark

    with progress("tasks") as show:
        audit = audit_benchmark(
            Store(connect()),
            benchmark,
            data,
            tasks=tasks,
            limit=limit,
            workers=workers,
            sandbox=sandbox,
            seed=seed,
            repeat=recheck,
            say=print_err,
            on_result=lambda result, completed, total: show(completed, total),
        )
    if as_json:
        print_json(audit.document())
        return
    for result in audit.results:
        if result.reason:
            print_out(f"not audited: {result.task}: {result.reason}")
        for wrong in result.wrong:
            print_out(f"{result.task}: {wrong.kind} passes ({wrong.test}: {wrong.wrong} instead of {wrong.fixed})")
            print_out(shown_text(wrong.diff))
    tried, undecided = (audit.document()[name] for name in ("candidates", "undecided"))
    print_out(f"{audit.weak} of {count_of(audit.audited, 'task')} of {benchmark} let a wrong change through.")
    print_out(
        f"{count_of(tried, 'change was', 'changes were')} tried; {undecided} of them pass and behave like the "
        "fix as far as known."
    )


def rates(
    benchmark: str,
    data: Source,
    changes: Path | None,
    tasks: list[str],
    limit: int | None,
    workers: int | None,
    sandbox: str | None,
    record: bool,
    as_json: bool,
) -> None:
    """Measure how often verdicts are wrong; answers `stackrank validate --rates`."""
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.store import Store
    from stackrank.extensions.authoring.rates.measure import measure_rates

    with progress("tasks") as show:
        measured = measure_rates(
            Store(connect()),
            benchmark,
            data,
            path=changes,
            tasks=tasks,
            limit=limit,
            workers=workers,
            sandbox=sandbox,
            record=record,
            say=print_err,
            on_result=show,
        )
    if as_json:
        print_json(measured.document())
        return
    for grade in measured.uncounted:
        print_out(f"not counted: {grade.change.task}: {grade.change.note or grade.change.label}: {grade.reason}")
    for grade in measured.mistaken:
        verdict = "resolved" if grade.resolved else "unresolved"
        why = f" ({'; '.join((*grade.tests, *grade.notes))})" if grade.tests or grade.notes else ""
        print_out(f"{grade.change.final_label}, but {verdict}: {grade.change.task}: {grade.change.note}{why}")
        print_out(shown_text(grade.diff))
    for line in wording.verdict_rates(measured.rates.document(), measured.rates.digest):
        print_out(line)
