"""`stackrank fix` and `review`: what is refused, what is set aside, and from two planted bugs to patches that hold."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.engine import connect
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.repo_schema import read_tasks
from stackrank.env.difficulty.spectrum import Spectrum
from stackrank.env.patches import make_diff
from stackrank.env.scoring.report import TestReport
from stackrank.flows.cli import played as played_module
from stackrank.flows.runs.fix import problems as problems_module
from stackrank.flows.runs.fix import propose as propose_module
from stackrank.flows.runs.fix import started
from stackrank.flows.runs.fix import suite as suite_module
from stackrank.flows.runs.fix.evidence import altered_doctests, surety
from stackrank.flows.runs.fix.issues import read_issues
from stackrank.flows.runs.fix.problems import Problem, find_problems, hidden, split_up, write_problems
from stackrank.flows.runs.fix.project import Project, Wishes, open_project, require_apart
from stackrank.flows.runs.fix.propose import by_change
from stackrank.flows.runs.fix.suite import Suite, broken_since, run_again, run_suite
from tests.env.conftest import usable
from tests.flows.calls import CommandLine, interruptible
from tests.support.fixing import (
    BROKEN,
    GIVEN,
    SHOP,
    evidence,
    git,
    repository,
    tree,
    write,
)
from tests.support.openai_server import OpenAIServer, call

BOX = ("--sandbox", "bubblewrap")


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
        (_dirty, "has uncommitted changes (shop/cart.py)"),
        (_staged, "has uncommitted changes (shop/cart.py)"),
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


@pytest.mark.parametrize(
    ("entrant", "words"),
    [
        (("--agent", "repair", "--model", "x"), "uses no model"),
        (("--agent", "llm"), "needs a model"),
        (("--agent", "oracle"), "needs known fixes"),
        (("--agent", "repair", "--tools", "snapshot"), "does not use"),
    ],
)
def test_an_entrant_of_no_use_is_refused_before_a_suite_runs(
    stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entrant: tuple[str, ...], words: str
) -> None:
    monkeypatch.setattr(suite_module, "_run", lambda *_: pytest.fail("the suite ran"))
    shop = repository(tmp_path / "shop")
    result = stackrank("fix", str(shop), *entrant, "--out", str(tmp_path / "out"), *BOX)
    assert (result.status, words in result.sentence()) == (2, True), result.err
    assert not (tmp_path / "out").exists()


def test_an_output_inside_of_the_repository(stackrank: CommandLine, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (tmp_path / "link").symlink_to(shop)
    for out in (shop, shop / "proposals", tmp_path / "link" / "x"):
        result = stackrank("fix", str(shop), "--agent", "repair", "--out", str(out), *BOX)
        assert result.status == 2 and "stackrank never changes" in result.sentence()
    local = stackrank("fix", str(shop), "--agent", "repair", "--out", str(tmp_path / "o"), "--sandbox", "local")
    assert local.status == 2 and "tests could change your files" in local.sentence()
    assert git(shop, "status", "--porcelain") == ""


@pytest.mark.parametrize(("tag", "version"), [("", "0"), ("v1.2.3rc1", "1.2.3")])
@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": '[build-system]\nrequires = ["flit_core", "flit_scm"]\n[project]\nname = "p"\n'},
        {"pyproject.toml": '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\n[project]\nname = "p"\n'},
        {"setup.py": "from setuptools import setup\nsetup(use_scm_version=True)\n"},
    ],
)
def test_a_version_that_git_knows(tmp_path: Path, files: dict[str, str], tag: str, version: str) -> None:
    folder = repository(tmp_path / "p", {**SHOP, **files})
    if tag:
        git(folder, "tag", tag)
    (command,) = open_project(folder, Wishes()).environment.setup
    assert command == f"SETUPTOOLS_SCM_PRETEND_VERSION={version} python -m pip install -q -e ."


# ---- suites


@pytest.mark.slow
def test_what_tests_need_and_nobody_has(stackrank: CommandLine, tmp_path: Path) -> None:
    built = '[build-system]\nrequires = ["setuptools"]\n[project]\nname = "shop"\nversion = "1"\n'
    files = {**SHOP, "pyproject.toml": built, "requirements/tests.txt": "stackrank-has-no-such-package==1\n"}
    shop, out = repository(tmp_path / "shop", files), tmp_path / "out"
    refused = stackrank("fix", str(shop), "--agent", "repair", "--out", str(out), *BOX)
    assert refused.status == 2 and not out.exists()
    assert "stackrank-has-no-such-package" in refused.err and "say with --setup how" in refused.err


@pytest.mark.slow
def test_files_of_tests_that_cannot_be_imported_are_named(stackrank: CommandLine, tmp_path: Path) -> None:
    frozen = "from freezing import freeze\n\n\ndef test_now():\n    assert freeze()\n"
    shop = repository(tmp_path / "shop", {**SHOP, "shop/cart.py": GIVEN, "tests/test_frozen.py": frozen})
    found = stackrank("fix", str(shop), "--agent", "repair", "--out", str(tmp_path / "out"), *BOX, "--json")
    (unread,) = found.json()["set_aside"]["unread"]
    assert found.json()["suite"]["unread"] == 1
    assert "tests/test_frozen.py" in unread and "freezing" in unread
    assert "the tests in files that need a missing module did not run" in found.err and "--require" in found.err


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
        monkeypatch.setattr(suite_module, "_run", lambda *_, each=each: (next(each), set()))
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
        ("import nothing_such\n", 60, "no test of p passes"),
        ("import time\n\n\ndef test_it():\n    time.sleep(600)\n", 1, "do not end within 1 s"),
        ("x = 1\n", 60, "do not run"),
    ],
)
def test_a_suite_of_no_use(stackrank: CommandLine, tmp_path: Path, test: str, timeout_s: float, words: str) -> None:
    project = repository(tmp_path / "p", {"test_it.py": test})
    before = tree(project)
    flags = ("--agent", "repair", "--out", str(tmp_path / "out"), "--timeout", str(timeout_s), "--repeat", "2")
    result = stackrank("fix", str(project), *flags, *BOX)
    assert (result.status, words in result.sentence()) == (2, True), result.err
    assert tree(project) == before and not (tmp_path / "out").exists()


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


@pytest.mark.slow
def test_what_tests_leave_and_why_they_do_not_run(tmp_path: Path) -> None:
    tests = "def test_it():\n    open('left.bin', 'wb').write(b'\\xff')\n"
    found = run_suite(opened(tmp_path / "p", {"test_it.py": tests}), usable("bubblewrap"), times=2)
    assert found.leaves == {"left.bin"} and found.passing == {"test_it.py::test_it"}
    project = opened(tmp_path / "q", {"test_it.py": tests, "pytest.ini": "[pytest]\naddopts = --no-such-option\n"})
    with pytest.raises(BenchmarkError, match="unrecognized arguments: --no-such-option"):
        run_suite(project, usable("bubblewrap"), times=2)


# ---- problems


def spectrum(
    tests: Sequence[str], failures: Mapping[str, Any], lines: Mapping[str, Mapping[int, set[str]]]
) -> Spectrum:
    """What tests run, by name; all tests fail."""
    groups = list(dict.fromkeys(frozenset(map(tests.index, run)) for each in lines.values() for run in each.values()))
    numbered = {
        file: {line: groups.index(frozenset(map(tests.index, run))) for line, run in each.items()}
        for file, each in lines.items()
    }
    return Spectrum(tuple(tests), (0.0,) * len(tests), ("failed",) * len(tests), failures, tuple(groups), numbered)


def test_tests_that_fail_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c, raises, other = (f"tests/test_cart.py::{name}" for name in ("t[a]", "t[b]", "t[c]", "raises", "other"))
    bad, good = [a, b, c, raises, other], [f"tests/test_cart.py::good{n}" for n in range(30)]
    frames = {raises: (("tests/test_cart.py", 5), ("shop/cart.py", 13)), other: (("shop/cart.py", 14),)}
    project, suite = opened(tmp_path / "p", SHOP), Suite(frozenset(good), dict.fromkeys(bad, ""), ())

    def found(lines: Mapping[int, set[str]]) -> dict[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        made = spectrum([*bad, *good], frames, {"shop/cart.py": {2: {*bad, *good}, **lines}})
        outcomes = ("failed",) * len(bad) + ("passed",) * len(good)
        monkeypatch.setattr(problems_module, "measured", lambda *_: replace(made, outcomes=outcomes))
        return {each.tests: each.parts for each in find_problems(project, suite, usable("bubblewrap"), quiet)}

    # One function of the tests may show two bugs; where the program raises, it is one.
    assert found({9: {b}, 13: {a, c}, 14: {raises, other}}) == {(a, c): (), (b,): (), (other, raises): ()}
    # What runs the same suspicious line is one problem, which can be taken apart.
    assert found({9: {b}, 13: {a, c, raises, other}}) == {(other, raises, a, c): ((other, raises), (a, c)), (b,): ()}
    # A line that passing tests run too is less so.
    lines = {15: {b, c, *good[:9]}, 8: {b}, 3: {a}, 12: {c}, 13: {other, raises}}
    assert found(lines) == {(a,): (), (b,): (), (c,): (), (other, raises): ()}


def test_tests_that_are_together_and_have_two_causes() -> None:
    a, b, c, d = (f"test_x.py::{name}" for name in "abcd")
    suite = Suite(frozenset(), dict.fromkeys((a, b, c, d), "why"), ())
    one = Problem("test_x.a", "", "", (a, b, c), suite, parts=((a,), (b, c)))
    two = Problem("test_x.d", "", "", (d,), suite)
    parts = split_up([one, two], {one.name: [{a}], two.name: [{d}]}, ())
    assert [(each.name, each.tests) for each in parts] == [("test_x.a-2", (a,)), ("test_x.b", (b, c))]
    assert f"- {b}: why\n- {c}: why" in parts[1].statement and parts[1].title == f"{b} fails, and 1 more"
    assert [each.tests for each in split_up([one, two], {one.name: [{a}]}, {a})] == [(b, c)]  # the other is mended
    assert split_up([one, two], {two.name: [{d}]}, ()) == []
    single = replace(one, parts=((a,), (b,), (c,)))
    assert len(split_up([one], {one.name: [{a, b}]}, ())) == 2  # something of each part is left
    for left, groups in (([{a}], ["a", "bc"]), ([{a, b}], ["ab", "c"]), ([{a}, {a, b}], ["a", "b", "c"])):
        found = ["".join(test[-1] for test in each.tests) for each in split_up([single], {one.name: left}, ())]
        assert found == groups  # mended together
    assert hidden(one, "why", {"z"}) == "why" and "; proposals mend 1 of its 3 tests" in hidden(one, "why", {a, "z"})


@pytest.mark.parametrize(
    ("outcomes", "runs", "flaky"),
    [
        ([{"good": "passed", "bad": "passed", "flaky": "failed"}], 1, ("flaky",)),
        ([{"good": "passed", "bad": "failed"}, {"good": "passed", "bad": "passed"}], 2, ("bad", "flaky")),
        ([{"good": "failed", "bad": "passed"}, {"good": "failed", "bad": "passed"}], 2, ("flaky",)),
    ],
)
def test_a_change_is_run_again_only_where_that_may_clear_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcomes: list[Any], runs: int, flaky: tuple[str, ...]
) -> None:
    made = [(TestReport(each, {}, complete=True), set()) for each in outcomes]
    monkeypatch.setattr(suite_module, "_run", lambda *_: made.pop(0))
    before = Suite(frozenset({"good"}), {"bad": "why"}, ("flaky",))
    after = run_again(opened(tmp_path / "p", SHOP), usable("bubblewrap"), {}, before, ["bad"], times=2)
    assert not made and len(outcomes) == runs and after.flaky == flaky
    assert ("good" in after.failing) == (outcomes[0]["good"] == "failed") and "flaky" not in after.failing


def test_a_name_that_begins_as_another_does_is_not_deselected(tmp_path: Path) -> None:
    project = opened(tmp_path / "p", SHOP)
    place = "tests/test_cart.py::test_"
    suite = Suite(frozenset({f"{place}total_of_none"}), dict.fromkeys((f"{place}total", f"{place}names", "x"), ""), ())
    problem = Problem("names", "", "", (f"{place}names",), suite)
    file = write_problems(project, [problem, replace(problem, name="total", tests=(f"{place}total",))], tmp_path)
    names, total = read_tasks(file)[0].tasks
    assert "--deselect" not in names.test and f"--deselect {place}names tests/test_cart.py" in total.test
    assert names.pass_to_pass == [f"{place}total_of_none"]


def test_what_is_no_part_of_a_change(tmp_path: Path) -> None:
    project = opened(tmp_path / "p", {**SHOP, ".gitignore": ".coverage\n"})
    binary = (
        "diff --git a/.coverage b/.coverage\nnew file mode 100644\nBinary files a/.coverage and b/.coverage differ\n"
    )
    left = make_diff({}, {"out.log": b"x\n"})
    fix = make_diff({"shop/cart.py": b"a\n"}, {"shop/cart.py": b"b\n", "shop/new.py": b"c\n"})
    episodes = {
        n: {"id": n, "diff": diff, "tampered": False} for n, diff in enumerate([binary + fix, fix + left, binary])
    }
    found = by_change(episodes, project, {"out.log"})
    assert {diff: [each["id"] for each in same] for diff, same in found.items()} == {fix: [0, 1]}


def test_a_doctest_that_a_change_alters() -> None:
    given = b'def one():\n    """It is one.\n\n    >>> one()\n    1\n    """\n    return 2\n'
    assert altered_doctests({"a.py": given}, {"a.py": given.replace(b"return 2", b"return 1")}) == []
    for work in (given.replace(b"    1\n", b"    2\n"), given.replace(b"    >>> one()\n    1\n", b""), b""):
        (found,) = altered_doctests({"a.py": given}, {"a.py": work})
        assert (found["file"], found["line"]) == ("a.py", 1) and "doctest" in found["what"]


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
    # Pages of a forge, one document after another.
    (tmp_path / "export.json").write_text(json.dumps(rows) + "\n" + json.dumps([{**rows[0], "number": 10}]))
    assert [each.name for each in read_issues(tmp_path)] == ["Late-fee", "issue-7", "issue-10"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.json", "[", "is not JSON"),
        ("a.json", '[{"title": 3}]', "is not a list of issues"),
        ("a.json", '{"message": "API rate limit exceeded"}', "is not a list of issues"),
        ("a.json", '[{"number": 1, "title": "Whole"}]\n[{"number": 2, "ti', "is truncated"),
        ("a.json", "[]", "has no open issue"),
        ("a.md", " \n", "is empty"),
        ("a.pdf", "x", "has no open issue"),
    ],
)
def test_issues_of_no_use(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BenchmarkError, match=words):
        read_issues(tmp_path)


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


# ---- whole


@pytest.fixture
def played(prefect_server: str, stackrank: CommandLine) -> Iterator[CommandLine]:
    yield stackrank


@pytest.mark.slow
def test_from_two_bugs_to_patches(played: CommandLine, tmp_path: Path) -> None:
    shop, out = repository(tmp_path / "shop"), tmp_path / "proposals"
    before = tree(shop)
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
        fixed = run_suite(open_project(clean, Wishes()), usable("bubblewrap"), times=2)
        assert set(row["tests"]) <= fixed.passing and len(fixed.failing) == 3 - len(row["tests"])
    project = open_project(out / "clone", Wishes())  # the branch, with both
    assert run_suite(project, usable("bubblewrap"), times=2).counts == {
        "passed": 5,
        "failed": 0,
        "flaky": 0,
        "unread": 0,
    }
    assert tree(shop) == before and "Proposal 1" in (out / "comment.md").read_text()
    solved = played("validate", "repo", "--path", str(out / "solved"), "--rounds", "1", *BOX, "--json").json()
    assert [task["valid"] for task in solved["tasks"]] == [True] * len(document["problems"])
    late = played("review", "1", "--reject", "--reason", "No.")
    assert late.status == 2 and "has already been decided" in late.sentence()
    whole = repository(tmp_path / "whole", {**SHOP, "shop/cart.py": GIVEN})
    nothing = played("fix", str(whole), "--agent", "repair", "--out", str(tmp_path / "none"), "--repeat", "2", *BOX)
    assert nothing.status == 0 and "There are no problems" in nothing.out


def test_an_interrupted_run_proposes_nothing_until_the_command_is_given_again(
    stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, out = repository(tmp_path / "shop"), tmp_path / "out"
    before = tree(shop)
    suite = Suite(frozenset({"good"}), {"tests/test_cart.py::test_total": "why"}, ())
    problem = Problem("total", "It fails", "", ("tests/test_cart.py::test_total",), suite)
    calls: list[str] = []
    found: list[tuple[Sequence[Problem], int]] = []

    def suites(*_: Any, **__: Any) -> Suite:
        calls.append("suite")
        return suite

    def interrupted(*_: Any) -> bool:
        calls.append("play")
        return len(calls) == 2

    def proposals(_store: Any, _project: Any, _backend: Any, chosen: Any, run: int, *_: Any, **__: Any) -> Any:
        found.append((chosen, run))
        if len(found) == 1:
            raise KeyboardInterrupt
        return [], {"total": "nobody mends it"}

    monkeypatch.setattr(suite_module, "run_suite", suites)
    monkeypatch.setattr(problems_module, "find_problems", lambda *_: [problem])
    monkeypatch.setattr(propose_module, "propose", proposals)
    monkeypatch.setattr(played_module, "begin", lambda *_: (7, "begun"))
    monkeypatch.setattr(played_module, "taken_up", lambda _, run, file: calls.append(f"{run} {file.name}") or "again")
    monkeypatch.setattr(played_module, "played", interrupted)
    monkeypatch.setattr(played_module, "require_over", lambda *_: None)
    flags = ("fix", str(shop), "--agent", "repair", "--out", str(out), *BOX)
    stopped = stackrank(*flags)
    assert stopped.status == 130 and "run 7 was interrupted, and has not led to proposals yet" in stopped.err
    assert tree(shop) == before and not (out / "comment.md").exists()
    stopped = stackrank(*flags)
    assert stopped.status == 130 and "continuing the interrupted command" in stopped.err
    again = stackrank(*flags)
    assert again.status == 0 and "total: nobody mends it" in again.out
    assert calls == ["suite", "play", *["7 tasks.yaml", "play"] * 2] and found == [([problem], 7)] * 2
    assert (out / "comment.md").exists() and not (out / "started.json").exists()
    stackrank(*flags)
    assert calls[6:] == ["suite", "play"]  # it was through, and begins anew


def test_what_is_gone_on_with(tmp_path: Path) -> None:
    project, out = open_project(repository(tmp_path / "shop"), Wishes()), tmp_path / "out"
    suite = Suite(frozenset({"good"}), {"a::b": "why"}, ("flaky",), ("outside",), frozenset({"left"}))
    problem = Problem("a.b", "It fails", "It does", ("a::b",), suite, "+ a test\n", (("a::b",), ("a::c",)))
    asked = started.asked(project, "settings")
    begun = started.Started(asked, suite, [problem], {"fix shop": 3}, {3: ([1, 2], {"a.b": "why"})})
    begun.keep(out)
    assert started.take_up(out, asked) == begun
    assert started.take_up(out, started.asked(project, "other settings")) is None
    (out / "started.json").write_text("{")
    assert started.take_up(out, asked) is None and started.take_up(tmp_path / "none", asked) is None


@pytest.mark.slow
def test_ctrl_c_and_the_same_command_again(
    played: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefect_server: str
) -> None:
    """What is done when a person interrupts it is done once, and the rest when the command is given again."""
    shop, out = repository(tmp_path / "shop"), tmp_path / "out"
    asked: Counter[str] = Counter()
    waits = threading.Event()

    def script(request: dict[str, Any]) -> Any:
        messages = json.dumps(request["messages"])
        name = "largest" if "- tests/test_cart.py::test_largest:" in messages else "total"
        asked[name] += 1
        if len(asked) == 2 and not waits.is_set():
            process.send_signal(signal.SIGINT)
            waits.set()
        said = sum(message["role"] == "assistant" for message in request["messages"])
        mended = {"largest": ("price < best", "price > best"), "total": ("range(1, len", "range(0, len")}[name]
        return call("submit") if said else call("rewrite", path="shop/cart.py", new_code=BROKEN.replace(*mended))

    with OpenAIServer(script, key="sk-test") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        flags = ("fix", str(shop), "--agent", "llm", "--model", "scripted", "--tools", "rewrite", "--repeat", "2", *BOX)
        flags += ("--workers", "1", "--out", str(out), "--json")
        command = [sys.executable, "-m", "stackrank.flows.cli.main", *flags]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible)
        _, err = process.communicate(timeout=600)
        assert (process.returncode, "repeat the command to continue" in err) == (130, True), err
        first = next(iter(asked))
        assert asked[first] == 2
        document = played(*flags).json()
    assert asked[first] == 2 and asked.total() in (4, 5)
    assert len(document["proposals"]) == 2 and not document["without"] and document["runs"] == [1]
    (run,) = played("runs", "--json").json()
    assert run["status"] == "finished" and not (out / "started.json").exists()


def test_a_run_that_was_not_played_is_no_result(
    played: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefect_server: str
) -> None:
    """A Prefect server that is too busy to begin it does not mean that nobody resolved anything."""
    flags = ("fix", str(repository(tmp_path / "shop")), "--agent", "repair", "--repeat", "2", *BOX)
    flags += ("--out", str(tmp_path / "out"), "--json")
    with monkeypatch.context() as patch:
        patch.setattr(played_module, "played", lambda *_: False)
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
        said = sum(message["role"] == "assistant" for message in request["messages"])
        high = "- test_range.py::test_low:" not in messages
        right = WRONG.replace("high = min", "high = max") if high else WRONG.replace("low = max", "low = min")
        steps = [call("pdb", command=each) for each in ("b shop/range.py:4", "c", "p low, high")]
        steps.append(call("rewrite", path="shop/range.py", new_code=right))
        return steps[said] if said < len(steps) else call("submit")

    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    monkeypatch.setenv("STACKRANK_PRICES", str(prices))
    with OpenAIServer(script, key="sk-test") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        flags = ("--agent", "llm", "--model", "scripted", "--tools", "debug", "--repeat", "2", "--budget", "5", *BOX)
        document = played("fix", str(shop), "--changed", "--out", str(out), *flags, "--json").json()
    assert document["suite"]["failed"] == 2 and len(document["runs"]) == 2 and not document["without"]
    assert sorted(each["tests"] for each in document["problems"]) == [
        ["test_range.py::test_high"], ["test_range.py::test_low"]
    ]  # fmt: skip
    first, second = (queries.run(connect(), each)["spec"]["budget_usd"] for each in document["runs"])
    assert first == 5 and 0 < second < 5
    for row in document["proposals"]:
        assert row["evidence"]["mended"] == row["tests"] and row["evidence"]["lines"] == {"changed": 1, "run": 1}
        stop = row["evidence"]["debugger"][-1]
        assert (stop["step"], stop["place"]) == (3, "shop/range.py:4") and "(2, 2)" in stop["shown"]
    comment = (out / "comment.md").read_text()
    assert comment.count("### Proposal") == 2 and "Debugger at shop/range.py:4" in comment and "of these" in comment


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
