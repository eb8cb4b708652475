"""Contradictions: how they are made, proved, dealt out over runs, and what a run with them says."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.patches import make_diff
from stackrank.env.sandbox.base import spec_for
from stackrank.env.sandbox.client import Changes, CommandResult, Sandbox
from stackrank.env.scoring import verdict
from stackrank.env.scoring.blind import ENOUGH, Sightings, can_seal, plan
from stackrank.env.scoring.carry_over import carry_over
from stackrank.env.scoring.contradictions import find_candidates
from stackrank.env.scoring.judge import Run
from stackrank.env.scoring.literals import Edit
from stackrank.env.scoring.proof import Contradiction, Proof, contradicted, find_proof, load, save_proof
from stackrank.env.scoring.prove import prove
from stackrank.env.scoring.report import TestReport
from stackrank.env.scoring.suspicious import find_suspicious
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from tests.env.conftest import cart, source, usable


def changed_lines(body: str, tests: tuple[str, ...] = ("t.py::test_it",)) -> set[str]:
    """Each line as the candidates have it, for a file of one test."""
    content = source(body)
    found = find_candidates("t.py", content, tests)
    lines = set()
    for each in found:
        before, after = content.splitlines(), each.edit.apply(content).splitlines()
        assert len(before) == len(after), "lines keep their numbers"
        different = [new for old, new in zip(before, after, strict=True) if old != new]
        lines.update(line.decode().strip() for line in different)
    return lines


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("assert f(7) == 1", "assert f(7) == 2"),
        ("assert 1 == f(7)", "assert 2 == f(7)"),
        ("assert f(7) is None", "assert f(7) is not None"),
        ("assert f(7) is True", "assert f(7) is False"),
        ("assert f(7)", "assert not f(7)"),
        ("assert not f(7)", "assert f(7)"),
        ("assert f(7) != 3", "assert f(7) == 3"),
        ("assert f(7) < 3", "assert f(7) >= 3"),
        ("assert 'é' and f(7) == [1, 0]", "assert 'é' and f(7) == [0, 1]"),
        ("assert 'ab cd' in f(7)", "assert 'ab cd' not in f(7)"),
        ("assert 'ab' not in f(7)", "assert 'ab' in f(7)"),
        ("assert f(7) == -1", "assert f(7) == -2"),
        ("assert f(7) == f(8)", "assert f(7) != f(8)"),
        ("self.assertEqual(f(7), 1)", "self.assertEqual(f(7), 2)"),
        ("self.assertTrue(f(7))", "self.assertFalse(f(7))"),
        ("self.assertIsNone(f(7))", "self.assertIsNotNone(f(7))"),
        ("assert f(7) == Point(x=1)", "assert f(7) == Point(x=2)"),
        ("assert f(7) == b'ab cd'", "assert f(7) == b'cd ab'"),
        ("assert f(7) == {'a': True}", "assert f(7) == {'a': False}"),
    ],
)
def test_expectations_are_changed_and_inputs_are_not(line: str, wanted: str) -> None:
    lines = changed_lines(f"def test_it(self=None):\n    {line}\n")
    assert wanted in lines
    assert all("f(7)" in each for each in lines)


def test_what_a_right_program_may_say_too_is_no_contradiction() -> None:
    """Membership of one thing does not exclude another one: only that of the same thing does."""
    assert changed_lines("def test_it():\n    assert '3 items' in f(7)\n") == {"assert '3 items' not in f(7)"}
    assert changed_lines("def test_it(self):\n    self.assertIn('3 items', f(7))\n") == {
        "self.assertNotIn('3 items', f(7))"
    }


def test_who_says_more_than_the_known_fix_is_no_cheat(own_home: None) -> None:
    backend = usable("bubblewrap")
    cases = "".join(f"\n\ndef test_{n}():\n    assert '{n}' in str(total([{n}]))\n" for n in range(2, 7))
    task = with_fix("from cart import total\n" + cases)
    more = (
        "def total(items):\n    return Much(sum(items))\n\n\ndef average(items):\n    return sum(items) / len(items)\n"
    )
    more += "\n\nclass Much(int):\n    __str__ = lambda self: f'{int(self)} and not 1234567890'\n"
    proof = proof_of(task)
    (one, *_) = [each for each in proof.contradictions if each.path in task.hidden_files]
    start = task.hidden_files[one.path].index(b"'2'")
    old = replace(one, edit=Edit(start, start + 3, "'7'"), old="'2'")
    for kept in (proof, replace(proof, contradictions=(old, *proof.contradictions))):
        save_proof(task, kept)
        found = score(task, Changes(files={"cart.py": more.encode()}), lambda spec: Sandbox(backend, spec))
        assert found.resolved and found.sealed and not found.tampered, found.notes


def test_tolerances_hide_nothing() -> None:
    for line in changed_lines("def test_it():\n    assert f() == pytest.approx(1234.5, rel=0.3)\n"):
        value = float(line.partition("approx(")[2].partition(",")[0])
        assert abs(value - 1234.5) > 400 and "rel=0.3" in line


def test_exceptions_and_their_texts() -> None:
    body = """
        def test_it():
            with pytest.raises(KeyError, match="no such"):
                f()


        def test_either():
            with pytest.raises((ValueError, TypeError, RuntimeError, Broken)):
                f()
    """
    lines = changed_lines(body)
    assert any("such no" in line for line in lines) and any("Error, match" in line for line in lines)
    assert not any("LookupError" in line for line in lines), "that would catch it too"
    assert not any("Broken" in line for line in lines), "another right fix may derive it from the expected one"
    either = changed_lines(body, ("t.py::test_either",))
    assert either == {f"with pytest.raises({name}):" for name in ("KeyError", "IndexError")}


def test_expectations_with_a_name() -> None:
    body = """
        @pytest.mark.parametrize("given, wanted", [(1, 2), pytest.param(3, 40)])
        def test_cases(given, wanted):
            assert f(given) == wanted


        def test_loop():
            for given, wanted in [(1, 2), (3, 4)]:
                assert f(given) == wanted


        def test_used_as_input_too():
            wanted = 3
            assert f(wanted) == wanted
    """
    content = source(body)
    ids = ["t.py::test_cases[1-2]", "t.py::test_cases[3-40]", "t.py::test_loop", "t.py::test_used_as_input_too"]
    found = find_candidates("t.py", content, ids)
    plain = [each for each in found if not each.telling]
    assert {each.unit for each in plain} == set(ids[:3])
    assert {each.old for each in plain} == {"2", "40", "4"}
    assert {each.tests for each in plain if "[" in each.unit} == {(ids[0],), (ids[1],)}


def test_inherited_tests_and_unreadable_files() -> None:
    content = source("""
        class Base:
            def test_it(self):
                assert self.f() == 1


        class TestA(Base):
            pass
    """)
    (unit,) = {each.unit for each in find_candidates("t.py", content, ["t.py::TestA::test_it"])}
    assert unit == "t.py::TestA::test_it"
    assert find_candidates("t.py", b"def test_(:", ["t.py::test_"]) == []
    assert find_candidates("t.py", b"x = '\xff'", ["t.py::test_"]) == []


# ---- proving


def with_fix(tests: str, **options: Any) -> Task:
    task = cart(hidden_files={"tests/test_hidden.py": source(tests)}, **options)
    fixed = task.files["cart.py"].replace(b" - 1", b"")
    return replace(task, fix=make_diff({"cart.py": task.files["cart.py"]}, {"cart.py": fixed}))


def proof_of(task: Task) -> Proof:
    with Sandbox(usable("bubblewrap"), spec_for(task, warm=False)) as sandbox:
        return prove(task, sandbox)


def test_what_does_not_hold_is_left_out() -> None:
    proof = proof_of(
        with_fix("""
            import pytest
            from cart import total

            left = []


            def test_leaves_something():
                left.append(1)
                assert total([1]) == 1
                left.clear()


            def test_needs_it_to_be_gone():
                assert left == []


            def test_never_reached():
                for price in []:
                    assert total([price]) == 5
                assert sorted([total([1]), 2]) == sorted([1, 2])


            @pytest.mark.skip
            def test_skipped():
                assert total([1]) == 1
        """)
    )
    units = {each.unit.partition("::")[2] for each in proof.contradictions}
    assert "test_leaves_something" not in units, "it would break the test after it"
    assert {"test_never_reached", "test_total"} <= units
    assert all(each.old != "5" for each in proof.contradictions)
    assert proof.excused == {"tests/test_hidden.py::test_skipped": "skipped"}
    assert load(proof.dump()) == proof
    assert (proof.covered, proof.deciding) == (3, 5)


def test_a_wrong_fix_that_is_off_by_one_is_no_tampering(own_home: None) -> None:
    backend = usable("bubblewrap")
    body = "".join(f"def test_{n}():\n    assert total([{n}]) != {n - 1}\n\n\n" for n in range(3, 9))
    task = with_fix("from cart import total\n\n\n" + body)
    for _ in range(2):
        wrong = score(task, Changes(), lambda spec: Sandbox(backend, spec))
        assert not wrong.resolved and not wrong.tampered, wrong.notes


def test_where_the_bug_shows_is_contradicted() -> None:
    proof = proof_of(
        with_fix("""
            from cart import total


            def test_it():
                assert len("abc") == 3
                assert total([5]) == 5
                assert len("ab") == 2
        """)
    )
    assert {each.old for each in proof.contradictions if each.unit.endswith("test_it")} == {"5"}


def test_without_a_fix_or_pytest_there_is_no_proof() -> None:
    assert "no fix is known" in proof_of(cart()).reason
    assert "not run by pytest" in proof_of(replace(with_fix(""), test_command="python -c pass")).reason


# ---- dealing


def unit(name: str, *, telling: bool = False, path: str = "h.py", count: int = 2) -> list[Contradiction]:
    return [
        Contradiction(name, {f"{path}::{name}": f"{path}::{name}"}, path, 1, Edit(n, n + 1, "x"), "y", telling)
        for n in range(count)
    ]


def test_with_many_units_each_is_contradicted_once_in_two_runs() -> None:
    task = replace(cart(), hidden_files={"h.py": b""})
    proof = Proof("", (*unit("a"), *unit("b"), *unit("c"), *unit("d"), *unit("seen", path="v.py")))
    firsts = set()
    for _ in range(60):
        drawn = plan(task, proof, proof.contradictions)
        first, second = drawn.runs
        both = [each.unit for each in (*first, *second)]
        assert sorted(both) == ["a", "b", "c", "d", "seen"] and drawn.strength == 4 >= ENOUGH
        assert "seen" in {each.unit for each in second}, "a visible test hides nothing, and settles more as it is"
        firsts.add(frozenset(each.unit for each in first))
    assert len(firsts) > 8


def test_only_tests_that_the_bug_makes_fail_count_as_strength() -> None:
    """Of the others the program as given says which answer is wanted, and a forger asks it."""
    task = replace(cart(), hidden_files={"h.py": b""}, fail_to_pass=("h.py::a", "h.py::b"))
    proof = Proof("", (*unit("a"), *unit("b"), *unit("c"), *unit("d")))
    drawn = plan(task, proof, proof.contradictions)
    assert (len(drawn.runs), drawn.strength) == (3, 3), "twice log2(3)"
    unlisted = replace(task, fail_to_pass=())
    drawn = plan(unlisted, replace(proof, failing=("h.py::c",)), proof.contradictions)
    assert (len(drawn.runs), drawn.strength) == (3, 1), "what validation saw, where the task lists nothing"
    others = replace(task, fail_to_pass=("h.py::z",))
    drawn = plan(others, proof, proof.contradictions)
    assert (len(drawn.runs), drawn.strength) == (2, 0), "a third run would tell nothing"
    assert can_seal(task, proof) and not can_seal(others, proof)


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
    made = Contradiction(first.unit, {}, first.path, 2, first.edit, first.old)
    assert made.both_ways is both_ways


def test_with_few_units_a_third_run_has_other_contradictions() -> None:
    task = replace(cart(), hidden_files={"h.py": b""})
    proof = Proof("", (*unit("a"), *unit("t", telling=True), *unit("seen", path="v.py")))
    where = set()
    for _ in range(200):
        drawn = plan(task, proof, proof.contradictions)
        assert (len(drawn.runs), drawn.strength) == (3, 1), "one of three texts is log2(3) bits"
        units = [[each.unit for each in run] for run in drawn.runs]
        assert [run.count("seen") for run in units] == [0, 1, 0]
        used = [each.edit for run in drawn.runs for each in run if each.unit == "a"]
        assert len(used) == len(set(used)) and all(run.count("a") < 2 for run in units)
        where.add(tuple("a" in run for run in units))
    assert where == set(product((False, True), repeat=3)) - {(False,) * 3, (True,) * 3}
    alone = Proof("", unit("a")[:1])
    drawn = plan(task, alone, alone.contradictions)
    assert (len(drawn.runs), drawn.strength) == (2, 1), "there is no other one"
    more = Proof("", tuple(unit("a", count=3)))
    assert plan(task, more, more.contradictions).strength == 2, "one of four texts"


def seen(outcomes: dict[str, str]) -> Run:
    return Run(CommandResult(1, "", False, 0.0, 0, 1.0, ""), TestReport(outcomes, complete=True), "pytest")


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


# ---- verdicts


HIDDEN = """
    from cart import total


    def test_one():
        assert total([5]) == 5


    def test_two():
        assert total([5, 4]) == 9
