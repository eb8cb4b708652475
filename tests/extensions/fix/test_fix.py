"""`stackrank fix` from planted bugs to patches that hold, cut off and gone on with."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.extensions.fix import progress
from stackrank.extensions.fix import propose as propose_module
from stackrank.extensions.fix.finding import problems as problems_module
from stackrank.extensions.fix.finding import suite as suite_module
from stackrank.extensions.fix.finding.problems import Problem
from stackrank.extensions.fix.finding.project import TestOptions, open_project
from stackrank.extensions.fix.finding.suite import Suite, run_suite
from stackrank.flows.cli import playing
from tests.fixtures.calls import CommandLine, interruptible
from tests.fixtures.env import usable
from tests.support.openai_server import OpenAIServer, call
from tests.support.shop import (
    BROKEN,
    GIVEN,
    SHOP,
    git,
    repository,
    tree,
    write,
)

BOX = ("--sandbox", "bubblewrap")


# ---- whole


@pytest.fixture
def played(prefect_server: str, stackrank: CommandLine) -> Iterator[CommandLine]:
    yield stackrank


@pytest.mark.slow
def test_from_two_bugs_to_patches(played: CommandLine, tmp_path: Path) -> None:
    shop, out = repository(tmp_path / "shop"), tmp_path / "proposals"
    tree_before = tree(shop)
    document = played("fix", str(shop), "--agent", "repair", "--out", str(out), "--repeat", "2", *BOX, "--json").json()
    assert document["suite"] == {"passed": 2, "failed": 3, "flaky": 0, "unread": 0} and not document["without"]
    total, largest = sorted(document["proposals"], key=lambda row: -len(row["tests"]))
    assert total["tests"] == ["tests/test_cart.py::test_discount", "tests/test_cart.py::test_total"]
    assert total["evidence"]["agreement"] == {"same": 1, "played": 1} and total["evidence"]["regressions"] == []
    assert largest["evidence"]["target"] == {"tests/test_cart.py::test_largest": ["failed", "passed"]}
    assert largest["evidence"]["lines"] == {"changed": 1, "run": 1} and largest["evidence"]["record"]["rate"] == 1
    listed = played("review", "--list", "--json").json()["proposals"]
    assert [row["id"] for row in listed] == [row["id"] for row in document["proposals"]] == [1, 2]
    wrong = played("review", "1", "--approve", "--digest", "0" * 64)
    assert wrong.status == 2 and "has changed since you reviewed it" in wrong.sentence()
    for row in document["proposals"]:
        assert played("review", str(row["id"]), "--approve", "--digest", row["digest"][:16]).status == 0
        clean = tmp_path / f"clean-{row['id']}"
        git(tmp_path, "clone", "-q", str(shop), str(clean))
        (patch,) = out.glob(f"{row['id']:04}-*.patch")
        git(clean, "am", "-q", str(patch))
        fixed = run_suite(open_project(clean, TestOptions()), usable("bubblewrap"), times=2)
        assert set(row["tests"]) <= fixed.passing and len(fixed.failing) == 3 - len(row["tests"])
    project = open_project(out / "clone", TestOptions())  # the branch, with both
    assert run_suite(project, usable("bubblewrap"), times=2).counts == {
        "passed": 5,
        "failed": 0,
        "flaky": 0,
        "unread": 0,
    }
    assert tree(shop) == tree_before and "Proposal 1" in (out / "comment.md").read_text()
    solved = played("validate", "repo", "--path", str(out / "solved"), "--rounds", "1", *BOX, "--json").json()
    assert [task["valid"] for task in solved["tasks"]] == [True] * len(document["problems"])
    late = played("review", "1", "--reject", "--reason", "No.")
    assert late.status == 2 and "has already been decided" in late.sentence()
    fixed_repository = repository(tmp_path / "whole", {**SHOP, "shop/cart.py": GIVEN})
    result = played(
        "fix", str(fixed_repository), "--agent", "repair", "--out", str(tmp_path / "none"), "--repeat", "2", *BOX
    )
    assert result.status == 0 and "There are no problems" in result.out


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("place", ["", "apps/till"])
def test_a_package_that_is_a_link_in_a_folder_of_a_repository(played: CommandLine, tmp_path: Path, place: str) -> None:
    """The program is imported as `src/shop`, and its files are in `rooms/desk`. The patch is of the latter."""
    mono, out = tmp_path / "mono", tmp_path / "mono-proposals"
    files = {path.replace("shop/", "rooms/desk/"): text for path, text in SHOP.items()}
    write(mono / place, {**files, "rooms/desk/cart.py": GIVEN.replace("range(0, len", "range(1, len")})
    (mono / place / "src").mkdir()
    (mono / place / "src/shop").symlink_to("../rooms/desk")
    repository(mono, {"other/test_other.py": "def test_other():\n    assert False\n"})
    options = ("--test", "python -m pytest -q -o pythonpath=src tests", "--repeat", "2", *BOX, "--json")
    document = played("fix", str(mono / place), "--agent", "repair", *options).json()
    (row,) = document["proposals"]
    assert row["evidence"]["lines"] == {"changed": 1, "run": 1} and not document["without"]
    assert played("review", str(row["id"]), "--approve").status == 0
    git(mono, "am", "-q", str(*out.glob("*.patch")))
    assert git(mono, "show", "--name-only", "--format=") == str(Path(place, "rooms/desk/cart.py"))


@pytest.mark.exhaustive
def test_an_interrupted_run_proposes_nothing_until_the_command_is_given_again(
    stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, out = repository(tmp_path / "shop"), tmp_path / "out"
    tree_before = tree(shop)
    suite = Suite(frozenset({"good"}), {"tests/test_cart.py::test_total": "why"}, ())
    problem = Problem("total", "It fails", "", ("tests/test_cart.py::test_total",), suite)
    calls: list[str] = []
    proposed: list[tuple[Sequence[Problem], int]] = []

    def suites(*_: Any, **__: Any) -> Suite:
        calls.append("suite")
        return suite

    def interrupted(*_: Any) -> bool:
        calls.append("play")
        return len(calls) == 2

    def proposals(_store: Any, _project: Any, _backend: Any, problems: Any, run: int, *_: Any, **__: Any) -> Any:
        proposed.append((problems, run))
        if len(proposed) == 1:
            raise KeyboardInterrupt
        return [], {"total": "nobody mends it"}

    monkeypatch.setattr(suite_module, "run_suite", suites)
    monkeypatch.setattr(problems_module, "find_problems", lambda *_: [problem])
    monkeypatch.setattr(propose_module, "propose", proposals)
    monkeypatch.setattr(playing, "begin", lambda *_: (7, "begun"))
    monkeypatch.setattr(
        playing, "prepare_interrupted", lambda _, run, file: calls.append(f"{run} {file.name}") or "again"
    )
    monkeypatch.setattr(playing, "play_rest", interrupted)
    monkeypatch.setattr(playing, "require_finished", lambda *_: None)
    flags = ("fix", str(shop), "--agent", "random", "--out", str(out), *BOX)
    stopped = stackrank(*flags)
    assert stopped.status == 130 and "run 7 was interrupted, and has not led to proposals yet" in stopped.err
    assert tree(shop) == tree_before and not (out / "comment.md").exists()
    stopped = stackrank(*flags)
    assert stopped.status == 130 and "continuing the interrupted command" in stopped.err
    repeated = stackrank(*flags)
    assert repeated.status == 0 and "total: nobody mends it" in repeated.out
    assert calls == ["suite", "play", *["7 tasks.yaml", "play"] * 2] and proposed == [([problem], 7)] * 2
    assert (out / "comment.md").exists() and not (out / "started.json").exists()
    stackrank(*flags)
    assert calls[6:] == ["suite", "play"]  # it was through, and begins anew


def test_what_is_gone_on_with(tmp_path: Path) -> None:
    project, out = open_project(repository(tmp_path / "shop"), TestOptions()), tmp_path / "out"
    suite = Suite(frozenset({"good"}), {"a::b": "why"}, ("flaky",), ("outside",), frozenset({"left"}))
    problem = Problem("a.b", "It fails", "It does", ("a::b",), suite, "+ a test\n", (("a::b",), ("a::c",)))
    digest = progress.digest_command(project, "settings")
    saved = progress.Progress(digest, suite, [problem], {"fix shop": 3}, {3: ([1, 2], {"a.b": "why"})})
    saved.keep(out)
    assert progress.load_progress(out, digest) == saved
    assert progress.load_progress(out, progress.digest_command(project, "other settings")) is None
    (out / "started.json").write_text("{")
    assert progress.load_progress(out, digest) is None and progress.load_progress(tmp_path / "none", digest) is None


@pytest.mark.exhaustive
@pytest.mark.slow
def test_ctrl_c_and_the_same_command_again(
    played: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefect_server: str
) -> None:
    """What is done when a person interrupts it is done once, and the rest when the command is given again."""
    shop, out = repository(tmp_path / "shop"), tmp_path / "out"
    requests: Counter[str] = Counter()
    waits = threading.Event()

    def script(request: dict[str, Any]) -> Any:
        messages = json.dumps(request["messages"])
        name = "largest" if "- tests/test_cart.py::test_largest:" in messages else "total"
        requests[name] += 1
        if len(requests) == 2 and not waits.is_set():
            process.send_signal(signal.SIGINT)
            waits.set()
        turns = sum(message["role"] == "assistant" for message in request["messages"])
        mended = {"largest": ("price < best", "price > best"), "total": ("range(1, len", "range(0, len")}[name]
        return call("submit") if turns else call("rewrite", path="shop/cart.py", new_code=BROKEN.replace(*mended))

    with OpenAIServer(script, key="sk-test") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        flags = ("fix", str(shop), "--agent", "llm", "--model", "scripted", "--tools", "rewrite", "--repeat", "2", *BOX)
        flags += ("--workers", "1", "--out", str(out), "--json")
        command = [sys.executable, "-m", "stackrank.flows.cli.main", *flags]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible)
        _, err = process.communicate(timeout=600)
        assert (process.returncode, "repeat the command to continue" in err) == (130, True), err
        first = next(iter(requests))
        assert requests[first] == 2
        document = played(*flags).json()
    assert requests[first] == 2 and requests.total() in (4, 5)
    assert len(document["proposals"]) == 2 and not document["without"] and document["runs"] == [1]
    (run,) = played("runs", "--json").json()
    assert run["status"] == "finished" and not (out / "started.json").exists()


@pytest.mark.exhaustive
def test_a_run_that_was_not_played_is_no_result(
    played: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefect_server: str
) -> None:
    """A Prefect server that is too busy to begin it does not mean that nobody resolved anything."""
    flags = ("fix", str(repository(tmp_path / "shop")), "--agent", "repair", "--repeat", "2", *BOX)
    flags += ("--out", str(tmp_path / "out"), "--json")
    with monkeypatch.context() as patch:
        patch.setattr(playing, "play_rest", lambda *_: False)
        failed = played(*flags)
    assert failed.status == 1 and "run 1 has not been played to its end: repeat the command" in failed.err
    document = played(*flags).json()
    assert document["runs"] == [1] and document["proposals"]


BOTH = """\
def extremes(prices):
    low = high = prices[0]
    for price in prices:
        low = min(low, price)
        high = max(high, price)
    return low, high
