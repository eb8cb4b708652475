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
from stackrank.env.benchmarks.git import has_commit, read_at
from stackrank.env.git import clone_git, run_git
from stackrank.env.patches import PatchError, apply_patch, touched_files
from stackrank.extensions.fix.finding.folder import CLONE, PATCH, claim
from stackrank.extensions.fix.solved import write_solved
from stackrank.extensions.fix.wording import evidence_lines
from stackrank.home import locked
from stackrank.patches.contents import mode_of, stored_bytes
from stackrank.terms import DecisionKind
from stackrank.wording import one_line

BRANCH = "stackrank/fixes"
_AUTHOR = {
    f"GIT_{role}_{variable}": value
    for role in ("AUTHOR", "COMMITTER")
    for variable, value in (("NAME", "stackrank"), ("EMAIL", "stackrank@localhost"))
}


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
            clone = folder / CLONE
            # Somebody who pushes from the clone by hand means the forge, and not the user's repository: no remote.
            clone_git(repository or Path(committed[0]["repository"]), clone, [row["base"] for row in committed])
            for proposal in committed:
                try:
                    patches[proposal["id"]] = _patch(clone, proposal, folder)
                except (BenchmarkError, PatchError) as error:
                    published.conflicts[proposal["id"]] = f"git makes no commit of it ({error})"
            published.conflicts |= _branch(clone, committed[-1]["base"], patches)
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


def require_applies(repository: Path, base: str, patch: str) -> None:
    """Raises PatchError if the patch does not apply to the commit. Writes nothing in the repository."""
    apply_patch(read_at(repository, base, touched_files(patch)), patch)


def _git(clone: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    return run_git(*arguments, folder=clone, stdin=stdin, variables=_AUTHOR)


def _patch(clone: Path, proposal: Mapping[str, Any], out: Path) -> Path:
    """Write the proposal as one commit on its own base, for `git am`, including the test that represents an issue."""
    _git(clone, "checkout", "--quiet", "--force", "--detach", proposal["base"])
    patch = proposal["test_diff"] + proposal["diff"]
    before = read_at(clone, proposal["base"], touched_files(patch))
    after = apply_patch(before, patch)
    _stage(clone, before, after, no_object="0" * len(proposal["base"]))
    message = commit_message(proposal).encode()
    _git(clone, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "-F", "-", stdin=message)
    arguments = (
        "-1",
        "--zero-commit",
        "--no-signature",
        "--full-index",
        "--binary",
        f"--start-number={proposal['id']}",
    )
    # `git am` takes carriage returns for a fault of the mail and removes them, except from binary files.
    attributes = clone / ".git" / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    with_returns = [path for path in before | after if b"\r" in before.get(path, b"") + after.get(path, b"")]
    attributes.write_text("".join(f"{_attribute_pattern(path)} -diff\n" for path in with_returns), encoding="ascii")
    file_name = _git(clone, "format-patch", *arguments, "-o", str(out)).decode().strip()
    attributes.unlink()
    return Path(file_name)


def _attribute_pattern(path: str) -> str:
    """Return the pattern of gitattributes(5) that matches only this path."""
    pattern = re.sub(r"([*?\[\\])", r"\\\1", f"/{path}").encode("utf-8", "surrogateescape")
    return '"' + "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\{byte:03o}" for byte in pattern) + '"'


def _stage(clone: Path, before: Mapping[str, bytes], after: Mapping[str, bytes], *, no_object: str) -> None:
    """Put files into the index exactly as they are: no attribute or setting converts them."""
    deleted = [f"0 {no_object}\t{path}\0" for path in sorted(before.keys() - after.keys())]
    written = []
    for path, content in sorted(after.items()):
        name = _git(clone, "hash-object", "-w", "--no-filters", "--stdin", stdin=stored_bytes(content))
        written.append(f"{mode_of(content)} {name.decode().strip()}\t{path}\0")
    # A deleted file may have become a folder.
    entries = "".join((*deleted, *written)).encode("utf-8", "surrogateescape")
    _git(clone, "update-index", "-z", "--index-info", stdin=entries)


def _branch(clone: Path, base: str, patches: Mapping[int, Path]) -> dict[int, str]:
    """Apply all patches to one branch, in the order of their numbers. Returns those that do not apply -> why."""
    _git(clone, "checkout", "--quiet", "--force", "--detach", base)
    # A branch named `stackrank` would prevent a branch `stackrank/fixes`.
    _git(clone, "update-ref", "-d", f"refs/heads/{BRANCH.partition('/')[0]}")
    _git(clone, "checkout", "--quiet", "-B", BRANCH)
    conflicts: dict[int, str] = {}
    for number, patch in patches.items():
        try:
            _git(clone, "am", "--quiet", "--3way", "--keep-cr", "--no-gpg-sign", str(patch))
        except BenchmarkError as error:
            _git(clone, "am", "--abort")
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
