"""The command `fix`, which proposes changes for a person to decide about."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from stackrank.errors import UsageError
from stackrank.extensions.fix.review import SHOWN, proposal_rows
from stackrank.flows.cli.options import API, Api, Json, PythonVersion, Requirements, Sandbox, Setup
from stackrank.flows.cli.output import print_json, print_table
from stackrank.terms import DecisionKind
from stackrank.wording import print_err, print_out


def fix(
    context: typer.Context,
    repo: Annotated[
        Path,
        typer.Argument(help="Git repository of a Python project with tests, or a folder in one. It is never changed."),
    ] = Path(),
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for tasks, evidence and patches. Default: NAME-proposals beside the repository.",
        ),
    ] = None,
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
    test: Annotated[str, typer.Option(help="The project's test command. Default: pytest on all tests.")] = "",
    setup: Setup = None,
    require: Requirements = None,
    python: PythonVersion = "",
    timeout: Annotated[float, typer.Option(min=1, help="Time limit for the whole suite, in seconds.")] = 300,
    repeat: Annotated[int, typer.Option(min=2, help="How often the suite runs to find flaky tests.")] = 3,
    workers: Annotated[int | None, typer.Option(help="Number of concurrent episodes.")] = None,
    steps: Annotated[int | None, typer.Option(help="Most actions in one episode.")] = None,
    budget: Annotated[float | None, typer.Option(help="Budget in dollars.")] = None,
    sandbox: Sandbox = None,
    as_json: Json = False,
) -> None:
    """Propose fixes for a repository's failing tests and issues. You decide about them with `stackrank review`."""
    from stackrank.env.sandbox.registry import chosen_backend
    from stackrank.extensions.fix.finding.folder import require_usable
    from stackrank.extensions.fix.finding.issues import issues_from, read_issues, require_distinct
    from stackrank.extensions.fix.finding.project import (
        TestOptions,
        list_lfs_pointers,
        list_own_loaders,
        open_project,
        require_separate,
        shorten,
    )
    from stackrank.extensions.fix.forge import list_issues
    from stackrank.extensions.fix.work import FixRequest, FixSession

    if sandbox == "local":
        raise UsageError(
            "fix works only in docker or bubblewrap sandboxes: in a local one, tests could change your files"
        )
    setup_commands = None if setup is None else tuple(setup)
    project = open_project(repo, TestOptions(test, setup_commands, tuple(require or ()), python, timeout, repeat))
    out = out or project.repository.parent / f"{project.repository.name}-proposals"
    require_separate(project, out)
    require_usable(out, project.repository)
    if lfs_files := list_lfs_pointers(project):
        print_err(
            f"{project.name}: tests that need {shorten(lfs_files)} fail, because these files are in Git LFS and not in "
            "the commit"
        )
    if submodules := project.submodules:
        print_err(
            f"{project.name}: its submodules ({shorten(submodules)}) are left alone, and tests that need their files "
            "are set aside, because these are not in the commit"
        )
    if loaders := list_own_loaders(project):
        print_err(
            f"{project.name}: tests that {shorten(loaders)} adds in load_tests() or test_suite() do not run, because "
            "pytest does not call these: run doctests with --test 'python -m pytest --doctest-modules "
            "--doctest-glob=*.rst', and name files of other tests there"
        )
    reported = read_issues(issues) if issues else []
    if issues_of:
        reported += issues_from(list_issues(api, issues_of, label or ()), f"{issues_of} at {api}")
    require_distinct(reported)
    spec: dict[str, Any] = {"sandbox": sandbox, "benchmark": "repo", "budget_usd": budget}
    spec |= {"agent": agent, "model": model, "tools": tools, "attempts": attempts, "workers": workers, "steps": steps}
    request = FixRequest(out, spec, reported, limit, base if changed else "", repeat)
    debug = bool((context.obj or {}).get("debug"))
    document = FixSession(project, chosen_backend(sandbox), request, debug).document()
    if as_json:
        print_json(document)
    else:
        _print(document)


def _print(document: Mapping[str, Any]) -> None:
    """Print what was found and proposed."""
    set_aside, proposals, without = document["set_aside"], document["proposals"], document["without"]
    for cause, tests in (
        ("flaky", set_aside["flaky"]),
        ("they write outside of the workspace, or need a network", set_aside["outside"]),
        ("their files need what is not installed", set_aside["unread"]),
    ):
        if tests:
            print_out(f"set aside, {cause}: {', '.join(tests)}")
    for test, reason in set_aside["surroundings"].items():
        print_out(f"set aside: {test}: {reason}")
    empty_text = "There are no proposals."
    if not document["problems"] and not without:
        empty_text = f"There are no problems: every {'other ' if any(set_aside.values()) else ''}test passes."
    print_table(proposal_rows(proposals), {name: name for name in SHOWN[:-1]}, empty_text)
    for name, reason in without.items():
        print_out(f"no proposal: {name}: {reason}")
    for line in next_steps(proposals, document["folder"]):
        print_out(line)


def next_steps(proposals: Sequence[Mapping[str, Any]], folder: str) -> list[str]:
    """Return what a person can do with these proposals. An earlier `fix` may have made some, which are decided."""
    from stackrank.db.queries import OPEN

    lines = []
    for proposal in proposals:
        number, status = proposal["id"], proposal["status"]
        if status == DecisionKind.APPROVED:
            command = f"stackrank review {number} --out {shlex.quote(folder)}"
            lines.append(f"Proposal {number} is already approved. Write its patch: {command}")
        elif status != OPEN:
            lines.append(f"Proposal {number} is already {status}: stackrank review {number}")
    if undecided := [proposal for proposal in proposals if proposal["status"] == OPEN]:
        command = f"stackrank review {undecided[0]['id']}"
        lines.append(f"Read the first one: {command}    Decide: {command} --approve")
        lines.append(f"Evidence, and patches once you have decided: {folder}")
    return lines
