"""Publishes approved proposals: as patches, as a branch in a clone of our own, and, if requested, with a push.

Everything is rebuilt from the decisions each time, so that nothing unapproved can remain. The user's repository is only
read.
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

from stackrank.db.decision_seal import require_genuine
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import git, has_commit
from stackrank.env.git_environment import NO_PROGRAMS, UNCONFIGURED, with_settings
from stackrank.extensions.fix.finding.folder import CLONE, PATCH, claim
from stackrank.extensions.fix.solved import write_solved
from stackrank.home import locked
from stackrank.terms import DecisionKind
from stackrank.wording import evidence_lines, one_line

BRANCH = "stackrank/fixes"
_AUTHOR = {
    f"GIT_{role}_{variable}": value
    for role in ("AUTHOR", "COMMITTER")
    for variable, value in (("NAME", "stackrank"), ("EMAIL", "stackrank@localhost"))
}
_CONFIG = "[safe]\n\tdirectory = *\n[core]\n\tsplitIndex = false\n"
"""All settings that git gets here. They are in a file, because the processes that git starts to read another user's
repository ignore `-c`."""


@dataclass
class Published:
    """What was written."""

    patches: dict[int, Path] = field(default_factory=dict)
    """Proposal -> its patch file, for `git am`."""
    clone: Path | None = None
    """The clone with the branch; None if nothing is approved."""
    conflicts: dict[int, str] = field(default_factory=dict)
    """Approved proposals that are not in the branch -> why."""


def publish(proposals: Sequence[Mapping[str, Any]], out: Path, repository: Path | None = None) -> Published:
    """Write the approved proposals of one repository into `out`: a patch for each, and a branch with all.

    `repository`: its current place; None: the place where it was when the proposals were made.

    Raises DecisionRefused for an invalid decision; then the previous output stays. Raises BenchmarkError if git or the
    repository fails, or the folder is for another repository.
    """
    approved = sorted((row for row in proposals if row["status"] == DecisionKind.APPROVED), key=lambda row: row["id"])
    for proposal in approved:
        require_genuine(proposal)
    published = Published()
    # git runs in other folders, where a relative path would mean another place.
    out, repository = out.absolute(), repository and repository.absolute()
    for name in sorted({row["repository"] for row in proposals}):
        claim(out, name)
    name = hashlib.sha256(str(out.resolve()).encode()).hexdigest()[:16]
    with locked(f"publishing/{name}"), tempfile.TemporaryDirectory(prefix=".publishing-", dir=out) as name:
        folder = Path(name)
        patches: dict[int, Path] = {}
        committed = []
        for proposal in approved:
            try:
                require_commit(proposal, repository)
                committed.append(proposal)
            except BenchmarkError as error:
                published.conflicts[proposal["id"]] = str(error)
        if approved and not committed:
            raise BenchmarkError(published.conflicts[approved[0]["id"]])
        if committed:
            alone = _alone(folder)
            clone = _clone(repository or Path(committed[0]["repository"]), folder / CLONE, alone)
            for proposal in committed:
                try:
                    patches[proposal["id"]] = _patch(clone, proposal, folder, alone)
                except BenchmarkError as error:
                    published.conflicts[proposal["id"]] = f"git makes no commit of it ({error})"
            published.conflicts |= _branch(clone, committed[-1]["base"], patches, alone)
            published.clone = out / CLONE
        for old in out.iterdir():
            if PATCH.fullmatch(old.name):
                old.unlink()
        shutil.rmtree(out / CLONE, ignore_errors=True)
        if committed:
            for number, patch in patches.items():
                published.patches[number] = patch.replace(out / patch.name)
            clone.replace(out / CLONE)
        write_solved(committed, out)
    return published


def require_commit(proposal: Mapping[str, Any], repository: Path | None = None) -> None:
    """Raises BenchmarkError if a proposal's base commit is not in its repository, or in `repository` if given."""
    place = repository or Path(proposal["repository"])
    if not place.is_dir() or not has_commit(place, proposal["base"]):
        raise BenchmarkError(
            f"{place} no longer has the commit {proposal['base'][:12]}, on which proposal {proposal['id']} is based: "
            "name a clone that has it with --repo"
        )