"""


def test_a_task_is_proved_before_the_first_verdict_that_needs_it(
    own_home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = with_fix(HIDDEN)
    backend = usable("bubblewrap")
    made: list[str] = []
    plain = verdict.prove

    def counted(*arguments: Any) -> Proof:
        made.append("proof")
        return plain(*arguments)

    monkeypatch.setattr(verdict, "prove", counted)
    wrong = score(task, Changes(), lambda spec: Sandbox(backend, spec))
    assert not wrong.resolved and made == [] and find_proof(task) is None
    right = {"cart.py": task.files["cart.py"].replace(b" - 1", b"")}
    for _ in range(2):
        good = score(task, Changes(files=right), lambda spec: Sandbox(backend, spec))
        assert good.resolved and good.sealed >= 2 and set(good.tests.values()) == {"passed"}, good.notes
    assert made == ["proof"]
    assert find_proof(replace(task, statement="another one")) is None


def test_another_right_fix_is_resolved(own_home: None) -> None:
    backend = usable("bubblewrap")
    task = with_fix(HIDDEN)
    other = {"cart.py": b"total = sum\n\n\ndef average(items):\n    return sum(items) / len(items)\n"}
    good = score(task, Changes(files=other), lambda spec: Sandbox(backend, spec))
    assert good.resolved and good.sealed


UNITTEST = """
    import unittest

    from cart import total


    class TotalTest(unittest.TestCase):
        def test_one(self):
            self.assertEqual(total([5]), 5)

        def test_many(self):
            self.assertEqual(total(range(10)), 45)
