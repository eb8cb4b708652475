"""The command `review`, with which a person reads the proposals of `fix` and decides about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stackrank.errors import UsageError
from stackrank.extensions.fix.wording import evidence_lines, plain_verdict
from stackrank.flows.cli.options import API, Api, Json
from stackrank.flows.cli.output import print_json, print_table
from stackrank.patches.writing import shown_text
from stackrank.terms import DecisionKind
from stackrank.wording import interval, one_line, percent, print_err, print_out

if TYPE_CHECKING:
    from stackrank.extensions.fix.publish import Published

SHOWN = ("id", "status", "verdict", "problem", "title", "entrant", "repository")
_NOTHING = "There are no proposals: create some with `stackrank fix REPO`."


def review(
    number: Annotated[int | None, typer.Argument(help="A proposal's number.")] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="List all proposals: open ones first, the most reliable at the top.")
    ] = False,
    stats: Annotated[
        bool,
        typer.Option(
            "--stats", help="Show how many of each entrant's proposals people approved, how quickly, and why not."
        ),
    ] = False,
    approve: Annotated[bool, typer.Option("--approve", help="Approve the proposal and write its patch.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Reject the proposal; say why with --reason.")] = False,
    comment: Annotated[bool, typer.Option("--comment", help="Comment with --reason, without deciding.")] = False,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    digest: Annotated[
        str,
        typer.Option(help="Digest of the change that you reviewed. If it has changed since, the decision is refused."),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Folder for patches and the branch. Default: the folder of `fix`.")
    ] = None,
    repo: Annotated[
        Path | None, typer.Option(help="Where the repository is now. Default: where `fix` found it.")
    ] = None,
    push: Annotated[
        str, typer.Option(help="Push the branch of approved changes to this git remote, URL or path.")
    ] = "",
    pull_request: Annotated[
        str,
        typer.Option(help="Open a draft pull request in OWNER/NAME at the forge; needs STACKRANK_FORGE_TOKEN."),
    ] = "",
    onto: Annotated[str, typer.Option(help="The base branch of the pull request.")] = "main",
    api: Api = API,
    as_json: Json = False,
) -> None:
    """Read proposals and decide about them. Approved ones become patches for `git am`, and a branch."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.extensions.fix.acceptance import acceptance
    from stackrank.extensions.fix.decisions import Proposals
    from stackrank.extensions.fix.finding.folder import require_usable
    from stackrank.extensions.fix.forge import destination, open_pull_request, push_branch, require_token
    from stackrank.extensions.fix.publish import publish, require_commit
    from stackrank.settings import default_owner

    engine = connect()
    kinds = {DecisionKind.APPROVED: approve, DecisionKind.REJECTED: reject, DecisionKind.COMMENT: comment}
    decisions = [kind for kind, requested in kinds.items() if requested]
    if number is None or listing or stats:
        if decisions or push or pull_request:
            raise UsageError(
                "name the proposal: `stackrank review NUMBER --approve`; `stackrank review --list` lists them"
            )
        rows, boards = queries.proposals(engine), acceptance(engine)
        if as_json:
            print_json({"proposals": rows, "acceptance": boards})
            return
        if stats:
            _print_stats(boards)
        else:
            print_table(proposal_rows(rows), {name: name for name in SHOWN}, _NOTHING)
        return
    if len(decisions) > 1:
        raise UsageError("--approve, --reject and --comment cannot be combined: give only one")
    if pull_request:
        require_token(push, pull_request)
    proposal = queries.proposal(engine, number)
    folder = out or Path(proposal["folder"])
    is_here = out is not None or folder.is_dir()
    if not is_here and (push or decisions in ([DecisionKind.APPROVED], [DecisionKind.REJECTED])):
        raise UsageError(f"{folder}, where `fix` wrote its files, is not on this machine: name a folder with --out")
    if is_here and decisions in ([DecisionKind.APPROVED], [DecisionKind.REJECTED]):
        # Store no decision that could not be carried out.
        require_usable(folder, proposal["repository"])
        if approve:
            require_commit(proposal, repo)
    address = destination(repo or Path(proposal["repository"]), push) if push else ""
    if decisions:
        reviewed_digest = digest or proposal["digest"]
        if len(reviewed_digest) < 64 and proposal["digest"].startswith(reviewed_digest) and len(reviewed_digest) >= 8:
            reviewed_digest = proposal["digest"]
        Proposals(engine).decide(number, decisions[0], digest=reviewed_digest, reason=reason, person=default_owner())
        proposal = queries.proposal(engine, number)
    published: Published | None = None
    sent = ""
    if is_here and proposal["status"] in (DecisionKind.APPROVED, DecisionKind.REJECTED):
        rows = queries.proposals(engine, repository=proposal["repository"])
        published = publish([row for row in rows if out or row["folder"] == proposal["folder"]], folder, repo)
        if address and published.clone is not None:
            push_branch(published.clone, address)
        if pull_request and published.clone is not None:
            approved = [row for row in rows if row["id"] in published.patches and row["id"] not in published.conflicts]
            sent = open_pull_request(api, pull_request, onto, approved)
    if as_json:
        print_json({**proposal, **_published_document(published), "pull_request": sent})
    else:
        _print_proposal(proposal, evidence_lines(proposal))
        for patch in published.patches.values() if published else ():
            print_out(f"patch: {patch}")
        if sent:
            print_out(f"pull request: {sent}")
    for conflicting, conflict in (published.conflicts if published else {}).items():
        print_err(f"proposal {conflicting} is approved, but not in the branch: {conflict}")


