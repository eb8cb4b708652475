"""Access to a forge through GitHub's API, only if the user names it: issues, a branch, and a draft pull request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from stackrank.env.benchmarks.git import is_repository
from stackrank.env.git import git_folders, push_git, remote_addresses
from stackrank.errors import InfrastructureError, UsageError
from stackrank.extensions.fix.publish import BRANCH
from stackrank.extensions.fix.wording import evidence_lines
from stackrank.settings import settings
from stackrank.wording import count_of, one_line

Row = dict[str, Any]
_PAGE, _MOST_PAGES = 100, 50


class ForgeError(InfrastructureError):
    """The forge does not answer, or refuses the request."""


def require_token(push: str, repository: str) -> None:
    """Raises UsageError if a pull request could not be opened, before anything is written."""
    _require_name("--pull-request", repository)
    if not push:
        raise UsageError("--pull-request needs --push REMOTE: the branch must be pushed first")
    if not settings().forge_token:
        raise UsageError("--pull-request needs a token of the forge: set STACKRANK_FORGE_TOKEN")


def destination(repository: Path, remote: str) -> str:
    """Return the address that `--push` pushes to: that of a remote of the user's repository, or the given address.

    Raises UsageError if `remote` is neither, or is the repository itself, which is never written to. It also does so
    for a remote on this machine, because the repository names it, and the user does not.
    """
    if not remote or remote.startswith("-"):
        raise UsageError(f"--push {remote!r} is not a remote")
    addresses = remote_addresses(repository)
    below = repository if remote in addresses else Path.cwd()
    address = addresses.get(remote) or remote
    place = below / Path(address.removeprefix("file://")).expanduser()
    if "://" in address.removeprefix("file://") or (re.match(r"[^/]+:", address) and not place.exists()):
        return address
    if not is_repository(place):
        raise UsageError(
            f"--push {remote!r} is not a remote of {repository} ({', '.join(addresses) or 'it has none'}), an address, "
            "or the folder of a repository"
        )
    if git_folders(place)[1] == git_folders(repository)[1]:
        raise UsageError(
            f"--push {remote!r} is {repository} itself, which stackrank never changes: name another remote"
        )
    if remote in addresses:
        raise UsageError(
            f"the remote {remote} of {repository} is a repository on this machine, {place.resolve()}: to have it "
            f"changed, name it with --push {place.resolve()}"
        )
    return str(place.resolve())


def push_branch(clone: Path, address: str) -> None:
    """Push the branch. It overwrites only its own older version. Raises BenchmarkError."""
    push_git(clone, address, BRANCH)


def open_pull_request(api: str, repository: str, onto: str, approved: Sequence[Mapping[str, Any]]) -> str:
    """Open a draft pull request with the evidence, or update the open one. Returns its address.

    Raises ForgeError.
    """
    body = "\n\n".join(
        f"Proposal {row['id']}\n\n" + "\n".join(f"    {one_line(line)}" for line in evidence_lines(row))
        for row in approved
    )
    place, fails = f"repos/{repository}/pulls", "opens no pull request for"
    content = {"title": f"{count_of(len(approved), 'approved fix', 'approved fixes')}", "base": onto, "body": body}
    branch = f"{repository.partition('/')[0]}:{BRANCH}"
    existing = _ask(api, "GET", place, fails, repository, params={"state": "open", "head": branch, "base": onto})
    if isinstance(existing, list) and existing:
        pull = _ask(api, "PATCH", f"{place}/{existing[0]['number']}", fails, repository, json=content)
    else:
        pull = _ask(api, "POST", place, fails, repository, json={**content, "head": BRANCH, "draft": True})
    return str(pull.get("html_url", "")) if isinstance(pull, dict) else ""


def list_issues(api: str, repository: str, labels: Sequence[str] = ()) -> list[Row]:
    """Return a repository's open issues, newest first, as the forge sends them, which includes pull requests.

    `labels`: return only issues with all of these. Raises UsageError, ForgeError.
    """
    _require_name("--issues-of", repository)
    query: Row
    issues: list[Row] = []
    for page in range(1, _MOST_PAGES + 1):
        query = {"state": "open", "per_page": _PAGE, "page": page}
        if labels:
            query["labels"] = ",".join(labels)
        rows = _ask(api, "GET", f"repos/{repository}/issues", "lists no issues of", repository, params=query)
        if not isinstance(rows, list):
            raise ForgeError(
                f"the forge at {api} did not answer with a list of issues for {repository}: is it GitHub's API?"
            )
        issues += rows
        if len(rows) < _PAGE:
            break
    return issues


def _ask(api: str, method: str, path: str, fails: str, repository: str, **content: Any) -> Any:
    """Return the forge's answer, parsed from JSON. `fails`: the words in the error for what the forge fails to do."""
    headers = {"Accept": "application/vnd.github+json"}
    if token := settings().forge_token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        answer = httpx.request(method, f"{api.rstrip('/')}/{path}", headers=headers, timeout=60, **content)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ForgeError(f"the forge at {api} does not answer ({error}): check it, and try again") from None
    try:
        document = answer.json()
    except ValueError:
        document = {}
    if not answer.is_success:
        message = (document.get("message") if isinstance(document, dict) else "") or answer.reason_phrase
        remedy = "" if token else ": set STACKRANK_FORGE_TOKEN if it needs a token"
        raise ForgeError(f"the forge at {api} {fails} {repository}: {answer.status_code}, {message}{remedy}")
    return document


def _require_name(option: str, repository: str) -> None:
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise UsageError(f"{option} {repository!r} is not OWNER/NAME")