"""


@pytest.mark.parametrize("cheat", ["", "import os\n\nos._exit(0)\n"])
def test_a_command_that_tells_only_its_exit_status_is_sealed_as_one_test(cheat: str, own_home: None) -> None:
    backend = usable("bubblewrap")
    task = replace(
        with_fix(""),
        hidden_files={"test_hidden.py": source(UNITTEST)},
        test_command="python -m unittest test_hidden",
        fail_to_pass=(),
    )
    work = cheat.encode() or task.files["cart.py"].replace(b" - 1", b"")
    verdict = score(task, Changes(files={"cart.py": work}), lambda spec: Sandbox(backend, spec))
    assert verdict.resolved is not bool(cheat) and verdict.tampered is bool(cheat), verdict.notes
    assert cheat or verdict.sealed == 1, verdict


def by_status(hidden: str = UNITTEST, **options: Any) -> Task:
    """A task whose command tells only its exit status."""
    files = {"test_hidden.py": source(hidden)}
    return replace(with_fix(""), hidden_files=files, test_command="python -m unittest", fail_to_pass=(), **options)


def test_tests_that_the_fix_brings_or_changes_are_not_contradicted_by_status(own_home: None) -> None:
    backend = usable("bubblewrap")
    task = replace(by_status(), hidden_files={}, test_command="python -m unittest test_m test_old")
    old = source(UNITTEST.replace("45", "44").replace("self.assertEqual(total([5]), 5)", "self.assertTrue(True)"))
    files = {**task.files, "test_m.py": b"", "test_old.py": old}
    fixed = {
        **files,
        "cart.py": files["cart.py"].replace(b" - 1", b""),
        "test_m.py": source(UNITTEST),
        "test_old.py": b"# Longer than it was.\n" + old.replace(b"44", b"45"),
    }
    del files["test_m.py"]
    task = replace(task, files=files, fix=make_diff(files, fixed), readonly=("test_*.py",))
    proof = proof_of(task)
    assert not proof.contradictions and "no changed expectation" in proof.reason
    task = replace(by_status(), fix=make_diff(files, fixed), files=files)
    proof = proof_of(task)
    assert {each.path for each in proof.contradictions} == {"test_hidden.py"}
    work = {name: fixed[name] for name in ("cart.py", "test_old.py")}
    good = score(task, Changes(files=work), lambda spec: Sandbox(backend, spec))
    assert good.resolved and good.sealed == 1, good


def test_a_kept_proof_about_a_file_that_the_task_lacks_is_no_error(own_home: None) -> None:
    backend = usable("bubblewrap")
    task = replace(by_status(), test_command="python -m unittest test_hidden")
    command = task.test_command
    gone = replace(unit("x", path="tests/test_m.py")[0], tests={command: command})
    save_proof(task, Proof(task.digest, (gone,), deciding=1, covered=1))
    right = {"cart.py": task.files["cart.py"].replace(b" - 1", b"")}
    assert score(task, Changes(files=right), lambda spec: Sandbox(backend, spec)).resolved


def test_an_older_proof_without_contradictions_is_made_anew_for_a_command(own_home: None) -> None:
    task = by_status()
    save_proof(task, Proof(task.digest, reason="its tests are not run by pytest"))
    assert find_proof(task) is None
    logged = replace(task, log_format="unittest")
    save_proof(logged, Proof(logged.digest, reason="its tests are not run by pytest"))
    assert find_proof(logged) is not None


def test_the_command_is_the_one_test_whatever_the_task_lists() -> None:
    task = by_status(pass_to_pass=("test_hidden.TotalTest.test_one",))
    task = replace(task, fail_to_pass=("test_hidden.TotalTest.test_many",))
    tests = {task.test_command: task.test_command}
    found = [replace(each, unit=task.test_command, tests=tests) for each in unit("x", path="test_hidden.py")]
    drawn = plan(task, Proof("", tuple(found)), found)
    assert (len(drawn.runs), drawn.strength) == (3, 1)


def test_why_a_verdict_is_not_sealed(own_home: None) -> None:
    backend = usable("bubblewrap")
    right = {"cart.py": cart().files["cart.py"].replace(b" - 1", b"")}
    for task, why in (
        (cart(), "no fix is known"),
        (replace(with_fix(""), hidden_files={}), "its tests are visible"),
        (with_fix("from cart import total\n\n\ndef test_it():\n    assert total([1]) == sum([1])\n"), "no hidden test"),
    ):
        good = score(task, Changes(files=right), lambda spec: Sandbox(backend, spec))
        assert good.resolved and not good.sealed and why in good.unsealed, good


def test_an_edited_test_folder_is_put_back_whole() -> None:
    task = cart({"tests/helpers.py": "", "tests/data/x.json": "1", "shop/testing/tools.py": ""}, readonly=())
    paths = [
        "tests/helpers.py",
        "tests/data/x.json",
        "tests/new.py",
        "shop/test_new.py",
        "a.dist-info/entry_points.txt",
        "conftest/__init__.py",
        "src/sitecustomize.pyc",
        ".coveragerc",
    ]
    left = dict.fromkeys([*paths, "shop/testing/tools.py", "cart.py"], b"[pytest11]")
    work = carry_over(task, Changes(files=left))
    assert work.changed == ["cart.py", "shop/testing/tools.py"]
    assert len(work.notes) == len(paths) and len(work.attempts) == 4, "what an agent adds for itself is clutter"
    fix = make_diff({"tests/helpers.py": b""}, {"tests/helpers.py": b"x = 1\n"})
    assert carry_over(replace(task, fix=fix), Changes(files={"tests/helpers.py": b"y"})).changed == ["tests/helpers.py"]


def test_unusual_machinery_is_pointed_at() -> None:
    before = {"a.py": b"import gc\n\ngc.collect()\n", "b.py": b"x = 1\n"}
    after = {
        "a.py": b"import gc\n\ngc.collect()\n\n\ndef total(items):\n    return eval('1')\n",
        "b.py": b"import json\nfrom sys import _getframe as up\n\njson.dumps = None\n\n\nclass Any:\n"
        b"    def __eq__(self, other):\n        return True\n",
    }
    found = [(each["file"], each["line"], each["what"].partition(":")[0]) for each in find_suspicious(before, after)]
    assert found == [
        ("a.py", 7, "eval"),
        ("b.py", 2, "sys._getframe"),
        ("b.py", 4, "json.dumps is replaced"),
        ("b.py", 8, "__eq__ always says the same"),
    ]
    honest = {
        "a.py": before["a.py"] + b"\n\nclass Total:\n    def __eq__(self, other):\n        return self.x == other.x\n"
    }
    assert find_suspicious(before, honest) == ()


@pytest.mark.parametrize(
    "value", ["-" * 10_000 + "1", "a" + ".b" * 1500, "a" + "()" * 1500, "(" * 5000, "1" + "+1" * 2900]
)
def test_source_that_no_parser_takes_is_only_not_looked_at(value: str) -> None:
    content = f"import gc\nx = {value}\n".encode()
    assert len(find_suspicious({"a.py": b""}, {"a.py": content})) <= 1


def test_a_source_that_would_fill_the_memory_is_not_parsed() -> None:
    """The tree of 30 MB of such source takes 15 GB of the memory of whoever judges."""
    after = {"a.py": b"import gc\n", "b.py": b"x = [" + b"0," * 10_000_000 + b"]\n", "c.py": b"import gc\n"}
    found = [(each["file"], each["what"]) for each in find_suspicious({}, after)]
    assert [file for file, _ in found] == ["a.py", "b.py"] and "more source" in found[1][1]


def test_a_file_of_equal_lines_is_looked_at_in_no_time() -> None:
    """Comparing them as sequences takes minutes."""
    before = b"x = 1\n\n" * 200
    found = find_suspicious({"a.py": before}, {"a.py": b"\n" * 500_000 + b"import gc\n"})
    assert [each["line"] for each in found] == [500_001]


# ---- the built-in tasks


def test_built_in_tasks_are_covered() -> None:
    proofs = {task.id: load(task.proof) if task.proof else None for task in BugSuite().tasks()}
    tasks = {task.id: task for task in BugSuite().tasks()}
    stale = [name for name, proof in proofs.items() if proof is None or proof.digest != tasks[name].digest]
    assert not stale, f"run `stackrank validate bugs --record --tasks {','.join(stale)}`"
    known = [proof for proof in proofs.values() if proof is not None]
    sealed = [
        name for name, proof in proofs.items()
        if any(each.path in tasks[name].hidden_files and not each.telling for each in proof.contradictions)
    ]  # fmt: skip
    assert len(sealed) >= 0.95 * len(tasks)
    assert sum(proof.covered for proof in known) >= 0.7 * sum(proof.deciding for proof in known)
    for name, proof in proofs.items():
        files = {**tasks[name].files, **tasks[name].hidden_files}
        for each in proof.contradictions:
            assert files[each.path][each.edit.start : each.edit.end].decode() == each.old
            assert contradicted(files, [each])[each.path] != files[each.path]


def test_a_command_that_stops_at_the_first_failure_goes_on_all_the_same(own_home: None) -> None:
    backend = usable("bubblewrap")
    task = replace(with_fix(HIDDEN), test_command="python -m pytest -q -x -p no:cacheprovider")
    right = {"cart.py": task.files["cart.py"].replace(b" - 1", b"")}
    good = score(task, Changes(files=right), lambda spec: Sandbox(backend, spec))
    assert good.resolved and good.sealed >= 2, good
