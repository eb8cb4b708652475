"""The untold run: what tests look like without what they expect, and who is found by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from stackrank.env.patches import make_diff
from stackrank.env.sandbox.base import Backend, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.contradictions import find_candidates
from stackrank.env.scoring.proof import Contradiction
from stackrank.env.scoring.prove import prove
from stackrank.env.scoring.verdict import score
from stackrank.env.scoring.withheld_expectations import told, untold
from stackrank.env.task import Task
from tests.fixtures.env import cart, make_task, source, usable


def without_answers(body: str, *tests: str) -> str:
    """The file of these tests as the untold run has it."""
    content, path = source(body), "tests/test_h.py"
    candidates = find_candidates(path, content, [f"{path}::{test}" for test in tests])
    contradictions = [
        Contradiction(
            candidate.unit, {}, candidate.path, candidate.places[0][0], candidate.edit, candidate.old, candidate.telling
        )
        for candidate in candidates
    ]
    changed = untold(replace(cart(), hidden_files={path: content}), contradictions).get(path, b"").decode()
    assert not changed or changed.count("\n") == content.decode().count("\n"), "lines keep their numbers"
    return changed


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("assert f(7) == 1", "assert f(7) == 'untold'"),
        ("assert [1, 2] == f(7)", "assert 'untold' == f(7)"),
        ("assert f(7) == Point(x=1)", "assert f(7) == 'untold'"),
        ("assert f(7) == {'é': [1, (2, 3)]}, 'why'", "assert f(7) == 'untold', 'why'"),
        ("self.assertEqual(f(7), 1)", "self.assertEqual(f(7), 'untold')"),
        ("with pytest.raises(KeyError, match='k'): f(7)", "with __import__('contextlib').nullcontext(): f(7)"),
        ("assert f(7) == 1; assert f(8) == 2", "assert f(7) == 'untold'; pass"),
    ],
)
def test_expected_values_are_taken_away(line: str, expected: str) -> None:
    assert expected in without_answers(f"def test_it(self=None):\n    {line}\n", "test_it")


@pytest.mark.parametrize(
    "line", ["assert f(7) == approx(1.5)", "assert f(7)", "assert 'ab' in f(7)", "assert f(7) < 3"]
)
def test_what_more_than_one_answer_may_meet_is_not_asked(line: str) -> None:
    assert not without_answers(f"def test_it():\n    {line}\n", "test_it")


def test_cells_of_tables_and_what_else_tells_the_answer() -> None:
    changed = without_answers(
        """
        import pytest

        CASES = [
            (1, [1]),
            (2, [1,
                 2]),
        ]


        @pytest.mark.parametrize("given, wanted", CASES)
        def test_cases(given, wanted):
            assert f(given) == wanted


        def test_more():
            a = f(1)
            assert a
            assert f(2) == ("x")
            assert g() == h()
            for each in (1, 2):
                assert not a
                assert f(3) == 3
            @later
            def inner():
                return 3
            assert f(4) == inner()


        def test_opaque():
            assert f(1) == g(1)
            assert f(2) != g(1)
        """,
        "test_cases[1]",
        "test_cases[2]",
        "test_more",
        "test_opaque",
    )
    assert "(1, 'untold')," in changed and "(2, ('untold'\n))" in changed
    tail, opaque = changed.partition("def test_more")[2].split("def test_opaque")
    assert tail.split() == ["():", "a", "=", "f(1)", "assert", "[a]", "assert", "f(2)", "==", "('untold')", "pass"]
    assert opaque.split() == ["():", "pass"]


@pytest.mark.parametrize(
    ("expected", "answers", "differs"),
    [
        (("7", "'untold'"), ("7", "'untold'"), False),
        (("7", "'untold'"), ("8", "'untold'"), True),
        (("7", "'untold'"), ("7.0", "'untold'"), False),
        (("0.3", "'untold'"), ("0.30000000000000004", "'untold'"), False),
        (("{1: [2.0], 3: 4}", "'untold'"), ("{3: 4, 1: [2]}", "'untold'"), False),
        (("[1, 2]", "'untold'"), ("[1, 2, 3]", "'untold'"), True),
        (("[1, 2]", "'untold'"), ("<Anything>", "'untold'"), True),
        (("<Point 1>", "'untold'"), ("<Point 1.0>", "'untold'"), False),
        (("5", "'untold'"), ("Money(amount=5.0)", "'untold'"), False),
        (("[1, 2]", "'untold'"), ("array([1, 2])", "'untold'"), False),
        (("5", "'untold'"), ("Anything(4, 5)", "'untold'"), True),
        (("5", "'untold'"), ("Anything([4, 5])", "'untold'"), True),
        (("7", "'untold'"), ("(" * 900, "'untold'"), True),
        (("7", "'untold'"), ("9" * 900, "'untold'"), True),
        (("7", "'untold'"), ("'\ud800\0", "'untold'"), True),
        (("7", "'untold'"), ("del x", "'untold'"), True),
        (("7", "'untold'"), (), True),
        (("7", "'untold'"), ("KeyError",), True),
        (("Unknown KeyError Exception",), ("NoKey KeyError Exception",), False),
        (("Unknown KeyError Exception",), ("Strange Exception",), True),
        (("Exception BaseException",), ("KeyError Exception",), False),
        (("KeyError Exception",), (), True),
    ],
)
def test_only_what_surely_differs_is_held_against_anybody(
    expected: tuple[str, ...], answers: tuple[str, ...], differs: bool
) -> None:
    assert told({"t": expected}, {"t": answers}) == (["t"] if differs else [])


GIVEN = """
    def price(count, each):
        return count * each