def require_applies(repository: Path, base: str, diff: str) -> None:
    """Raises BenchmarkError if git cannot apply the diff to the commit. Writes nothing in the repository."""
    if hidden := re.search(r'(?m)^(?:Binary files|Files) (?:"?a/|/dev/null).* differ$', diff):
        raise BenchmarkError(f"it has a file that is not UTF-8 text, or too large for a diff: {hidden[0]}")
    with tempfile.TemporaryDirectory(prefix="stackrank-index-") as name:
        settings = with_settings({**NO_PROGRAMS, "core.splitIndex": "false"})
        variables = {**_alone(Path(name)), **settings, "GIT_INDEX_FILE": str(Path(name) / "index")}
        git(repository, "read-tree", base, variables=variables)
        patch = diff.encode("utf-8", "surrogateescape")
        options = ("--cached", "--check", "--whitespace=nowarn", "-")
        git(repository, "apply", *options, stdin=patch, variables=variables)


def _alone(folder: Path) -> dict[str, str]:
    """Return variables for a git that ignores all users' settings and uses only those in a file in `folder`."""
    (folder / "gitconfig").write_text(_CONFIG, encoding="utf-8")
    return {**_AUTHOR, **UNCONFIGURED, "GIT_CONFIG_GLOBAL": str(folder / "gitconfig")}


def _clone(repository: Path, place: Path, alone: Mapping[str, str]) -> Path:
    # Objects are copied, because with hard links a later git command could modify the user's repository.
    options = ("--quiet", "--no-hardlinks", "--no-checkout", "--template=")
    git(place.parent, "clone", *options, str(repository), place.name, variables=alone)
    # Somebody who pushes from the clone by hand means the forge, and not the user's repository.
    git(place, "remote", "remove", "origin", variables=alone)
    return place


def _patch(clone: Path, proposal: Mapping[str, Any], out: Path, alone: Mapping[str, str]) -> Path:
    """Write the proposal as one commit on its own base, for `git am`, including the test that represents an issue."""
    git(clone, "checkout", "--quiet", "--force", "--detach", proposal["base"], variables=alone)
    for diff in filter(None, (proposal["test_diff"], proposal["diff"])):
        git(
            clone,
            "apply",
            "--index",
            "--whitespace=nowarn",
            "-",
            stdin=diff.encode("utf-8", "surrogateescape"),
            variables=alone,
        )
    message = commit_message(proposal).encode()
    git(clone, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "-F", "-", stdin=message, variables=alone)
    arguments = (
        "-1",
        "--zero-commit",
        "--no-signature",
        "--full-index",
        "--binary",
        f"--start-number={proposal['id']}",
    )
    file_name = git(clone, "format-patch", *arguments, "-o", str(out), variables=alone).decode().strip()
    return Path(file_name)


def _branch(clone: Path, base: str, patches: Mapping[int, Path], alone: Mapping[str, str]) -> dict[int, str]:
    """Apply all patches to one branch, in the order of their numbers. Returns those that do not apply -> why."""
    git(clone, "checkout", "--quiet", "--force", "--detach", base, variables=alone)
    # A branch named `stackrank` would prevent a branch `stackrank/fixes`.
    git(clone, "update-ref", "-d", f"refs/heads/{BRANCH.partition('/')[0]}")
    git(clone, "checkout", "--quiet", "-B", BRANCH, variables=alone)
    conflicts: dict[int, str] = {}
    for number, patch in patches.items():
        try:
            git(clone, "am", "--quiet", "--3way", "--keep-cr", "--no-gpg-sign", str(patch), variables=alone)
        except BenchmarkError as error:
            git(clone, "am", "--abort", variables=alone)
            predecessors = (
                ", ".join(str(earlier) for earlier in patches if earlier < number and earlier not in conflicts)
                or "none"
            )
            conflicts[number] = f"it does not apply after those approved before it ({predecessors}): {error}"
    return conflicts


def commit_message(proposal: Mapping[str, Any]) -> str:
    """Return a message that says what the change fixes, with the evidence."""
    decision, title = proposal["decision"], one_line(str(proposal["title"]))
    head = f"Fix: {title}"
    # Free text is indented, because for `git am` a line such as `---` ends the message.
    lines = [
        head if len(head) <= 100 else f"{head[:97]}...",
        "",
        *(f"- {one_line(line)}" for line in evidence_lines(proposal)),
    ]
    lines += ["", *(f"    {line}" for line in decision["reason"].strip().splitlines()), ""]
    lines.append(f"Proposal: {proposal['id']} ({proposal['digest'][:16]}), episode {proposal['episode_id']}")
    lines.append(f"Approved-by: {one_line(decision['person']) or 'unknown'}")
    return "\n".join(lines) + "\n"