"""
WRONG = BOTH.replace("= min", "= max").replace("= max(high", "= min(high")
PRICES = "[scripted]\ndate = 2026-01-01\ninput = 1.0\noutput = 1.0\n"
BOTH_TESTS = """\
from shop.cart import names
from shop.range import extremes


def test_low():
    assert extremes([2, 1, 3])[0] == 1


def test_high():
    assert extremes([2, 1, 3])[1] == 3


def test_names():
    assert names("ba") == ["a", "b"]


def test_fails_already():
    assert names("ba") == ["b", "a"]
"""


@pytest.mark.exhaustive
@pytest.mark.slow
def test_two_causes_in_one_line_s_reach_within_a_budget(
    played: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in CI: what a change broke. Nobody mends both bugs at once, so each is played for itself."""
    files = {"shop/__init__.py": "", "shop/cart.py": GIVEN, "shop/range.py": BOTH, "test_range.py": BOTH_TESTS}
    shop, out = repository(tmp_path / "shop", files), tmp_path / "out"
    write(shop, {"shop/range.py": WRONG})
    git(shop, "commit", "-qam", "Breaks both")

    def script(request: dict[str, Any]) -> Any:
        messages = json.dumps(request["messages"])
        turns = sum(message["role"] == "assistant" for message in request["messages"])
        high = "- test_range.py::test_low:" not in messages
        right = WRONG.replace("high = min", "high = max") if high else WRONG.replace("low = max", "low = min")
        steps = [call("pdb", command=row) for row in ("b shop/range.py:4", "c", "p low, high")]
        steps.append(call("rewrite", path="shop/range.py", new_code=right))
        return steps[turns] if turns < len(steps) else call("submit")

    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    monkeypatch.setenv("STACKRANK_PRICES", str(prices))
    with OpenAIServer(script, key="sk-test") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        flags = ("--agent", "llm", "--model", "scripted", "--tools", "debug", "--repeat", "2", "--budget", "5", *BOX)
        document = played("fix", str(shop), "--changed", "--out", str(out), *flags, "--json").json()
    assert document["suite"]["failed"] == 2 and len(document["runs"]) == 2 and not document["without"]
    assert sorted(element["tests"] for element in document["problems"]) == [
        ["test_range.py::test_high"], ["test_range.py::test_low"]
    ]  # fmt: skip
    first, second = (queries.run(connect(), element)["spec"]["budget_usd"] for element in document["runs"])
    assert first == 5 and 0 < second < 5
    for row in document["proposals"]:
        assert row["evidence"]["fixed"] == row["tests"] and row["evidence"]["lines"] == {"changed": 1, "run": 1}
        stop = row["evidence"]["debugger"][-1]
        assert (stop["step"], stop["place"]) == (3, "shop/range.py:4") and "(2, 2)" in stop["shown"]
    comment = (out / "comment.md").read_text()
    assert comment.count("### Proposal") == 2 and "of 2 such problems" in comment
    assert "Debugger at shop/range.py:4" in comment


