"""What leaves: approved proposals as patches, as a branch in a clone of our own, and, where it is asked for, pushed.

Everything is made anew from the decisions each time, so nothing that was not approved can be left in it. The user's
repository is only read.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stackrank.db.proposals import require_genuine
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import git, has_commit
from stackrank.flows.runs.fix.solved import write_solved
from stackrank.home import locked
from stackrank.terms import DecisionKind
from stackrank.wording import evidence_lines, one_line

BRANCH = "stackrank/fixes"
CLONE = "clone"
_AUTHOR = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "stackrank"), ("EMAIL", "stackrank@localhost"))
}
_ALONE = {**_AUTHOR, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
_PATCH = re.compile(r"\d{4,}-.*\.patch")


@dataclass
class Published:
    """What was written."""

    patches: dict[int, Path] = field(default_factory=dict)
    """Proposal -> its patch, for `git am`."""
    clone: Path | None = None
    """The clone with the branch; None where nothing is approved."""
    conflicts: dict[int, str] = field(default_factory=dict)
    """Proposals that are approved and not in the branch -> why."""


def publish(proposals: Sequence[Mapping[str, Any]], out: Path, repository: Path | None = None) -> Published:
    """Write the approved among the proposals of one repository into `out`: a patch each, and a branch with all.

    `repository`: where it is; None: where it was when they were made.

    Raises DecisionRefused for a decision that does not hold; then what was there stays. BenchmarkError where git or
    the repository fails.
    """
    approved = sorted(
        (each for each in proposals if each["status"] == DecisionKind.APPROVED), key=lambda row: row["id"]
    )
    for each in approved:
        require_genuine(each)
    done = Published()
    out.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(str(out.resolve()).encode()).hexdigest()[:16]
    with locked(f"publishing/{name}"), tempfile.TemporaryDirectory(prefix=".publishing-", dir=out) as name:
        made = Path(name)
        if approved:
            clone = _clone(approved, made / CLONE, repository or Path(approved[0]["repository"]))
            patches = {each["id"]: _patch(clone, each, made) for each in approved}
            done.conflicts = _branch(clone, approved[-1]["base"], patches)
            done.clone = out / CLONE
        for old in out.iterdir():
            if _PATCH.fullmatch(old.name):
                old.unlink()
        shutil.rmtree(out / CLONE, ignore_errors=True)
        if approved:
            for number, patch in patches.items():
                done.patches[number] = patch.replace(out / patch.name)
            clone.replace(out / CLONE)
        write_solved(approved, out)
    return done


def _clone(approved: Sequence[Mapping[str, Any]], place: Path, repository: Path) -> Path:
    for each in approved:
        if not repository.is_dir() or not has_commit(repository, each["base"]):
            raise BenchmarkError(
                f"{repository} has no commit {each['base'][:12]} any more, which proposal {each['id']} is for: name a "
                "clone that has it with --repo"
            )
    # Objects are copied: a hard link would let a later git touch the user's.
    git(
        place.parent,
        "clone",
        "--quiet",
        "--no-hardlinks",
        "--no-checkout",
        str(repository),
        place.name,
        variables=_ALONE,
    )
    return place


def _patch(clone: Path, proposal: Mapping[str, Any], out: Path) -> Path:
    """The proposal as one commit on its own base, written for `git am`; the test that stands for an issue is in it."""
    git(clone, "checkout", "--quiet", "--force", "--detach", proposal["base"], variables=_ALONE)
    for diff in filter(None, (proposal["test_diff"], proposal["diff"])):
        git(
            clone,
            "apply",
            "--index",
            "--whitespace=nowarn",
            "-",
            given=diff.encode("utf-8", "surrogateescape"),
            variables=_ALONE,
        )
    message = commit_message(proposal).encode()
    git(clone, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "-F", "-", given=message, variables=_ALONE)
    arguments = (
        "-1",
        "--zero-commit",
        "--no-signature",
        "--full-index",
        "--binary",
        f"--start-number={proposal['id']}",
    )
    written = git(clone, "format-patch", *arguments, "-o", str(out), variables=_ALONE).decode().strip()
    return Path(written)


def _branch(clone: Path, base: str, patches: Mapping[int, Path]) -> dict[int, str]:
    """All patches on one branch, in the order of their numbers. Returns those that do not go onto it -> why."""
    git(clone, "checkout", "--quiet", "--force", "-B", BRANCH, base, variables=_ALONE)
    conflicts: dict[int, str] = {}
    for number, patch in patches.items():
        try:
            git(clone, "am", "--quiet", "--3way", "--keep-cr", "--no-gpg-sign", str(patch), variables=_ALONE)
        except BenchmarkError as error:
            git(clone, "am", "--abort", variables=_ALONE)
            before = ", ".join(str(each) for each in patches if each < number and each not in conflicts) or "none"
            conflicts[number] = f"it does not apply after those approved before it ({before}): {error}"
    return conflicts


def commit_message(proposal: Mapping[str, Any]) -> str:
    """What the change mends, and the evidence."""
    decision, title = proposal["decision"], one_line(str(proposal["title"]))
    head = f"Fix: {title}"
    # Nothing begins at the margin: for `git am` a line such as `---` ends the message.
    lines = [
        head if len(head) <= 100 else f"{head[:97]}...",
        "",
        *(f"- {one_line(each)}" for each in evidence_lines(proposal)),
    ]
    lines += ["", *(f"    {each}" for each in decision["reason"].strip().splitlines()), ""]
    lines.append(f"Proposal: {proposal['id']} ({proposal['digest'][:16]}), episode {proposal['episode_id']}")
    lines.append(f"Approved-by: {one_line(decision['person']) or 'unknown'}")
    return "\n".join(lines) + "\n"