def _print_stats(boards: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        {
            "entrant": row["entrant"],
            "proposals": row["proposals"],
            "approved": row["approved"],
            "rejected": row["rejected"],
            "rate": percent(row["rate"]),
            "95%": interval(row["ci_low"], row["ci_high"]),
            "hours to decide": "" if row["hours_to_decide"] is None else f"{row['hours_to_decide']:.1f}",
        }
        for row in boards
    ]
    print_table(rows, {name: name for name in rows[0]} if rows else {}, _NOTHING)
    for row in boards:
        for reason, times in Counter(row["reasons"]).most_common():
            print_out(f"{row['entrant']}, rejected{f' {times} times' if times > 1 else ''}: {one_line(reason)}")


def proposal_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the cells for a table of proposals."""
    return [{**{name: row.get(name) for name in SHOWN}, "verdict": plain_verdict(row["evidence"])} for row in rows]


def _published_document(published: Published | None) -> dict[str, Any]:
    if published is None:
        return {"patches": {}, "clone": None, "conflicts": {}}
    patches = {str(number): str(patch) for number, patch in published.patches.items()}
    return {
        "patches": patches,
        "clone": str(published.clone) if published.clone else None,
        "conflicts": published.conflicts,
    }


def _print_proposal(proposal: Mapping[str, Any], evidence: Sequence[str]) -> None:
    print_out(f"Proposal {proposal['id']} ({proposal['status']}): {proposal['title']}")
    print_out(f"{proposal['repository']} at {proposal['base'][:12]}, change {proposal['digest'][:16]}\n")
    if proposal["covered_by"]:
        print_out(f"Proposal {proposal['covered_by']}, which is approved, fixes everything that this one fixes.\n")
    if proposal["test_diff"]:
        print_out(
            f"The test written for this issue, which fails without the change:\n{shown_text(proposal['test_diff'])}"
        )
    print_out(shown_text(proposal["diff"]))
    for line in evidence:
        print_out(line)
    for decision in (*proposal["comments"], *filter(None, [proposal["decision"]])):
        print_out(f"{decision['kind']} by {decision['person']}, {decision['created_at']}: {decision['reason']}")
    print_out(f"The episode, step by step: stackrank trace {proposal['episode_id']}")
