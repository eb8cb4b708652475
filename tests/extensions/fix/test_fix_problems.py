"""`stackrank fix`: failing tests and issues become problems, and changes are judged by what shows for them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.repo_schema import read_tasks
from stackrank.env.localisation.spectrum import Spectrum
from stackrank.env.patches import make_diff
from stackrank.env.scoring.report import TestReport
from stackrank.extensions.fix.evidence import find_altered_doctests, find_doubts, try_variants
from stackrank.extensions.fix.finding import problems as problems_module
from stackrank.extensions.fix.finding import suite as suite_module
from stackrank.extensions.fix.finding.issues import read_issues
from stackrank.extensions.fix.finding.problems import Problem, explain_missing, find_problems, split_up, write_problems
from stackrank.extensions.fix.finding.suite import Suite, run_again
from stackrank.extensions.fix.propose import group_by_change
from stackrank.extensions.fix.wording import evidence_lines, plain_verdict
from tests.extensions.fix.opening import opened, quiet
from tests.fixtures.env import usable
from tests.support.shop import SHOP, evidence

# ---- problems


def spectrum(
    tests: Sequence[str], failures: Mapping[str, Any], lines: Mapping[str, Mapping[int, set[str]]]
) -> Spectrum:
    """What tests run, by name; all tests fail."""
    groups = list(dict.fromkeys(frozenset(map(tests.index, run)) for runs in lines.values() for run in runs.values()))
    numbered = {
        file: {line: groups.index(frozenset(map(tests.index, run))) for line, run in runs.items()}
        for file, runs in lines.items()
    }
    return Spectrum(tuple(tests), (0.0,) * len(tests), ("failed",) * len(tests), failures, tuple(groups), numbered)


def test_tests_that_fail_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c, raises, unrelated = (f"tests/test_cart.py::{name}" for name in ("t[a]", "t[b]", "t[c]", "raises", "other"))
    bad, good = [a, b, c, raises, unrelated], [f"tests/test_cart.py::good{n}" for n in range(30)]
    frames = {raises: (("tests/test_cart.py", 5), ("shop/cart.py", 13)), unrelated: (("shop/cart.py", 14),)}
    project, suite = opened(tmp_path / "p", SHOP), Suite(frozenset(good), dict.fromkeys(bad, ""), ())

    def found(lines: Mapping[int, set[str]]) -> dict[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        measured = spectrum([*bad, *good], frames, {"shop/cart.py": {2: {*bad, *good}, **lines}})
        outcomes = ("failed",) * len(bad) + ("passed",) * len(good)
        monkeypatch.setattr(problems_module, "measured", lambda *_: replace(measured, outcomes=outcomes))
        return {problem.tests: problem.parts for problem in find_problems(project, suite, usable("bubblewrap"), quiet)}

    # Tests whose most suspicious lines are in one function are one problem, which can be taken apart.
    together = {(unrelated, raises, a, c): ((unrelated, raises), (a, c)), (b,): ()}
    assert found({9: {b}, 13: {a, c}, 14: {raises, unrelated}}) == together
    assert found({9: {b}, 13: {a, c, raises, unrelated}}) == together
    # One function of the tests may show two bugs.
    assert found({9: {b}, 3: {a, c}, 14: {raises, unrelated}}) == {(a, c): (), (b,): (), (unrelated, raises): ()}
    # A line that passing tests run too is less suspicious.
    lines = {15: {b, c, *good[:9]}, 8: {b}, 3: {a}, 12: {c}, 13: {unrelated, raises}}
    assert found(lines) == {(a,): (), (b,): (), (unrelated, raises, c): ((unrelated, raises), (c,))}


def test_tests_that_are_together_and_have_two_causes() -> None:
    a, b, c, d = (f"test_x.py::{name}" for name in "abcd")
    suite = Suite(frozenset(), dict.fromkeys((a, b, c, d), "why"), ())
    first = Problem("test_x.a", "", "", (a, b, c), suite, parts=((a,), (b, c)))
    two = Problem("test_x.d", "", "", (d,), suite)
    parts = split_up([first, two], {first.name: [{a}], two.name: [{d}]}, ())
    assert [(problem.name, problem.tests) for problem in parts] == [("test_x.a-2", (a,)), ("test_x.b", (b, c))]
    assert f"- {b}: why\n- {c}: why" in parts[1].statement and parts[1].title == f"{b} fails, and 1 more"
    assert [problem.tests for problem in split_up([first, two], {first.name: [{a}]}, {a})] == [
        (b, c)
    ]  # the other is fixed
    assert split_up([first, two], {two.name: [{d}]}, ()) == []
    single = replace(first, parts=((a,), (b,), (c,)))
    assert len(split_up([first], {first.name: [{a, b}]}, ())) == 2  # something of each part is left
    for unfixed, groups in (([{a}], ["a", "bc"]), ([{a, b}], ["ab", "c"]), ([{a}, {a, b}], ["a", "b", "c"])):
        tests = [
            "".join(test[-1] for test in problem.tests) for problem in split_up([single], {first.name: unfixed}, ())
        ]
        assert tests == groups  # fixed together
    assert explain_missing(first, "why", {"z"}) == "why"
    assert "; proposals fix 1 of its 3 tests" in explain_missing(first, "why", {a, "z"})


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
    suite_runs = [suite_module.Run(TestReport(report, {}, complete=True), set(), {}) for report in outcomes]
    monkeypatch.setattr(suite_module, "_run", lambda *_: suite_runs.pop(0))
    suite = Suite(frozenset({"good"}), {"bad": "why"}, ("flaky",))
    rerun = run_again(opened(tmp_path / "p", SHOP), usable("bubblewrap"), {}, suite, ["bad"], times=2)
    assert not suite_runs and len(outcomes) == runs and rerun.flaky == flaky
    assert ("good" in rerun.failing) == (outcomes[0]["good"] == "failed") and "flaky" not in rerun.failing


def test_a_name_that_begins_as_another_does_is_not_deselected(tmp_path: Path) -> None:
    project = opened(tmp_path / "p", SHOP)
    place = "tests/test_cart.py::test_"
    suite = Suite(frozenset({f"{place}total_of_none"}), dict.fromkeys((f"{place}total", f"{place}names", "x"), ""), ())
    problem = Problem("names", "", "", (f"{place}names",), suite)
    file = write_problems(project, [problem, replace(problem, name="total", tests=(f"{place}total",))], tmp_path)
    names, total = read_tasks(file)[0].tasks
    assert "--deselect" not in names.test and f"--deselect={place}names tests/test_cart.py" in total.test
    assert names.pass_to_pass == [f"{place}total_of_none"]


_INNER = "def inner(layers):\n    return layers[{}]\n"
_FEE = "def fee(price):\n    return {}\n"


@pytest.mark.parametrize(
    ("program", "broken", "fixed", "tests", "accepted"),
    [
        (
            _INNER,
            "-2",
            "0",
            ("inner([4]) == 4",),
            ["shop/pay.py:2: return layers[(-1)]", "shop/pay.py:2: return layers[-1]"],
        ),
        (_INNER, "-2", "0", ("inner([4, 5]) == 4", "inner([4]) == 4"), []),
        (
            _FEE,
            "price",
            "price * 2 if price > 9 else 3",
            ("fee(20) == 40", "fee(0) == 3"),
            ["shop/pay.py:2: return price * 2 if price >= 9 else 3"],
        ),
        # `!=` in place of `is not` is no other behaviour.
        (_FEE, "price", "price if price is not None else 0", ("fee(None) == 0", "fee(3) == 3"), []),
    ],
)
def test_other_changes_that_the_tests_accept_as_well(
    tmp_path: Path, program: str, broken: str, fixed: str, tests: Sequence[str], accepted: list[str]
) -> None:
    bodies = "".join(f"def test_{n}():\n    assert {test}\n\n\n" for n, test in enumerate(tests))
    files = {"shop/__init__.py": "", "shop/pay.py": program.format(broken)}
    project = opened(tmp_path / "p", {**files, "tests/test_pay.py": f"from shop.pay import *\n\n\n{bodies}"})
    ids = [f"tests/test_pay.py::test_{n}" for n in range(len(tests))]
    problem = Problem("p", "", "", (ids[0],), Suite(frozenset(), {ids[0]: ""}, ()))
    work = {**project.files, "shop/pay.py": program.format(fixed).encode()}
    diff = make_diff(project.files, work)
    variants = try_variants(project, usable("bubblewrap"), work, diff, problem, Suite(frozenset(ids), {}, ()))
    assert variants is not None and variants["tried"] >= 3
    assert {*accepted} <= {*variants["accepted"]} and bool(variants["accepted"]) == bool(accepted)


def test_what_is_no_part_of_a_change(tmp_path: Path) -> None:
    project = opened(tmp_path / "p", {**SHOP, ".gitignore": ".coverage\n"})
    binary = (
        "diff --git a/.coverage b/.coverage\nnew file mode 100644\nBinary files a/.coverage and b/.coverage differ\n"
    )
    leftover_diff = make_diff({}, {"out.log": b"x\n"})
    fix = make_diff({"shop/cart.py": b"a\n"}, {"shop/cart.py": b"b\n", "shop/new.py": b"c\n"})
    episodes = {
        n: {"id": n, "diff": diff, "tampered": False}
        for n, diff in enumerate([binary + fix, fix + leftover_diff, binary])
    }
    changes = group_by_change(episodes, project, {"out.log"})
    assert {diff: [episode["id"] for episode in group] for diff, group in changes.items()} == {fix: [0, 1]}


def test_a_doctest_that_a_change_alters() -> None:
    source = b'def one():\n    """It is one.\n\n    >>> one()\n    1\n    """\n    return 2\n'
    assert find_altered_doctests({"a.py": source}, {"a.py": source.replace(b"return 2", b"return 1")}) == []
    for work in (source.replace(b"    1\n", b"    2\n"), source.replace(b"    >>> one()\n    1\n", b""), b""):
        (alteration,) = find_altered_doctests({"a.py": source}, {"a.py": work})
        assert (alteration["file"], alteration["line"]) == ("a.py", 1) and "doctest" in alteration["what"]


# ---- issues


def test_issues_of_texts_and_of_an_export(tmp_path: Path) -> None:
    rows = [
        {"number": 7, "title": "Largest", "body": "It gives the least.", "state": "open"},
        {"number": 8, "title": "Done", "body": None, "state": "closed"},
        {"number": 9, "title": "A change", "state": "open", "pull_request": {"url": "x"}},
    ]
    (tmp_path / "export.json").write_text(json.dumps(rows))
    (tmp_path / "Late fee.md").write_text("# Late fees\n\nThey are early.\n")
    issues = read_issues(tmp_path)
    assert [(issue.name, issue.title) for issue in issues] == [("Late-fee", "Late fees"), ("issue-7", "Largest")]
    assert issues[1].text == "Largest\n\nIt gives the least."
    # Pages of a forge, one document after another.
    (tmp_path / "export.json").write_text(json.dumps(rows) + "\n" + json.dumps([{**rows[0], "number": 10}]))
    assert [issue.name for issue in read_issues(tmp_path)] == ["Late-fee", "issue-7", "issue-10"]


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


def test_what_speaks_against_a_change() -> None:
    assert find_doubts(evidence()) == [] and find_doubts(evidence(lines=None, record=None)) == []
    doubts = {
        "t no longer passes": {"regressions": ["t"]},
        "t does not pass": {"target": {"t": ["failed", "failed"]}},
        "a:1: x": {"suspicious": [{"file": "a", "line": 1, "what": "x"}]},
        "no test runs 1 of 2 changed statements": {"lines": {"changed": 2, "run": 1}},
        "t runs what was changed, and still fails": {"still_failing": ["t"]},
        "the tests accept 1 of 6 variants of the change as well, such as `a.py:3: x`": {
            "variants": {"tried": 6, "accepted": ["a.py:3: x"]}
        },
    }
    slow = evidence(unnamed=["c.py", "d.py"], unchecked="too slow")
    assert find_doubts(slow) == ["whether it breaks c.py, d.py is not known (too slow)"]
    assert find_doubts(evidence(variants={"tried": 6, "accepted": []})) == []
    for doubt, fields in doubts.items():
        assert find_doubts(evidence(**fields)) == [doubt]
    verdict = plain_verdict(evidence(still_failing=["t"], regressions=["r", "s"]))
    assert verdict == "fixes 1 target; 1 other test of what it changes still failing; 2 regressions; " + (
        "touches shop/cart.py: total"
    )


@pytest.mark.parametrize(
    ("fields", "start"),
    [
        ({}, "Suite: 2 passed"),
        ({"targets": ["tests/a.py", "b"]}, "Tests in tests/a.py, b, and no others: 2 passed"),
        ({"targets": ["tests/a.py"], "unnamed": ["tests/c.py"]}, "Tests in tests/a.py: 2 passed"),
        ({"targets": ["b"], "unnamed": ["c.py", "d.py"]}, "Also run, because they import what it touches: c.py, d.py"),
        (
            {"targets": ["b"], "unnamed": ["c.py"], "unchecked": "too slow"},
            "Also run, because they import what it touches: c.py (no result: too slow)",
        ),
    ],
)
def test_evidence_names_the_tests_that_it_rests_on(fields: dict[str, Any], start: str) -> None:
    row = {"entrant": "one", "evidence": evidence(**fields)}
    assert any(line.startswith(start) for line in evidence_lines(row))
