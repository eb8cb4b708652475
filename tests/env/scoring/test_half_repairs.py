"""A program that is right at the first assertion of each test, and lets no later one fail, has no seal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.verdict import score
from tests.env.scoring.proofs import proof_of, with_fix
from tests.fixtures.env import source, usable

HALF = """
    import inspect

    pytest = __import__("_py" + "test.python").python


    def total(items):
        items = list(items)
        if len(items) > 2:
            raise KeyError("too many")
        return sum(items) - (len(items) == 2)


    def average(items):
        return total(items) / len(items)


    def runtest(self, original=pytest.Function.runtest):
        try:
            original(self)
        except BaseException as error:
            lines, start = inspect.getsourcelines(self.function)
            firsts = [number for number, line in enumerate(lines) if "assert" in line or "raises" in line]
            trace, line = error.__traceback__, 0
            while trace is not None:
                if trace.tb_frame.f_code.co_filename == str(self.path):
                    line = max(line, trace.tb_lineno)
                trace = trace.tb_next
            {SWALLOW}


    pytest.Function.runtest = runtest
"""
SWALLOWS = {
    "every later failure": "if not firsts or line <= start + firsts[0]: raise",
    "later failures and no exceptions": "if line <= start + firsts[0] or not isinstance(error, AssertionError): raise",
    "every other time": "if line <= start + firsts[0] or hash(str(error)) % 2: raise",
}
TESTS = {
    "in a row": """
        def test_a():
            assert total([5]) == 5
            assert total([5, 4]) == 9
            assert total([6, 4]) == 10

        def test_b():
            assert total([7]) == 7
            assert total([1, 4, 2]) == 7
    """,
    "in a loop": """
        def test_a():
            for items, wanted in [([5], 5), ([5, 4], 9), ([1, 2, 3], 6)]:
                assert total(items) == wanted

        def test_b():
            assert total([7]) == 7
            for items, wanted in (([5, 1], 6), ([5, 4, 1], 10)):
                assert total(items) == wanted
    """,
    "in a helper": """
        def check(items, wanted):
            assert total(items) == wanted

        def test_a():
            assert total([3]) == 3
            check([5, 4], 9)
            check([1, 2, 3], 6)
    """,
    "in cases": """
        import pytest

        @pytest.mark.parametrize("first, items, wanted", [(5, [5, 4], 9), (6, [1, 2, 3], 6)])
        def test_a(first, items, wanted):
            assert total([first]) == first
            assert total(items) == wanted
    """,
    "of exceptions": """
        import pytest

        def test_a():
            assert total([5]) == 5
            with pytest.raises(TypeError):
                total([5, "4"])
            assert total([5, 4]) == 9
            assert total([5, 4, 3]) == 12
    """,
    "of truths and tolerances": """
        import pytest

        def test_a():
            assert total([5]) == 5
            assert not total([1, -1])
            assert total([0.5, 0.25]) == pytest.approx(0.75)
            assert total([2, 0]) is not None
    """,
    "of unittest": """
        import unittest

        class TestTotal(unittest.TestCase):
            def test_a(self):
                self.assertEqual(total([5]), 5)
                for items, wanted in (([5, 4], 9), ([6, 4], 10)):
                    with self.subTest(items=items):
                        self.assertEqual(total(items), wanted)
                self.assertEqual(total([6, 5]), 11)
    """,
}
SAMPLE = ("every later failure", "in a row")


@pytest.mark.parametrize(
    ("swallow", "tests"),
    [
        pytest.param(swallow, tests, marks=() if (swallow, tests) == SAMPLE else pytest.mark.exhaustive)
        for swallow in SWALLOWS
        for tests in TESTS
    ],
)
def test_half_a_repair_is_not_sealed(swallow: str, tests: str, own_home: None) -> None:
    backend = usable("bubblewrap")
    task = with_fix(f"\n        from cart import total\n\n{TESTS[tests]}", fail_to_pass=())
    task = replace(task, proof=proof_of(task).dump())
    half = source(HALF.replace("{SWALLOW}", SWALLOWS[swallow]))
    verdict = score(task, Changes(files={"cart.py": half}), lambda spec: Sandbox(backend, spec))
    assert not verdict.sealed and not (verdict.resolved and not verdict.unsealed), verdict
    right = {"cart.py": task.files["cart.py"].replace(b" - 1", b"")}
    verdict = score(task, Changes(files=right), lambda spec: Sandbox(backend, spec))
    assert verdict.resolved and verdict.sealed, verdict
