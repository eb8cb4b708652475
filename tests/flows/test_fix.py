"""`stackrank fix` and `review`: what is refused, what is set aside, and from two planted bugs to patches that hold."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from stackrank.db import queries
from stackrank.db.engine import connect
from stackrank.db.proposals import DecisionRefused, Proposals, digest_of
from stackrank.db.transactions import DECISION, PROPOSAL
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.scoring.report import TestReport
from stackrank.errors import UsageError
from stackrank.flows.runs.fix import suite as suite_module
from stackrank.flows.runs.fix.comment import write_comment
from stackrank.flows.runs.fix.evidence import surety
from stackrank.flows.runs.fix.forge import ForgeError, open_pull_request, push_branch, require_token
from stackrank.flows.runs.fix.issues import read_issues
from stackrank.flows.runs.fix.problems import find_problems
from stackrank.flows.runs.fix.project import Project, Wishes, open_project, require_apart
from stackrank.flows.runs.fix.publish import BRANCH, publish
from stackrank.flows.runs.fix.suite import broken_since, run_suite
from tests.env.conftest import usable
from tests.flows.calls import CommandLine
from tests.support.fixing import (
    BROKEN,
    FIX,
    GIVEN,
    OTHER_FIX,
    SECOND_FIX,
    SHOP,
    evidence,
    git,
    proposal_row,
    repository,
    write,
)
from tests.support.openai_server import OpenAIServer, call

BOX = ("--sandbox", "bubblewrap")


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder, those of git too."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# ---- repositories of no use


def _no_git(folder: Path) -> None:
    write(folder, SHOP)


def _dirty(folder: Path) -> None:
    (repository(folder) / "shop/cart.py").write_text(GIVEN)


def _staged(folder: Path) -> None:
    _dirty(folder)
    git(folder, "add", "-A")


def _submodule(folder: Path) -> None:
    other = repository(folder.parent / "other", {"x.py": ""})
    repository(folder)
    git(folder, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "vendor/other")
    git(folder, "commit", "-q", "-m", "With another")


def _empty(folder: Path) -> None:
    folder.mkdir()
    git(folder, "init", "-q")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_no_git, "is not a git repository"),
        (_dirty, "has changes that are not committed (shop/cart.py)"),
        (_staged, "has changes that are not committed (shop/cart.py)"),
        (_submodule, "has submodules (vendor/other)"),
        (_empty, "has no commit HEAD"),
    ],
)
def test_a_repository_of_no_use(stackrank: CommandLine, tmp_path: Path, make: Any, words: str) -> None:
    shop = tmp_path / "shop"
    make(shop)
    before = tree(shop)
    result = stackrank("fix", str(shop), "--agent", "repair", "--out", str(tmp_path / "out"), *BOX)
    assert (result.status, words in result.sentence()) == (2, True), result.err
    assert tree(shop) == before and not (tmp_path / "out").exists()


def test_an_output_inside_of_the_repository(stackrank: CommandLine, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (tmp_path / "link").symlink_to(shop)
    for out in (shop, shop / "proposals", tmp_path / "link" / "x"):
        result = stackrank("fix", str(shop), "--agent", "repair", "--out", str(out), *BOX)
        assert result.status == 2 and "is not written to" in result.sentence()
    local = stackrank("fix", str(shop), "--agent", "repair", "--out", str(tmp_path / "o"), "--sandbox", "local")
    assert local.status == 2 and "tests could write to your files" in local.sentence()
    assert git(shop, "status", "--porcelain") == ""


# ---- suites


def opened(folder: Path, files: Mapping[str, str], **wishes: Any) -> Project:
    project = open_project(repository(folder, files), Wishes(**wishes))
    require_apart(project, folder.parent / "out")
    return project


def quiet(line: str) -> None:
    pass


def test_what_several_runs_agree_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [
        {"good": "passed", "expected": "xfailed", "bad": "failed", "flaky": "passed", "now and then": "failed"},
        {"good": "passed", "expected": "passed", "bad": "failed", "flaky": "failed", "skipped": "skipped"},
    ]
    project = opened(tmp_path / "p", SHOP)
    for reports in (runs, runs[::-1]):
        each = iter([TestReport(outcomes, {"bad": "assert 1 == 2"}, complete=True) for outcomes in reports])
        monkeypatch.setattr(suite_module, "_run", lambda *_, each=each: next(each))
        found = run_suite(project, usable("bubblewrap"), times=2)
        assert found.passing == {"good", "expected"} and found.failing == {"bad": "assert 1 == 2"}
        assert found.flaky == ("flaky", "now and then", "skipped")


@pytest.mark.slow
def test_a_test_that_writes_outside(tmp_path: Path) -> None:
    tests = (
        "def test_good():\n    pass\n\n\ndef test_bad():\n    assert 1 == 2\n\n\n"
        "def test_outside():\n    open('/etc/stackrank-was-here', 'w')\n"
    )
    found = run_suite(opened(tmp_path / "p", {"test_it.py": tests}), usable("bubblewrap"), times=2)
    assert found.passing == {"test_it.py::test_good"} and list(found.failing) == ["test_it.py::test_bad"]
    assert found.outside == ("test_it.py::test_outside",) and not found.flaky
    assert not Path("/etc/stackrank-was-here").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "timeout_s", "words"),
    [
        ("def test_it():\n    assert 1 == 2\n", 60, "no test of p passes"),
        ("import nothing_such\n", 60, "do not run"),
        ("import time\n\n\ndef test_it():\n    time.sleep(600)\n", 1, "do not end within 1 s"),
        ("x = 1\n", 60, "do not run"),
    ],
)
def test_a_suite_of_no_use(tmp_path: Path, test: str, timeout_s: float, words: str) -> None:
    project = opened(tmp_path / "p", {"test_it.py": test}, timeout_s=timeout_s)
    with pytest.raises(BenchmarkError, match=words):
        find_problems(project, run_suite(project, usable("bubblewrap"), times=2), usable("bubblewrap"), quiet)


@pytest.mark.slow
def test_only_what_a_change_broke(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", {**SHOP, "shop/cart.py": GIVEN.replace("price > best", "price < best")})
    write(shop, SHOP)
    git(shop, "commit", "-qam", "Breaks another")
    project, backend = open_project(shop, Wishes()), usable("bubblewrap")
    suite = run_suite(project, backend, times=2)
    assert len(suite.failing) == 3
    changed = broken_since(project, backend, suite, "HEAD~1", times=2)
    assert sorted(changed.failing) == ["tests/test_cart.py::test_discount", "tests/test_cart.py::test_total"]
    with pytest.raises(BenchmarkError, match="has no commit nowhere"):
        broken_since(project, backend, suite, "nowhere", times=2)


# ---- issues


def test_issues_of_texts_and_of_an_export(tmp_path: Path) -> None:
    rows = [
        {"number": 7, "title": "Largest", "body": "It gives the least.", "state": "open"},
        {"number": 8, "title": "Done", "body": None, "state": "closed"},
        {"number": 9, "title": "A change", "state": "open", "pull_request": {"url": "x"}},
    ]
    (tmp_path / "export.json").write_text(json.dumps(rows))
    (tmp_path / "Late fee.md").write_text("# Late fees\n\nThey are early.\n")
    found = read_issues(tmp_path)
    assert [(each.name, each.title) for each in found] == [("Late-fee", "Late fees"), ("issue-7", "Largest")]
    assert found[1].text == "Largest\n\nIt gives the least."


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.json", "[", "is not JSON"),
        ("a.json", '[{"title": 3}]', "is no list of issues"),
        ("a.json", "[]", "holds no open issue"),
        ("a.md", " \n", "is empty"),
        ("a.pdf", "x", "holds no open issue"),
    ],
)
def test_issues_of_no_use(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BenchmarkError, match=words):
        read_issues(tmp_path)


# ---- what leaves


class Desk:
    """Proposals about a repository, and what is published of them."""

    def __init__(self, folder: Path, url: str) -> None:
        self.shop = repository(folder / "shop")
        self.out = folder / "out"
        self.engine = connect(url)
        self.proposals = Proposals(self.engine)
        from stackrank.db.store import Store

        store = Store(self.engine)
        tasks = [{"name": "t", "digest": "t"}]
        benchmark = store.save_benchmark(name="b", digest="b", license="", source="", tasks=tasks)
        entrant = store.save_entrant(digest="e", name="one", agent="repair", model="", tools="debug")
        run = store.create_run(name="r", benchmark_id=benchmark.id, spec={})
        cell = (benchmark.task_ids["t"], entrant, 1)
        self._ids = run, entrant, store.create_episodes(run, [cell])[cell]

    def propose(self, diff: str, **more: Any) -> int:
        about = {"repository": str(self.shop), "base": git(self.shop, "rev-parse", "HEAD"), "folder": str(self.out)}
        fields = {**about, "problem": hashlib.sha256(diff.encode()).hexdigest()[:8], "diff": diff, **more}
        return self.proposals.propose([proposal_row(*self._ids, **fields)])[0]

    def decide(self, number: int, kind: Any, reason: str = "So.") -> None:
        digest = queries.proposal(self.engine, number)["digest"]
        self.proposals.decide(number, kind, digest=digest, reason=reason, person="ann")

    def publish(self) -> Any:
        return publish(queries.proposals(self.engine), self.out)


@pytest.fixture
def desk(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    return Desk(tmp_path, database)


def test_only_what_was_approved_leaves(desk: Desk, tmp_path: Path) -> None:
    before = tree(desk.shop)
    one, two, three = desk.propose(FIX), desk.propose(SECOND_FIX), desk.propose(OTHER_FIX)
    assert desk.publish().patches == {} and list(desk.out.iterdir()) == []
    # What would end a message for `git am`, in a person's words and in an agent's.
    desk.decide(one, "approved", "Right.\n---\ndiff --git a/x b/x\nFrom nobody")
    desk.decide(two, "rejected")
    done = desk.publish()
    assert list(done.patches) == [one] and done.patches[one].name.startswith(f"{one:04}-") and not done.conflicts
    clean = tmp_path / "clean"
    git(tmp_path, "clone", "-q", str(desk.shop), str(clean))
    git(clean, "am", "-q", str(done.patches[one]))
    assert (clean / "shop/cart.py").read_text() == BROKEN.replace("range(1, len", "range(0, len")
    message = git(clean, "log", "-1", "--format=%B")
    assert (
        "    diff --git a/x b/x" in message and message.endswith("episode 1\nApproved-by: ann") and "1 of 2" in message
    )
    assert git(desk.out / "clone", "rev-list", "--count", f"main..{BRANCH}") == "1"
    desk.decide(three, "approved")  # of the same lines: both cannot be in one branch
    again = desk.publish()
    assert list(again.patches) == [one, three] and list(again.conflicts) == [three]
    assert git(desk.out / "clone", "rev-list", "--count", f"main..{BRANCH}") == "1"
    assert tree(desk.shop) == before


def test_nothing_leaves_by_a_forged_decision(desk: Desk) -> None:
    one, two = desk.propose(FIX), desk.propose(SECOND_FIX)
    desk.decide(one, "approved")
    patch = desk.publish().patches[one]
    desk.decide(two, "rejected")
    for statement in (
        update(DECISION).where(DECISION.c.proposal_id == two).values(kind="approved"),
        update(PROPOSAL).where(PROPOSAL.c.id == one).values(diff=OTHER_FIX),
    ):
        with desk.engine.connect().execution_options(write=True) as connection, connection.begin():
            connection.execute(statement)
        with pytest.raises(DecisionRefused):
            desk.publish()
        assert [each.name for each in desk.out.glob("*.patch")] == [patch.name]  # as it was
    assert digest_of("a", "b", "c") != digest_of("a", "bc", "")


def test_a_branch_is_pushed_and_a_draft_opened(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, str, Any]] = []
    status = [201]

    class Forge(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            heard.append((self.path, self.headers["Authorization"], body))
            answer = json.dumps({"html_url": "the draft", "message": "no such thing"}).encode()
            self.send_response(status[0])
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    for push, name, words in (("r", "nothing", "OWNER/NAME"), ("", "o/n", "--push"), ("r", "o/n", "FORGE_TOKEN")):
        with pytest.raises(UsageError, match=words):
            require_token(push, name)
    monkeypatch.setenv("STACKRANK_FORGE_TOKEN", "secret-token")
    require_token("r", "o/n")
    number = desk.propose(FIX)
    desk.decide(number, "approved")
    done = desk.publish()
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    push_branch(done.clone, str(tmp_path / "remote.git"))
    assert git(tmp_path / "remote.git", "for-each-ref", "--format=%(refname)") == f"refs/heads/{BRANCH}"
    server = HTTPServer(("127.0.0.1", 0), Forge)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        api = f"http://127.0.0.1:{server.server_port}"
        approved = [queries.proposal(desk.engine, number)]
        assert open_pull_request(api, "o/n", "main", approved) == "the draft"
        path, token, body = heard[0]
        assert (path, token, body["draft"]) == ("/repos/o/n/pulls", "Bearer secret-token", True)
        assert (body["head"], body["base"]) == (BRANCH, "main") and "failed before, passed after" in body["body"]
        status[0] = 404
        with pytest.raises(ForgeError, match="404, no such thing"):
            open_pull_request(api, "o/n", "main", approved)
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(ForgeError, match="does not answer"):
        open_pull_request(api, "o/n", "main", approved)


def test_a_comment_cannot_be_left_by_what_is_in_it(desk: Desk, tmp_path: Path) -> None:
    number = desk.propose(FIX.replace("+    for", "+    # ``` </details> <img src=x>\n+    for"))
    text = write_comment("shop", queries.proposals(desk.engine), {"p": "why"}, tmp_path).read_text()
    assert f"### Proposal {number} (open)" in text and "````diff" in text


def test_what_looks_surer() -> None:
    sure = surety(evidence())
    worse = (
        {"regressions": ["t"]},
        {"target": {"t": ["failed", "failed"]}},
        {"suspicious": [{"file": "a", "line": 1, "what": "x"}]},
        {"lines": {"changed": 2, "run": 1}},
        {"size": {"files": 3, "added": 30, "removed": 9}},
        {"record": {"rate": 0.1, "ci_low": 0, "ci_high": 0.5}},
        {"agreement": {"same": 1, "played": 9}},
    )
    assert all(0 <= surety(evidence(**each)) < sure <= 1 for each in worse)
    assert surety(evidence(lines=None, record=None)) < sure
    assert surety(evidence(regressions=["t"], agreement={"same": 2, "played": 2})) < surety(evidence(suspicious=[{}]))


def test_reviews_that_cannot_be(stackrank: CommandLine) -> None:
    for arguments, words in (
        (("--approve",), "name the proposal"),
        (("1", "--approve"), "There is no proposal 1"),
        (("1", "--approve", "--reject"), "exclude each other"),
        (("1", "--pull-request", "o/n"), "--push"),
    ):
        result = stackrank("review", *arguments)
        assert result.status == 2 and words in result.sentence()
    assert stackrank("review", "--list", "--json").json() == {"proposals": [], "acceptance": []}


# ---- whole


@pytest.fixture
def played(prefect_server: str, stackrank: CommandLine) -> Iterator[CommandLine]:
    yield stackrank


@pytest.mark.slow
def test_from_two_bugs_to_patches(played: CommandLine, tmp_path: Path) -> None:
    shop, out = repository(tmp_path / "shop"), tmp_path / "proposals"
    before = tree(shop)
    document = played("fix", str(shop), "--agent", "repair", "--out", str(out), "--repeat", "2", *BOX, "--json").json()
    assert document["suite"] == {"passed": 2, "failed": 3, "flaky": 0} and not document["without"]
    total, largest = sorted(document["proposals"], key=lambda row: -len(row["tests"]))
    assert total["tests"] == ["tests/test_cart.py::test_discount", "tests/test_cart.py::test_total"]
    assert total["evidence"]["agreement"] == {"same": 2, "played": 2} and total["evidence"]["regressions"] == []
    assert largest["evidence"]["target"] == {"tests/test_cart.py::test_largest": ["failed", "passed"]}
    assert largest["evidence"]["lines"] == {"changed": 1, "run": 1} and largest["evidence"]["record"]["rate"] == 1
    listed = played("review", "--list", "--json").json()["proposals"]
    assert [row["id"] for row in listed] == [row["id"] for row in document["proposals"]] == [1, 2]
    wrong = played("review", "1", "--approve", "--digest", "0" * 64)
    assert wrong.status == 2 and "another change" in wrong.sentence()
    for row in document["proposals"]:
        assert played("review", str(row["id"]), "--approve", "--digest", row["digest"][:16]).status == 0
        clean = tmp_path / f"clean-{row['id']}"
        git(tmp_path, "clone", "-q", str(shop), str(clean))
        (patch,) = out.glob(f"{row['id']:04}-*.patch")
        git(clean, "am", "-q", str(patch))
        fixed = run_suite(open_project(clean, Wishes()), usable("bubblewrap"), times=2)
        assert set(row["tests"]) <= fixed.passing and len(fixed.failing) == 3 - len(row["tests"])
    project = open_project(out / "clone", Wishes())  # the branch, with both
    assert run_suite(project, usable("bubblewrap"), times=2).counts == {"passed": 5, "failed": 0, "flaky": 0}
    assert tree(shop) == before and "Proposal 1" in (out / "comment.md").read_text()
    late = played("review", "1", "--reject", "--reason", "No.")
    assert late.status == 2 and "has been decided" in late.sentence()
    whole = repository(tmp_path / "whole", {**SHOP, "shop/cart.py": GIVEN})
    nothing = played("fix", str(whole), "--agent", "repair", "--out", str(tmp_path / "none"), "--repeat", "2", *BOX)
    assert nothing.status == 0 and "Nothing is open" in nothing.out


WRITTEN = "from shop.cart import largest\n\n\ndef test_largest():\n    assert largest([1, 7, 3]) == 7\n"


@pytest.mark.slow
def test_an_issue_gets_its_test_first(played: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {**SHOP, "shop/cart.py": GIVEN.replace("price > best", "price < best")}
    files["tests/test_cart.py"] = "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
    shop, out = repository(tmp_path / "shop", files), tmp_path / "out"
    issue = tmp_path / "wrong-price.md"
    issue.write_text("The largest price is the smallest\n\nOf 1, 7 and 3 it gives 1.\n")

    def script(request: dict[str, Any]) -> Any:
        messages = json.dumps(request["messages"])
        said = sum(message["role"] == "assistant" for message in request["messages"])
        if "No test shows this yet" in messages:
            asked = call("rewrite", path="tests/test_wrong_price.py", new_code=WRITTEN)
        else:
            asked = call("rewrite", path="shop/cart.py", new_code=GIVEN)
        return asked if said == 0 else call("submit")

    with OpenAIServer(script, key="sk-test") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        flags = ("--agent", "llm", "--model", "scripted", "--tools", "rewrite", "--repeat", "2", *BOX, "--json")
        document = played("fix", str(shop), "--issues", str(issue), "--out", str(out), *flags).json()
    (proposal,) = document["proposals"]
    assert proposal["tests"] == ["tests/test_wrong_price.py::test_largest"] and not document["without"]
    assert "test_wrong_price.py" in proposal["test_diff"] and "test_wrong_price" not in proposal["diff"]
    assert proposal["evidence"]["target"] == {"tests/test_wrong_price.py::test_largest": ["failed", "passed"]}
    assert played("review", "1", "--approve").status == 0
    git(tmp_path, "clone", "-q", str(shop), "clean")
    (patch,) = out.glob("0001-*.patch")
    git(tmp_path / "clean", "am", "-q", str(patch))
    assert (tmp_path / "clean/tests/test_wrong_price.py").read_text() == WRITTEN
