"""Contradictions: how they are made and proved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.contradictions import find_candidates
from stackrank.env.scoring.proof import load, save_proof
from stackrank.env.scoring.verdict import score
from tests.env.scoring.proofs import proof_of, with_fix
from tests.fixtures.env import cart, source, usable


def changed_lines(body: str, tests: tuple[str, ...] = ("t.py::test_it",)) -> set[str]:
    """Each line as the candidates have it, for a file of one test."""
    content = source(body)
    candidates = find_candidates("t.py", content, tests)
    lines = set()
    for candidate in candidates:
        old_lines, new_lines = content.splitlines(), candidate.edit.apply(content).splitlines()
        assert len(old_lines) == len(new_lines), "lines keep their numbers"
        different = [new for old, new in zip(old_lines, new_lines, strict=True) if old != new]
        lines.update(line.decode().strip() for line in different)
    return lines


@pytest.mark.parametrize(
    ("line", "expected"),
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
def test_expectations_are_changed_and_inputs_are_not(line: str, expected: str) -> None:
    lines = changed_lines(f"def test_it(self=None):\n    {line}\n")
    assert expected in lines
    assert all("f(7)" in line for line in lines)


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
    program = (
        "def total(items):\n    return Much(sum(items))\n\n\ndef average(items):\n    return sum(items) / len(items)\n"
    )
    program += "\n\nclass Much(int):\n    __str__ = lambda self: f'{int(self)} and not 1234567890'\n"
    proof = proof_of(task)
    save_proof(task, proof)
    verdict = score(task, Changes(files={"cart.py": program.encode()}), lambda spec: Sandbox(backend, spec))
    assert verdict.resolved and not verdict.tampered, verdict.notes


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
    candidates = find_candidates("t.py", content, ids)
    untelling = [candidate for candidate in candidates if not candidate.telling]
    assert {candidate.unit for candidate in untelling} == set(ids[:3])
    assert {candidate.old for candidate in untelling} == {"2", "40", "4"}
    assert {candidate.tests for candidate in untelling if "[" in candidate.unit} == {(ids[0],), (ids[1],)}


def test_inherited_tests_and_unreadable_files() -> None:
    content = source("""
        class Base:
            def test_it(self):
                assert self.f() == 1


        class TestA(Base):
            pass
    """)
    (unit,) = {candidate.unit for candidate in find_candidates("t.py", content, ["t.py::TestA::test_it"])}
    assert unit == "t.py::TestA::test_it"
    assert find_candidates("t.py", b"def test_(:", ["t.py::test_"]) == []
    assert find_candidates("t.py", b"x = '\xff'", ["t.py::test_"]) == []


# ---- proving


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
    units = {contradiction.unit.partition("::")[2] for contradiction in proof.contradictions}
    assert "test_leaves_something" not in units, "it would break the test after it"
    assert {"test_never_reached", "test_total"} <= units
    assert all(contradiction.old != "5" for contradiction in proof.contradictions)
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


def test_every_assertion_is_contradicted_and_where_the_bug_shows_is_known() -> None:
    proof = proof_of(
        with_fix("""
            from cart import total


            def test_it():
                assert len("abc") == 3
                assert total([5]) == 5
                assert total([7]) == 7
                assert len("ab") == 2
        """)
    )
    shows = {contradiction.old: contradiction.shows_bug for contradiction in proof.contradictions}
    assert shows.items() >= {"3": False, "5": True, "7": True, "2": False}.items()
    assert proof.distinguishing == 2


def test_without_a_fix_or_pytest_there_is_no_proof() -> None:
    assert "no fix is known" in proof_of(cart()).reason
    assert "not run by pytest" in proof_of(replace(with_fix(""), test_command="python -c pass")).reason
