"""What was approved goes to a forge: pushed branches, drafts of pull requests, and its issues."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from stackrank.db import queries
from stackrank.errors import UsageError
from stackrank.extensions.fix.finding.issues import issues_from
from stackrank.extensions.fix.forge import (
    ForgeError,
    destination,
    list_issues,
    open_pull_request,
    push_branch,
    require_token,
)
from stackrank.extensions.fix.publish import BRANCH
from tests.extensions.fix.desk import Desk
from tests.fixtures.calls import CommandLine
from tests.support.shop import (
    FIX,
    SECOND_FIX,
    git,
    repository,
)


class Forge:
    """Answers as a forge does, on this machine."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str | None, Any]] = []
        self.status = 201
        self.issues: Any = []
        self.pulls: list[dict[str, Any]] = []
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                forge.heard.append((self.path, self.headers["Authorization"], body))
                self._answer(forge.status, {"html_url": "the draft", "message": "no such thing"})

            do_PATCH = do_POST

            def do_GET(self) -> None:
                url = urlsplit(self.path)
                query = {name: value[0] for name, value in parse_qs(url.query).items()}
                forge.heard.append((url.path, self.headers["Authorization"], query))
                if url.path.endswith("/pulls"):
                    self._answer(200, forge.pulls)
                    return
                page, size = int(query["page"]), int(query["per_page"])
                listed = isinstance(forge.issues, list)
                self._answer(200, forge.issues[(page - 1) * size : page * size] if listed else forge.issues)

            def _answer(self, status: int, document: Any) -> None:
                answer = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.api = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def forge() -> Iterator[Forge]:
    served = Forge()
    yield served
    served.close()


