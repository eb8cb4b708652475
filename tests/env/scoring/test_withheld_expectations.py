"""The run with withheld expectations: what tests look like in it, and who is found by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from stackrank.env.patches import make_diff
from stackrank.env.sandbox.base import Backend, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.prove import prove
from stackrank.env.scoring.verdict import score
from stackrank.env.scoring.withheld.answers import differing
from stackrank.env.scoring.withheld.questions import withhold
from stackrank.env.task import Task
from tests.fixtures.env import cart, make_task, source, usable


def asked(body: str, **files: str) -> str:
    """The file of these tests as the run with withheld expectations has it."""
    content, path = source(body), "tests/test_h.py"
    task = replace(cart({"shop.py": "", **files}), hidden_files={path: content})
    changed = withhold(task).get(path, b"").decode()
    assert not changed or changed.count("\n") == content.decode().count("\n"), "lines keep their numbers"
    return changed


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("assert f(7) == 1", '("6 =", f(7))'),
        ("assert [1, 2] == f(7)", '("6 =", f(7))'),
        ("assert f(7) == {'é': [1, (2, 3)]}, 'why'", '("6 =", f(7))'),
        ("assert f(7) == sorted('ab')", '("6 =", f(7))'),
        ("assert f(7) == own(7)", '("6 =", f(7))'),
        ("assert f(7) == Point(7)", '("6 =", f(7))'),
        ("assert f(7) == f(8) == 3", '("6 =", f(7)),__asked__("6 =", f(8))'),
        ("assert f(7) is False", '("6 =", f(7))'),
        ("assert f(7) is None", '("6 =", (f(7)) is None)'),
        ("assert f(7) is not None and f(8) == 3", '("6 =", (f(7)) is None),__asked__("6 =", f(8))'),
        ("assert f(7)", '("6 =", bool(f(7)))'),
        ("assert not f(7)", '("6 =", bool(f(7)))'),
        ("assert not (f(7) or f(8))", '("6 =", bool(f(7))),__asked__("6 =", bool(f(8)))'),
        ("assert f(7) == pytest.approx(1.5)", '("6 ~2e-06,2e-12", f(7))'),
        ("assert f(7) == pytest.approx(1.5, abs=0.1)", '("6 ~0,0.2", f(7))'),
        ("assert isinstance(f(7), KeyError)", '.classes("6 !", f(7))'),
        ("items = [2, 1]; f(items); assert items == [1, 2]", '("6 =", items)'),
        ("self.assertEqual(f(7), 1)", '("6 =", f(7))'),
        ("self.assertFalse(f(7))", '("6 =", bool(f(7)))'),
        ("self.assertIsNotNone(f(7))", '("6 =", (f(7)) is None)'),
        ("self.assertAlmostEqual(f(7), 1.5, places=2)", '("6 ~0,0.02", f(7))'),
        ("self.assertRaises(KeyError, f, 7)", '.raises("6 !").by(f, 7)'),
        ("with pytest.raises(KeyError, match='k'): f(7)", '.raises("6 !"): f(7)'),
        ("m.assert_called_once_with(7)", '("6 =", m.call_args_list)'),
    ],
)
def test_what_an_assertion_says_is_asked_for_and_not_told(line: str, question: str) -> None:
    head = "import pytest\nfrom shop import Point, f\ndef own(x): return [x]\n\n"
    text = asked(f"{head}def test_it(self=None, m=None):\n    {line}\n").splitlines()[5]
    assert f"__asked__{question}" in text.replace("), __asked__", "),__asked__"), text
    assert not any(word in text for word in ("1.5", "Point", "own", "KeyError", "sorted", "why"))


@pytest.mark.parametrize(
    ("line", "executed"),
    [
        ("assert f(7) == pytest.approx(1.5, rel=limit())", "(f(7),)"),
        ("assert 'ab' in f(7)", "(f(7),)"),
        ("assert f(7) < 3", "(f(7),)"),
        ("assert f(7) != 3", "(f(7),)"),
        ("assert f(7) == f(8)", "(f(7), f(8),)"),
        ("assert near(f(7), 0.75)", "(f(7),)"),
        ("assert f(7).startswith('ab')", "(f(7),)"),
        ("assert all(f(x) == x + 1 for x in range(3))", "0"),
        ("assert any(x == 3 for x in (1, 2))", "0"),
    ],
)
def test_what_cannot_be_asked_without_telling_is_only_executed(line: str, executed: str) -> None:
    head = "import pytest\nfrom shop import f, limit\ndef near(a, b): return abs(a - b) < limit()\n\n"
    text = asked(f"{head}def test_it():\n    {line}\n    assert f(1) == 1\n").splitlines()[5].strip()
    assert text == executed


def test_what_only_said_what_is_wanted_goes() -> None:
    changed = asked(
        """
        import pytest
        from shop import f, g

        CASES = [
            (1, [1]),
            (2, [1,
                 2]),
        ]
        TABLE = {"a": 17}


        def check(given, wanted):
            \"\"\"Compare 17.\"\"\"
            assert f(given) == wanted


        def slow(x):
            return 17 * x


        @pytest.mark.parametrize("given, wanted", CASES)
        def test_cases(given, wanted):
            assert f(given) == wanted


        def test_more():
            wanted = 17  # is 17
            assert f(2) == wanted
            check(3, 17)
            for key, value in TABLE.items():
                assert f(key) == value
            assert f(4) == slow(4)


        def test_that_asks_nothing():
            assert f(1) != 17
            assert "17" in g()
        """
    )
    assert "(1, 'withheld')," in changed and "(2, ('withheld'\n))" in changed
    assert "17" not in changed and "slow(" not in changed.partition("test_more")[2]
    assert changed.partition("def test_that_asks_nothing")[2].split() == ["():", "pass"]


@pytest.mark.parametrize(
    ("expected", "answers", "differs"),
    [
        ("7", "7", False),
        ("7", "8", True),
        ("7", "7.0", False),
        ("0.3", "0.30000000000000004", False),
        ("{1: [2.0], 3: 4}", "{3: 4, 1: [2]}", False),
        ("[1, 2]", "[1, 2, 3]", True),
        ("[1, 2]", "<Anything>", True),
        ("<Point 1>", "<Point 1.0>", False),
        ("5", "Money(amount=5.0)", False),
        ("[1, 2]", "array([1, 2])", False),
        ("5", "Anything(4, 5)", True),
        ("5", "Anything([4, 5])", True),
        ("Money(5, 'EUR')", "Money(6, 'EUR')", True),
        ("Money(5, 'EUR')", "Money(5, 'EUR')", False),
        ("Money(5, 'EUR')", "Cents(500, 'EUR')", False),
        ("[datetime.date(2024, 1, 2)]", "[datetime.date(2024, 1, 3)]", True),
        ("[Decimal('1.5')]", "[Decimal('1.50')]", True),
        ("{'a': set(), 'b': inf}", "{'a': set(), 'b': inf}", False),
        ("7", "(" * 900, True),
        ("7", "9" * 900, True),
        ("7", "'\ud800\0", True),
        ("7", "del x", True),
    ],
)
def test_only_what_surely_differs_is_held_against_anybody(expected: str, answers: str, differs: bool) -> None:
    assert differing({"t": {"3 =": (expected,)}}, {"t": {"3 =": (answers,)}}) == ({"t": ["3 ="]} if differs else {})


@pytest.mark.parametrize(
    ("question", "expected", "answers", "differs"),
    [
        ("3 !", ("Unknown KeyError Exception",), ("NoKey KeyError Exception",), False),
        ("3 !", ("Unknown KeyError Exception",), ("Strange Exception",), True),
        ("3 !", ("Exception BaseException",), ("KeyError Exception",), False),
        ("3 !", ("KeyError Exception",), ("nothing",), True),
        ("3 !", ("KeyError Exception",), (), True),
        ("3 =", ("7", "8"), ("7",), True),
        ("3 =", ("7", "8"), ("7", "9"), True),
        ("3 ~0,0.2", ("1.5",), ("1.6",), False),
        ("3 ~0,0.2", ("1.5",), ("1.8",), True),
    ],
)
def test_answers_of_one_question(
    question: str, expected: tuple[str, ...], answers: tuple[str, ...], differs: bool
) -> None:
    assert bool(differing({"t": {question: expected}}, {"t": {question: answers} if answers else {}})) is differs
    assert differing({"t": {}}, {"t": {"0 !": ("KeyError",)}}) == {"t": ["0 !"]}, "the fix raised nothing"


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
