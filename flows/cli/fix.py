"""The command `fix`, which proposes changes for a person to decide about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from stackrank.errors import UsageError
from stackrank.flows.cli.options import API, Api, Json, Sandbox
from stackrank.flows.cli.output import print_json, print_table
from stackrank.flows.cli.progress import progress
from stackrank.flows.cli.review import SHOWN, listed
from stackrank.wording import print_err, print_out

app = typer.Typer()


@app.command()
def fix(
    context: typer.Context,
    repo: Annotated[
        Path, typer.Argument(help="Git repository of a Python project with tests. It is never changed.")
    ] = Path(),
    out: Annotated[Path, typer.Option(help="Folder for tasks, evidence and patches.")] = Path("proposals"),
    issues: Annotated[
        Path | None,
        typer.Option(help="Also fix issues: a text file, a folder of text files, or a forge's JSON export."),
    ] = None,
    issues_of: Annotated[
        str,
        typer.Option(help="Also fix the open issues of OWNER/NAME at the forge. Sends STACKRANK_FORGE_TOKEN if set."),
    ] = "",
    label: Annotated[
        list[str] | None, typer.Option(help="With --issues-of: only issues with this label. Repeat: with all of them.")
    ] = None,
    api: Api = API,
    agent: Annotated[list[str] | None, typer.Option(help="Name of an agent. Repeat for several.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Name of a model. Repeat for several.")] = None,
    tools: Annotated[list[str] | None, typer.Option(help="A tool set, or tools separated by commas.")] = None,
    attempts: Annotated[int, typer.Option(min=1, help="Candidates per problem and entrant.")] = 1,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Fix at most this many problems, failing tests before issues.")
    ] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only tests that do not fail at --base, so that this change broke them.")
    ] = False,
    base: Annotated[str, typer.Option(help="With --changed: the commit or branch to compare with.")] = "HEAD~1",
    test: Annotated[str, typer.Option(help="The project's test command. Default: python -m pytest -q.")] = "",
    setup: Annotated[
        list[str] | None,
        typer.Option(
            help="Command that installs the project. Repeat for several. "
            "Default: pip install -e . and what its tests need; '' for none."
        ),
    ] = None,
    require: Annotated[
        list[str] | None, typer.Option(help="A requirement that pip installs. Repeat for several.")
    ] = None,
    python: Annotated[str, typer.Option(help="Python version, such as 3.11. Default: the sandbox's own.")] = "",
    timeout: Annotated[float, typer.Option(min=1, help="Time limit for the whole suite, in seconds.")] = 300,
    repeat: Annotated[int, typer.Option(min=2, help="How often the suite runs to find flaky tests.")] = 3,
    workers: Annotated[int | None, typer.Option(help="Number of concurrent episodes.")] = None,
    steps: Annotated[int | None, typer.Option(help="Most actions in one episode.")] = None,
    budget: Annotated[float | None, typer.Option(help="Budget in dollars.")] = None,
    sandbox: Sandbox = None,
    as_json: Json = False,
) -> None:
    """Propose fixes for a repository's failing tests and issues. You decide about them with `stackrank review`."""
    from stackrank.db import queries
    from stackrank.db.engine import connect
    from stackrank.db.store import Store
    from stackrank.env.benchmarks.git import resolve_commit
    from stackrank.env.benchmarks.new_task import prepare
    from stackrank.env.sandbox.registry import chosen_backend
    from stackrank.flows.cli.playing import INTERRUPTED, begin, play_rest, prepare_interrupted, require_over
    from stackrank.flows.runs.check import check_entrants, needing_fix
    from stackrank.flows.runs.fix.comment import write_comment
    from stackrank.flows.runs.fix.folder import STARTED, TESTS, claim, require_usable
    from stackrank.flows.runs.fix.forge import list_issues
    from stackrank.flows.runs.fix.issues import issues_from, problems_of, read_issues, require_distinct, test_tasks
    from stackrank.flows.runs.fix.problems import (
        Problem,
        find_problems,
        hidden,
        split_up,
        write_entries,
        write_problems,
    )
    from stackrank.flows.runs.fix.project import Wishes, open_project, pointers, require_apart, some
    from stackrank.flows.runs.fix.propose import propose, solved_in_part
    from stackrank.flows.runs.fix.started import Started, asked, take_up
    from stackrank.flows.runs.fix.suite import broken_since, run_suite
    from stackrank.flows.runs.spec import read_spec

    if sandbox == "local":
        raise UsageError(
            "fix works only in docker or bubblewrap sandboxes: in a local one, tests could change your files"
        )
    chosen = None if setup is None else tuple(setup)
    project = open_project(repo, Wishes(test, chosen, tuple(require or ()), python, timeout, repeat))
    require_apart(project, out)
    require_usable(out, project.repository)
    if held := pointers(project):
        print_err(
            f"{project.name}: tests that need {some(held)} fail, because these files are in Git LFS, not in the commit"
        )
    reported = read_issues(issues) if issues else []
    if issues_of:
        reported += issues_from(list_issues(api, issues_of, label or ()), f"{issues_of} at {api}")
    require_distinct(reported)
    backend, engine = chosen_backend(sandbox), connect()
    store = Store(engine)
    wanted: dict[str, Any] = {"sandbox": sandbox, "benchmark": "repo", "budget_usd": budget}
    wanted |= {"agent": agent, "model": model, "tools": tools, "attempts": attempts, "workers": workers, "steps": steps}
    debug = bool((context.obj or {}).get("debug"))

    runs: list[int] = []

    def play(file: Path, name: str, tasks: Sequence[Problem] = ()) -> int | None:
        """Play these tasks, or all, with the rest of the budget, or continue the run that was begun for them.
        Returns the run's number, or None if the budget is spent.
        """
        if (begun := started.runs.get(name)) and (url := prepare_interrupted(engine, begun, file)) is not None:
            runs.append(begun)
            return finish(begun, url)
        left = None if budget is None else budget - sum(store.spent_usd(each) for each in runs)
        if left is not None and left <= 0:
            return None
        more = {"path": str(file), "name": name, "budget_usd": left, "tasks": [each.name for each in tasks] or None}
        run_id, url = begin(engine, read_spec(None, {**wanted, **more}))
        runs.append(run_id)
        started.runs[name] = run_id
        started.keep(out)
        return finish(run_id, url)

    def finish(run_id: int, url: str) -> int:
        if url and play_rest(run_id, url, debug):
            print_err(f"run {run_id} was interrupted, and has not led to proposals yet: repeat the command to continue")
            raise typer.Exit(INTERRUPTED)
        require_over(engine, run_id)
        return run_id

    def proposed(chosen: Sequence[Problem], run_id: int | None) -> dict[str, str]:
        """Store what the run proposes. Returns the problems without a proposal: name -> why."""
        if run_id is None:
            return {each.name: "the budget is spent" for each in chosen}
        if run_id not in started.proposed:
            try:
                with progress("changes") as show:
                    found = propose(store, project, backend, chosen, run_id, out, times=repeat, show=show)
            except KeyboardInterrupt:
                print_err("interrupted before anything was proposed: repeat the command to continue")
                raise typer.Exit(INTERRUPTED) from None
            started.proposed[run_id] = found
            started.keep(out)
        new, none = started.proposed[run_id]
        numbers.extend(number for number in new if number not in numbers)
        return none

    # Report mistakes in the entrants before a suite runs.
    entrants, _ = check_entrants(read_spec(None, {**wanted, "path": str(out)}))
    if needy := needing_fix(entrants):
        raise UsageError(f"{needy} needs known fixes, and an open problem has none: name another agent")
    if project.spec.environment is not None:
        prepare(backend, project.spec, print_err)
    since = resolve_commit(project.repository, base) if changed else ""
    key = asked(project, repeat, limit, since, reported, wanted, backend.name, engine.url)
    if before := take_up(out, key):
        print_err(f"{project.name}: continuing the interrupted command; delete {out / STARTED} to start over")
        started = before
    else:
        print_err(f"{project.name}: running its tests {repeat} times")
        suite = run_suite(project, backend, times=repeat)
        if suite.unread:
            print_err(
                f"{project.name}: the tests in files that need a missing module did not run "
                f"({some(suite.unread)}): install it with --require or --setup"
            )
        if changed:
            suite = broken_since(project, backend, suite, base, times=repeat)
        started = Started(key, suite, find_problems(project, suite, backend, print_err)[:limit])
    suite, problems = started.suite, [*started.problems]
    if limit is not None:
        reported = reported[: limit - len(problems)]
    without: dict[str, str] = {}
    if problems or reported:
        claim(out, project.repository)
        started.keep(out)
    if reported:
        file = write_entries(project, test_tasks(project, reported), out / TESTS)
        run_id = play(file, f"fix {project.name}: tests for issues")
        if run_id is not None:
            more, without = problems_of(engine, project, backend, suite, reported, run_id, times=repeat)
            problems += more
    numbers: list[int] = []
    run = None
    if problems:
        name = f"fix {project.name}"
        run = play(write_problems(project, problems, out), name)
        none = proposed(problems, run)
        mended = {test for each in numbers for test in queries.proposal(engine, each)["evidence"]["mended"]}
        several = solved_in_part(engine, [each for each in problems if each.parts and each.name in none], run or 0)
        if parts := split_up(problems, several, mended):
            file = write_problems(project, [*problems, *parts], out)
            problems = [each for each in problems if each.name not in several] + parts
            none |= proposed(parts, play(file, f"{name}: parts of problems", parts))
        mended = {test for each in numbers for test in queries.proposal(engine, each)["evidence"]["mended"]}
        without |= {each.name: hidden(each, none[each.name], mended) for each in problems if each.name in none}
    found = sorted((queries.proposal(engine, each) for each in numbers), key=lambda row: (-row["surety"], row["id"]))
    write_comment(project.name, found, without, out)
    (out / STARTED).unlink(missing_ok=True)
    aside = {"flaky": list(suite.flaky), "outside": list(suite.outside), "unread": list(suite.unread)}
    document = {
        "repository": str(project.repository), "base": project.commit, "run": run, "runs": runs, "suite": suite.counts,
        "set_aside": aside,
        "problems": [{"name": one.name, "title": one.title, "tests": one.tests} for one in problems],
        "proposals": found, "without": without, "folder": str(out.absolute()),
    }  # fmt: skip
    if as_json:
        print_json(document)
        return
    for why, tests in (
        ("flaky", suite.flaky),
        ("they write outside of the workspace, or need a network", suite.outside),
        ("their files need what is not installed", suite.unread),
    ):
        if tests:
            print_out(f"set aside, {why}: {', '.join(tests)}")
    nothing = "There are no proposals."
    if not problems and not without:
        nothing = f"There are no problems: every {'other ' if any(aside.values()) else ''}test passes."
    print_table(listed(found), {name: name for name in SHOWN[:-1]}, nothing)
    for name, reason in without.items():
        print_out(f"no proposal: {name}: {reason}")
    if found:
        print_out(f"Read one: stackrank review {found[0]['id']}    Decide: stackrank review {found[0]['id']} --approve")