def test_a_branch_is_pushed_and_a_draft_opened(
    desk: Desk, forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for push, name, words in (("r", "nothing", "OWNER/NAME"), ("", "o/n", "--push"), ("r", "o/n", "FORGE_TOKEN")):
        with pytest.raises(UsageError, match=words):
            require_token(push, name)
    monkeypatch.setenv("STACKRANK_FORGE_TOKEN", "secret-token")
    require_token("r", "o/n")
    number = desk.propose(FIX)
    desk.decide(number, "approved")
    publication = desk.publish()
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    push_branch(publication.clone, str(tmp_path / "remote.git"))
    assert git(tmp_path / "remote.git", "for-each-ref", "--format=%(refname)") == f"refs/heads/{BRANCH}"
    approved = [queries.proposal(desk.engine, number)]
    assert open_pull_request(forge.api, "o/n", "main", approved) == "the draft"
    (_, _, query), (path, token, body) = forge.heard
    assert (path, token, body["draft"]) == ("/repos/o/n/pulls", "Bearer secret-token", True)
    assert (body["head"], body["base"]) == (BRANCH, "main") and "failed before, passed after" in body["body"]
    forge.pulls = [{"number": 7}]  # the next approval is for the same one, as it is by then
    assert open_pull_request(forge.api, "o/n", "main", approved) == "the draft"
    path, _, body = forge.heard[-1]
    assert path == "/repos/o/n/pulls/7" and "draft" not in body and "failed before, passed after" in body["body"]
    assert query == {"state": "open", "head": f"o:{BRANCH}", "base": "main"}
    forge.status = 404
    with pytest.raises(ForgeError, match="404, no such thing"):
        open_pull_request(forge.api, "o/n", "main", approved)
    forge.close()
    with pytest.raises(ForgeError, match="does not answer"):
        open_pull_request(forge.api, "o/n", "main", approved)


@pytest.mark.parametrize(
    ("push", "words"),
    [
        ("-x", "is not a remote"),
        *((name, "is not a remote of") for name in ("nowhere", "empty", "shop/tests")),
        *((name, "itself, which stackrank never changes") for name in ("itself", "shop", "shop/.git", "worktree")),
    ],
)
def test_what_cannot_be_pushed_is_refused_before_anything_is_decided(
    desk: Desk, stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch, push: str, words: str
) -> None:
    number = desk.propose(FIX)
    desk.out.mkdir()
    git(desk.shop, "remote", "add", "itself", f"file://{desk.shop}")
    git(desk.shop, "worktree", "add", "-q", "--detach", str(desk.shop.parent / "worktree"))
    (desk.shop.parent / "empty").mkdir()
    monkeypatch.chdir(desk.shop.parent)
    refused = stackrank("review", str(number), "--approve", f"--push={push}")
    assert refused.status == 2 and words in refused.sentence()
    assert queries.proposal(desk.engine, number)["status"] == "open" and not list(desk.out.iterdir())


def test_a_remote_on_this_machine_is_named_by_its_folder(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "--bare", "forge.git")
    git(desk.shop, "remote", "add", "origin", "../forge.git")
    forge = str(tmp_path / "forge.git")
    with pytest.raises(UsageError, match=f"name it with --push {forge}"):
        destination(desk.shop, "origin")
    monkeypatch.chdir(tmp_path)
    assert destination(desk.shop, "forge.git") == destination(desk.shop, f"file://{forge}") == forge
    for address in ("https://forge.example/o/n.git", "git@forge.example:o/n.git", "ssh://git@forge.example/o/n"):
        assert destination(desk.shop, address) == address
    number = desk.propose(FIX)
    desk.decide(number, "approved")
    clone = desk.publish().clone
    assert clone is not None and git(clone, "remote") == ""
    push_branch(clone, destination(desk.shop, forge))
    assert git(tmp_path / "forge.git", "for-each-ref", "--format=%(refname)") == f"refs/heads/{BRANCH}"
    assert BRANCH not in git(desk.shop, "for-each-ref")


def test_a_commit_that_is_gone_holds_up_no_other(desk: Desk, stackrank: CommandLine) -> None:
    missing, second = desk.propose(FIX, base="0" * 40), desk.propose(SECOND_FIX)
    desk.out.mkdir()
    refused = stackrank("review", str(missing), "--approve")
    assert refused.status == 2 and "no longer has the commit 000000000000" in refused.sentence()
    assert queries.proposal(desk.engine, missing)["status"] == "open"
    desk.decide(missing, "approved")
    assert stackrank("review", str(second), "--approve").status == 0
    publication = desk.publish()
    assert list(publication.patches) == [second] and list(publication.conflicts) == [missing]


def test_one_command_approves_pushes_and_opens_a_draft(
    desk: Desk, forge: Forge, stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, second = desk.propose(FIX), desk.propose(SECOND_FIX)
    desk.out.mkdir()
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    options = ("--push", str(remote), "--pull-request", "o/n", "--api", forge.api)
    refused = stackrank("review", str(number), "--approve", *options)
    assert refused.status == 2 and "STACKRANK_FORGE_TOKEN" in refused.sentence()
    monkeypatch.setenv("STACKRANK_FORGE_TOKEN", "secret-token")
    assert stackrank("review", str(second), *options).status == 0  # which nobody approved
    assert queries.proposal(desk.engine, number)["status"] == "open" and not forge.heard
    assert git(remote, "for-each-ref") == ""
    result = stackrank("review", str(number), "--approve", *options, "--json").json()
    assert result["pull_request"] == "the draft" and forge.heard[-1][2]["draft"] is True
    changed = git(remote, "diff", f"{BRANCH}~1", BRANCH)
    assert "range(0, len(prices))" in changed and "price > best" not in changed


def test_the_open_issues_of_a_forge(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    forge.issues = [{"number": n, "title": f"Wrong {n}", "body": "So.", "state": "open"} for n in range(205)]
    forge.issues[3]["pull_request"] = {"url": "x"}
    issues = list(issues_from(list_issues(forge.api, "o/n", ["bug", "good first issue"]), "o/n"))
    assert len(issues) == 204 and issues[3].name == "issue-4" and issues[3].text == "Wrong 4\n\nSo."
    path, token, query = forge.heard[-1]
    assert (path, token, len(forge.heard)) == ("/repos/o/n/issues", None, 3)
    assert query == {"state": "open", "per_page": "100", "page": "3", "labels": "bug,good first issue"}
    monkeypatch.setenv("STACKRANK_FORGE_TOKEN", "secret-token")
    forge.issues = []
    assert list_issues(forge.api + "/", "o/n") == [] and forge.heard[-1][1] == "Bearer secret-token"
    forge.issues = {"message": "a proxy"}
    with pytest.raises(ForgeError, match="with a list of issues"):
        list_issues(forge.api, "o/n")
    with pytest.raises(UsageError, match="OWNER/NAME"):
        list_issues(forge.api, "../n/x")


def test_issues_that_cannot_be_had(forge: Forge, stackrank: CommandLine, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (tmp_path / "issue-1.md").write_text("Wrong\n")
    call = ("fix", str(shop), "--out", str(tmp_path / "out"), "--issues", str(tmp_path / "issue-1.md"))
    forge.issues = [{"number": 1, "title": "Wrong", "state": "open"}]
    for api, status, words in (
        (forge.api, 2, "two issues called issue-1"),
        ("http://127.0.0.1:9", 1, "does not answer"),
    ):
        result = stackrank(*call, "--issues-of", "o/n", "--api", api, "--sandbox", "bubblewrap")
        assert (result.status, words in result.sentence()) == (status, True), result.err
    assert not (tmp_path / "out").exists()