FAR = "from shop.cut import rest\n\n\ndef test_rest():\n    assert rest([1, 2, 3], 2) == [3]\n"
HEADS = {
    "as a list": ("def first(items):\n    return rest(items, 2)\n", "assert first([1, 2]) == [2]"),
    "as a text": ("def last(items):\n    return str(rest(items, len(items)))\n", "assert last([1, 2]) == '[2]'"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("caller", "test"), HEADS.values(), ids=HEADS)
def test_a_change_that_breaks_tests_of_another_file_is_not_the_end(
    played: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caller: str, test: str
) -> None:
    """The function that is called is right, and only tests of another file say so."""
    text = f"def rest(items, n):\n    return items[n:]\n\n\n{caller}"
    near = f"from shop.cut import *\n\n\ndef test_near():\n    {test}\n"
    files = {"shop/__init__.py": "", "shop/cut.py": text, "tests/test_far.py": FAR, "tests/test_near.py": near}
    shop, out = repository(tmp_path / "shop", files), tmp_path / "out"
    right = text.replace("rest(items, 2)", "rest(items, 1)").replace("len(items))", "len(items) - 1)")

    def script(request: dict[str, Any]) -> Any:
        turns = sum(message["role"] == "assistant" for message in request["messages"])
        sees_far = "tests/test_far.py tests/test_near.py" in json.dumps(request["messages"])
        code = right if sees_far else text.replace("[n:]", "[n - 1 :]")
        return call("submit") if turns else call("rewrite", path="shop/cut.py", new_code=code)

    with OpenAIServer(script, key="sk-test") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        flags = ("--agent", "llm", "--model", "scripted", "--tools", "rewrite", "--repeat", "2", *BOX)
        document = played("fix", str(shop), "--out", str(out), *flags, "--json").json()
    best, worse = document["proposals"]
    assert best["evidence"]["regressions"] == [] and best["diff"].count("cut.py") and not document["without"]
    assert worse["evidence"]["regressions"] == ["tests/test_far.py::test_rest"]
    assert played("review", str(best["id"]), "--approve").status == 0
    git(shop, "am", "-q", str(*out.glob("*.patch")))
    assert (shop / "shop/cut.py").read_text() == right


WRITTEN = "from shop.cart import largest\n\n\ndef test_largest():\n    assert largest([1, 7, 3]) == 7\n"


@pytest.mark.exhaustive
@pytest.mark.slow
def test_an_issue_gets_its_test_first(played: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {**SHOP, "shop/cart.py": GIVEN.replace("price > best", "price < best")}
    files["tests/test_cart.py"] = "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
    shop, out = repository(tmp_path / "shop", files), tmp_path / "out"
    issue = tmp_path / "wrong-price.md"
    issue.write_text("The largest price is the smallest\n\nOf 1, 7 and 3 it gives 1.\n")

    def script(request: dict[str, Any]) -> Any:
        messages = json.dumps(request["messages"])
        turns = sum(message["role"] == "assistant" for message in request["messages"])
        if "No test shows this yet" in messages:
            action = call("rewrite", path="tests/test_wrong_price.py", new_code=WRITTEN)
        else:
            action = call("rewrite", path="shop/cart.py", new_code=GIVEN)
        return action if turns == 0 else call("submit")

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
