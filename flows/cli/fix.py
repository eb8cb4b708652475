"""Commands that mend: fix, which proposes, and review, with which a person decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stackrank.errors import UsageError
from stackrank.flows.cli.options import Json, Sandbox
from stackrank.flows.cli.output import print_json, print_table
from stackrank.flows.cli.progress import progress
from stackrank.terms import DecisionKind
from stackrank.wording import evidence_lines, interval, percent, say, tell

if TYPE_CHECKING:
    from stackrank.flows.runs.fix.publish import Published

app = typer.Typer()
_SHOWN = ("id", "status", "surety", "problem", "title", "entrant", "repository")


@app.command()
def fix(
    context: typer.Context,
    repo: Annotated[
        Path, typer.Argument(help="A git repository of a Python project with tests; never written to.")
    ] = Path(),
    out: Annotated[Path, typer.Option(help="Folder for tasks, evidence and patches.")] = Path("proposals"),
    issues: Annotated[
        Path | None, typer.Option(help="Issues too: a text, a folder of texts, or a forge's JSON export.")
    ] = None,
    agent: Annotated[list[str] | None, typer.Option(help="Agent; may be given several times.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Model; may be given several times.")] = None,
    tools: Annotated[list[str] | None, typer.Option(help="Tool set, or tools with commas.")] = None,
    attempts: Annotated[int, typer.Option(min=1, help="Candidates for each problem and entrant.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many problems.")] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only tests that do not fail at --base: those that this change broke.")
    ] = False,
    base: Annotated[str, typer.Option(help="For --changed: the commit or branch to compare with.")] = "HEAD~1",
    test: Annotated[str, typer.Option(help="Its test command. Default: python -m pytest -q.")] = "",
    setup: Annotated[
        list[str] | None,
        typer.Option(
            help="Command that sets it up; several times for several. Default: pip install -e . ; '' for none."
        ),
    ] = None,
    require: Annotated[
        list[str] | None, typer.Option(help="What pip has to install; several times for several.")
    ] = None,
    python: Annotated[str, typer.Option(help="Python version, such as 3.11. Default: the sandbox's own.")] = "",
    timeout: Annotated[float, typer.Option(min=1, help="Seconds its whole suite may take.")] = 300,
    repeat: Annotated[int, typer.Option(min=2, help="How often the suite runs, to set flaky tests aside.")] = 3,
    workers: Annotated[int | None, typer.Option(help="Episodes at the same time.")] = None,
    steps: Annotated[int | None, typer.Option(help="Actions an episode may take.")] = None,
    budget: Annotated[float | None, typer.Option(help="Dollars the run may cost.")] = None,
    sandbox: Sandbox = None,
    as_json: Json = False,
) -> None:
    """Propose fixes for a repository's open problems: its failing tests, and issues. A person decides: `review`."""
    from stackrank.db import queries
    from stackrank.db.engine import connect
    from stackrank.db.store import Store
    from stackrank.env.sandbox.registry import chosen_backend
    from stackrank.flows.cli.runs import begin, played
    from stackrank.flows.runs.fix.comment import write_comment
    from stackrank.flows.runs.fix.issues import problems_of, read_issues, test_tasks
    from stackrank.flows.runs.fix.problems import find_problems, write_entries, write_problems
    from stackrank.flows.runs.fix.project import Wishes, open_project, require_apart
    from stackrank.flows.runs.fix.propose import propose
    from stackrank.flows.runs.fix.suite import broken_since, run_suite
    from stackrank.flows.runs.spec import read_spec

    if sandbox == "local":
        raise UsageError(
            "fix runs in docker or bubblewrap sandboxes only: in local ones tests could write to your files"
        )
    chosen = None if setup is None else tuple(setup)
    project = open_project(repo, Wishes(test, chosen, tuple(require or ()), python, timeout, repeat))
    require_apart(project, out)
    reported = read_issues(issues) if issues else []
    backend, engine = chosen_backend(sandbox), connect()
    wanted: dict[str, Any] = {"sandbox": sandbox, "benchmark": "repo", "budget_usd": budget}
    wanted |= {"agent": agent, "model": model, "tools": tools, "attempts": attempts, "workers": workers, "steps": steps}
    debug = bool((context.obj or {}).get("debug"))

    def play(file: Path, name: str) -> int:
        run_id, url = begin(engine, read_spec(None, {**wanted, "path": str(file), "name": name}))
        if played(run_id, url, debug):
            raise typer.Exit(130)
        return run_id

    read_spec(None, {**wanted, "path": str(out)})  # what is wrong with it is said before a suite runs
    if project.spec.environment is not None:
        backend.prepare(project.spec, say)
    say(f"{project.name}: running its tests {repeat} times")
    suite = run_suite(project, backend, times=repeat)
    if changed:
        suite = broken_since(project, backend, suite, base, times=repeat)
    problems = find_problems(project, suite, backend, say)[:limit]
    without: dict[str, str] = {}
    if reported:
        file = write_entries(project, test_tasks(project, reported), out / "tests")
        run_id = play(file, f"fix {project.name}: tests for issues")
        more, without = problems_of(engine, project, backend, reported, run_id, times=repeat)
        problems += more
    run, numbers = None, list[int]()
    if problems:
        run = play(write_problems(project, problems, out), f"fix {project.name}")
        with progress("changes") as show:
            numbers, none = propose(Store(engine), project, backend, problems, run, out, times=repeat, show=show)
        without |= none
    found = [queries.proposal(engine, number) for number in numbers]
    write_comment(project.name, found, without, out)
    aside = {"flaky": list(suite.flaky), "outside": list(suite.outside)}
    document = {
        "repository": str(project.repository), "base": project.commit, "run": run, "suite": suite.counts,
        "set_aside": aside,
        "problems": [{"name": one.name, "title": one.title, "tests": one.tests} for one in problems],
        "proposals": found, "without": without, "folder": str(out.absolute()),
    }  # fmt: skip
    if as_json:
        print_json(document)
        return
    for why, tests in (("flaky", suite.flaky), ("they write outside of the workspace", suite.outside)):
        if tests:
            tell(f"set aside, {why}: {', '.join(tests)}")
    nothing = "Nothing is open: every test passes." if not problems and not without else "Nothing is proposed."
    print_table(_listed(found), {name: name for name in _SHOWN[:-1]}, nothing)
    for name, reason in without.items():
        tell(f"no proposal: {name}: {reason}")
    if found:
        tell(f"Read one: stackrank review {found[0]['id']}    Decide: stackrank review {found[0]['id']} --approve")


