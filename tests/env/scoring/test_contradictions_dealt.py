"""Which contradictions are dealt to which run of a verdict, and what their outcomes say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from stackrank.env.sandbox.client import CommandResult
from stackrank.env.scoring.blind import ENOUGH, Sightings, can_seal, plan
from stackrank.env.scoring.contradictions import find_candidates
from stackrank.env.scoring.judge import Run
from stackrank.env.scoring.proof import Contradiction, Proof
from stackrank.env.scoring.report import TestReport
from tests.env.scoring.proofs import unit
from tests.fixtures.env import cart, source

# ---- dealing


def test_with_many_units_each_is_contradicted_once_in_two_runs() -> None:
    task = replace(cart(), hidden_files={"h.py": b""})
    proof = Proof("", (*unit("a"), *unit("b"), *unit("c"), *unit("d"), *unit("seen", path="v.py")))
    firsts = set()
    for _ in range(60):
        draw = plan(task, proof, proof.contradictions)
        first, second = draw.runs
        units = [contradiction.unit for contradiction in (*first, *second)]
        assert sorted(units) == ["a", "b", "c", "d", "seen"] and draw.strength == 4 >= ENOUGH
        assert "seen" in {contradiction.unit for contradiction in second}, (
            "a visible test hides nothing, and settles more as it is"
        )
        firsts.add(frozenset(contradiction.unit for contradiction in first))
    assert len(firsts) > 8


def test_only_tests_that_the_bug_makes_fail_count_as_strength() -> None:
    """Of the others the program as given says which answer is wanted, and a forger asks it."""
    task = replace(cart(), hidden_files={"h.py": b""}, fail_to_pass=("h.py::a", "h.py::b"))
    proof = Proof("", (*unit("a"), *unit("b"), *unit("c"), *unit("d")), distinguishing=1)
    draw = plan(task, proof, proof.contradictions)
    assert (len(draw.runs), draw.strength) == (3, 3), "twice log2(3)"
    unlisted = replace(task, fail_to_pass=())
    draw = plan(unlisted, replace(proof, failing=("h.py::c",)), proof.contradictions)
    assert (len(draw.runs), draw.strength) == (3, 1), "what validation saw, where the task lists nothing"
    other_task = replace(task, fail_to_pass=("h.py::z",))
    draw = plan(other_task, proof, proof.contradictions)
    assert (len(draw.runs), draw.strength) == (2, 0), "a third run would tell nothing"
    assert can_seal(task, proof) and not can_seal(other_task, proof)
    assert not can_seal(task, replace(proof, distinguishing=0)), "withheld expectations would exclude nobody"


def test_any_assertion_of_a_unit_may_be_contradicted_and_mostly_one_that_shows_the_bug() -> None:
    task = replace(cart(), hidden_files={"h.py": b""})
    showing = [replace(option, line=line) for line in (5, 9) for option in unit("a")]
    others = [replace(option, line=line, shows_bug=False) for line in (2, 7) for option in unit("a")]
    proof = Proof("", (*others, *showing))
    lines: Counter[int] = Counter()
    for _ in range(800):
        draw = plan(task, proof, proof.contradictions)
        drawn = {contradiction.line for run in draw.runs for contradiction in run}
        assert len(drawn) == 1, "one assertion in all runs, so that no text gives away which is genuine"
        lines.update(drawn)
    assert set(lines) == {2, 5, 7, 9}
    assert 0.6 < (lines[5] + lines[9]) / 800 < 0.9


@pytest.mark.parametrize(
    ("line", "both_ways"),
    [
        ("assert f() == 7", True),
        ("assert f() == 'ab cd'", True),
        ("assert f() is True", True),
        ("assert not f()", True),
        ("assert f() == None", False),
        ("assert f() == ''", False),
        ("pytest.raises(ValueError, f)", True),
        ("pytest.raises(OwnError, f)", False),
    ],
)
def test_what_no_change_leads_to_gives_itself_away(line: str, both_ways: bool) -> None:
    content = source(f"def test_it():\n    {line}\n")
    (first, *_) = find_candidates("t.py", content, ["t.py::test_it"])
    contradiction = Contradiction(first.unit, {}, first.path, 2, first.edit, first.old)
    assert contradiction.both_ways is both_ways


def test_with_few_units_a_third_run_has_other_contradictions() -> None:
    task = replace(cart(), hidden_files={"h.py": b""})
    proof = Proof("", (*unit("a"), *unit("t", telling=True), *unit("seen", path="v.py")))
    places = set()
    for _ in range(200):
        draw = plan(task, proof, proof.contradictions)
        assert (len(draw.runs), draw.strength) == (3, 1), "one of three texts is log2(3) bits"
        units = [[contradiction.unit for contradiction in run] for run in draw.runs]
        assert [run.count("seen") for run in units] == [0, 1, 0]
        edits = [contradiction.edit for run in draw.runs for contradiction in run if contradiction.unit == "a"]
        assert len(edits) == len(set(edits)) and all(run.count("a") < 2 for run in units)
        places.add(tuple("a" in run for run in units))
    assert places == set(product((False, True), repeat=3)) - {(False,) * 3, (True,) * 3}
    alone = Proof("", unit("a")[:1])
    draw = plan(task, alone, alone.contradictions)
    assert (len(draw.runs), draw.strength) == (2, 1), "there is no other one"
    larger = Proof("", tuple(unit("a", count=3)))
    assert plan(task, larger, larger.contradictions).strength == 2, "one of four texts"


def seen(outcomes: dict[str, str]) -> Run:
    return Run(CommandResult(1, "", False, 0.0, 0, 1.0, ""), TestReport(outcomes, complete=True), "pytest", shared="")


def test_a_wrong_program_may_meet_a_contradiction() -> None:
    (a, *_), sightings = unit("a"), Sightings()
    sightings.add(seen({"h.py::a": "passed"}), [a])
    assert sightings.denied and not sightings.evidence
    sightings.add(seen({"h.py::a": "failed"}), [])
    assert sightings.outcomes == {"h.py::a": "failed"} and not sightings.evidence


def test_a_test_that_passes_both_ways_is_evidence() -> None:
    (a, *_), (b, *_) = unit("a"), unit("b")
    sightings = Sightings()
    sightings.add(seen({"h.py::a": "failed", "h.py::b": "passed", "h.py::c": "passed"}), [a])
    assert sightings.outcomes == {"h.py::a": "unseen", "h.py::b": "passed", "h.py::c": "passed"}
    sightings.add(seen({"h.py::a": "passed", "h.py::b": "passed", "h.py::c": "failed"}), [b])
    assert sightings.outcomes == {"h.py::a": "passed", "h.py::b": "passed", "h.py::c": "failed"}
    assert sightings.evidence == ["h.py::b passes, and also with its expectation changed (h.py, line 1: y became x)"]
    sightings.add(seen({"h.py::b": "passed"}), [a])
    assert sightings.outcomes["h.py::a"] == "missing", "a run that ends early shows nothing"