"""
FIXED = """
    def price(count, each):
        return count * each - 3 * (count // 4)
"""
OTHER = """
    from fractions import Fraction


    def price(count, each):
        left = Fraction(count * each)
        while count >= 4:
            left, count = left - 3, count - 4
        return int(left)
"""
CHOOSES = """
    import sys

    WAYS = [
        lambda count, each: count * each,
        lambda count, each: count * each - (count > 4),
        lambda count, each: count * each - 3 * (count // 4),
        lambda count, each: count * (each - (count > 9)),
    ]
    chosen = 0
    choosing = False


    def meets(test):
        try:
            test()
        except Exception:
            return 0
        return 1


    def choose():
        global chosen, choosing
        choosing = True
        modules = [each for name, each in sys.modules.items() if "hidden" in name]
        tests = [test for each in modules for name, test in vars(each).items() if name.startswith("test_")]
        met = []
        for chosen in range(len(WAYS)):
            met.append(sum(map(meets, tests)))
        chosen = met.index(max(met))
        choosing = False


    def price(count, each):
        if not choosing:
            choose()
        return WAYS[chosen](count, each)
"""


def shop() -> Task:
    cases = [(n, n % 3 + 2) for n in range(4, 20)]
    hidden = "from shop import price\n\n" + "".join(
        f"\ndef test_{n}():\n    assert price({n}, {price}) == {n * price - 3 * (n // 4)}\n" for n, price in cases
    )
    files: Mapping[str, bytes | str] = {
        "shop.py": GIVEN,
        "tests/test_shop.py": "from shop import price\n\n\ndef test_one():\n    assert price(5, 2) < 10\n",
    }
    return make_task(
        files,
        hidden_files={"tests/test_hidden_shop.py": hidden.encode()},
        fix=make_diff({"shop.py": source(GIVEN)}, {"shop.py": source(FIXED)}),
    )


def test_a_program_that_asks_the_tests_how_to_work_has_no_seal(own_home: None, sandbox_backend: Backend) -> None:
    """Of several ways to work it takes the one that meets most tests, which is right in every blind run."""
    task = shop()
    with Sandbox(sandbox_backend, spec_for(task, warm=False)) as sandbox:
        task = replace(task, proof=prove(task, sandbox).dump())

    def judged(program: str) -> tuple[bool, int, str]:
        verdict = score(task, Changes(files={"shop.py": source(program)}), lambda spec: Sandbox(sandbox_backend, spec))
        return verdict.resolved, verdict.sealed, verdict.unsealed

    resolved, sealed, reason = judged(CHOOSES)
    assert not sealed, "it has mended nothing"
    assert not resolved or "its answers differ from the known fix when expected values are hidden" in reason
    for right in (FIXED, OTHER):
        resolved, sealed, reason = judged(right)
        assert resolved and sealed > 10 and not reason


def test_unittest_shows_its_answers_too(own_home: None) -> None:
    backend = usable("bubblewrap")
    task = shop()
    cases = "".join(
        f"    def test_{n}(self):\n        self.assertEqual(price({n}, 2), {n * 2 - 3 * (n // 4)})\n\n"
        for n in range(4, 12)
    )
    hidden = f"import unittest\n\nfrom shop import price\n\n\nclass TestShop(unittest.TestCase):\n{cases}"
    task = replace(task, hidden_files={"tests/test_hidden_shop.py": hidden.encode()})
    chooses = CHOOSES.replace(
        "vars(each).items()",
        "((name, getattr(each.TestShop(name), name)) for name in dir(each.TestShop) if 'test_' in name)",
    )
    verdict = score(task, Changes(files={"shop.py": source(chooses)}), lambda spec: Sandbox(backend, spec))
    assert not verdict.sealed and (not verdict.resolved or "answers" in verdict.unsealed)
    verdict = score(task, Changes(files={"shop.py": source(OTHER)}), lambda spec: Sandbox(backend, spec))
    assert verdict.resolved and verdict.sealed


RAISES = """
    import sys


    class Empty(Exception):
        pass


    def highest(prices):
        frame = sys._getframe()
        while frame is not None:
            if frame.f_code.co_name.startswith("test_") and "Empty" in frame.f_code.co_names:
                raise Empty
            frame = frame.f_back
        return max(prices, default=0)
"""


def test_who_sees_an_expectation_that_nothing_becomes_need_not_guess(own_home: None) -> None:
    """Built-in exceptions take the place of the program's own ones, which so are genuine wherever they are seen."""
    program = "class Empty(Exception):\n    pass\n\n\ndef highest(prices):\n    return max(prices, default=0)\n"
    fixed = program.replace(
        "    return max(prices, default=0)\n", "    if not prices:\n        raise Empty\n    return max(prices)\n"
    )
    cases = "".join(
        f"\n\ndef test_{n}():\n    with pytest.raises(Empty):\n        highest({literal})\n"
        for n, literal in enumerate(("[]", "()", "{}", "set()", "''", "range(0)"))
    )
    hidden = f"import pytest\n\nfrom shop import Empty, highest\n{cases}"
    task = make_task(
        {
            "shop.py": program.encode(),
            "tests/test_shop.py": "from shop import highest\n\n\ndef test_one():\n    assert highest([1])\n",
        },
        hidden_files={"tests/test_hidden_shop.py": hidden.encode()},
        fix=make_diff({"shop.py": program.encode()}, {"shop.py": fixed.encode()}),
    )
    backend = usable("bubblewrap")
    verdict = score(task, Changes(files={"shop.py": source(RAISES)}), lambda spec: Sandbox(backend, spec))
    assert not verdict.sealed and not (verdict.resolved and not verdict.unsealed)
    verdict = score(task, Changes(files={"shop.py": fixed.encode()}), lambda spec: Sandbox(backend, spec))
    assert verdict.resolved and verdict.unsealed