@app.command()
def review(
    number: Annotated[int | None, typer.Argument(help="A proposal's number.")] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="All proposals, open ones first, the surest of them first.")
    ] = False,
    approve: Annotated[bool, typer.Option("--approve", help="Approve it, and write its patch.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Reject it; say why with --reason.")] = False,
    comment: Annotated[
        bool, typer.Option("--comment", help="Say something with --reason, and decide nothing.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    digest: Annotated[
        str, typer.Option(help="Of the change that you looked at; refused where it is another by now.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Folder for patches and branch. Default: that of `fix`.")] = None,
    push: Annotated[
        str, typer.Option(help="Git remote, a URL or a path, that gets the branch with what is approved.")
    ] = "",
    pull_request: Annotated[
        str,
        typer.Option(help="OWNER/NAME at the forge: a draft pull request of the branch; needs STACKRANK_FORGE_TOKEN."),
    ] = "",
    onto: Annotated[str, typer.Option(help="The branch that the pull request is for.")] = "main",
    api: Annotated[str, typer.Option(help="Address of the forge's API.")] = "https://api.github.com",
    as_json: Json = False,
) -> None:
    """Read proposals, decide about them, and write the approved ones as patches for `git am` and as a branch."""
    from stackrank.db import queries
    from stackrank.db.engine import connect
    from stackrank.db.proposals import Proposals
    from stackrank.flows.runs.fix.forge import open_pull_request, push_branch, require_token
    from stackrank.flows.runs.fix.publish import publish
    from stackrank.settings import default_owner

    engine = connect()
    kinds = {DecisionKind.APPROVED: approve, DecisionKind.REJECTED: reject, DecisionKind.COMMENT: comment}
    chosen = [kind for kind, wanted in kinds.items() if wanted]
    if number is None or listing:
        if chosen or push or pull_request:
            raise UsageError(
                "name the proposal: `stackrank review NUMBER --approve`; `stackrank review --list` lists them"
            )
        rows, boards = queries.proposals(engine), queries.acceptance(engine)
        if as_json:
            print_json({"proposals": rows, "acceptance": boards})
            return
        print_table(_listed(rows), {name: name for name in _SHOWN}, "Nothing is proposed: `stackrank fix REPO` does.")
        for row in boards:
            if row["rate"] is not None:
                tell(f"{row['entrant']}: {row['approved']} of {row['approved'] + row['rejected']} approved, "
                     f"{percent(row['rate'])} {interval(row['ci_low'], row['ci_high'])}")  # fmt: skip
        return
    if len(chosen) > 1:
        raise UsageError("--approve, --reject and --comment exclude each other: give one")
    if pull_request:
        require_token(push, pull_request)
    proposal = queries.proposal(engine, number)
    if chosen:
        seen = digest or proposal["digest"]
        if len(seen) < 64 and proposal["digest"].startswith(seen) and len(seen) >= 8:
            seen = proposal["digest"]
        Proposals(engine).decide(number, chosen[0], digest=seen, reason=reason, person=default_owner())
        proposal = queries.proposal(engine, number)
    folder = out or Path(proposal["folder"])
    done: Published | None = None
    sent = ""
    if proposal["status"] in (DecisionKind.APPROVED, DecisionKind.REJECTED):
        rows = queries.proposals(engine, repository=proposal["repository"])
        done = publish([row for row in rows if out or row["folder"] == proposal["folder"]], folder)
        if push and done.clone is not None:
            push_branch(done.clone, push)
        if pull_request and done.clone is not None:
            approved = [row for row in rows if row["id"] in done.patches and row["id"] not in done.conflicts]
            sent = open_pull_request(api, pull_request, onto, approved)
    if as_json:
        print_json({**proposal, **_published(done), "pull_request": sent})
    else:
        _tell(proposal, evidence_lines(proposal))
        for patch in done.patches.values() if done else ():
            tell(f"patch: {patch}")
        if sent:
            tell(f"pull request: {sent}")
    for each, why in (done.conflicts if done else {}).items():
        say(f"proposal {each} is approved and not in the branch: {why}")


def _listed(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in _SHOWN} for row in rows]


def _published(done: Published | None) -> dict[str, Any]:
    if done is None:
        return {"patches": {}, "clone": None, "conflicts": {}}
    patches = {str(number): str(patch) for number, patch in done.patches.items()}
    return {"patches": patches, "clone": str(done.clone) if done.clone else None, "conflicts": done.conflicts}


def _tell(proposal: Mapping[str, Any], evidence: Sequence[str]) -> None:
    tell(f"Proposal {proposal['id']} ({proposal['status']}): {proposal['title']}")
    tell(f"{proposal['repository']} at {proposal['base'][:12]}, change {proposal['digest'][:16]}\n")
    if proposal["test_diff"]:
        tell(f"The test that was written for it, which fails without the change:\n{proposal['test_diff']}")
    tell(proposal["diff"])
    for line in evidence:
        tell(line)
    for said in (*proposal["comments"], *filter(None, [proposal["decision"]])):
        tell(f"{said['kind']} by {said['person']}, {said['created_at']}: {said['reason']}")
    tell(f"The episode, step by step: stackrank trace {proposal['episode_id']}")
