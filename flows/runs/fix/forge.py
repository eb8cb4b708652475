"""What is sent to others, and only where somebody names them: a branch, and a draft of a pull request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from stackrank.env.benchmarks.git import git
from stackrank.errors import InfrastructureError, UsageError
from stackrank.flows.runs.fix.publish import BRANCH
from stackrank.settings import settings
from stackrank.wording import evidence_lines


class ForgeError(InfrastructureError):
    """The forge does not answer, or refuses."""


def require_token(push: str, repository: str) -> None:
    """Raises UsageError where a pull request cannot be opened, before anything is written."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise UsageError(f"--pull-request {repository!r} is not OWNER/NAME")
    if not push:
        raise UsageError("--pull-request needs --push REMOTE: the branch has to be there first")
    if not settings().forge_token:
        raise UsageError("--pull-request needs a token of the forge: set STACKRANK_FORGE_TOKEN")


def push_branch(clone: Path, remote: str) -> None:
    """Push the branch, over an older version of itself and over nothing else. Raises BenchmarkError."""
    if remote.startswith("-"):
        raise UsageError(f"--push {remote!r} is no remote")
    git(clone, "push", "--quiet", "--force", "--no-verify", remote, f"HEAD:refs/heads/{BRANCH}")


def open_pull_request(api: str, repository: str, onto: str, approved: Sequence[Mapping[str, Any]]) -> str:
    """Open a draft with the evidence, and return its address. Raises ForgeError."""
    body = "\n\n".join(
        f"Proposal {row['id']}\n\n" + "\n".join(f"    {line}" for line in evidence_lines(row)) for row in approved
    )
    content = {"title": f"{len(approved)} approved fixes", "head": BRANCH, "base": onto, "body": body, "draft": True}
    headers = {"Authorization": f"Bearer {settings().forge_token}", "Accept": "application/vnd.github+json"}
    try:
        answer = httpx.post(f"{api.rstrip('/')}/repos/{repository}/pulls", json=content, headers=headers, timeout=60)
    except httpx.HTTPError as error:
        raise ForgeError(f"the forge at {api} does not answer ({error}): the branch is pushed, try again") from None
    try:
        found = answer.json()
    except ValueError:
        found = {}
    if answer.status_code != httpx.codes.CREATED:
        said = found.get("message") or answer.reason_phrase
        raise ForgeError(f"the forge at {api} opens no pull request for {repository}: {answer.status_code}, {said}")
    return str(found.get("html_url", ""))
