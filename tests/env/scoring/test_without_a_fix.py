"""Tasks without a known fix: a program that passes is tested against itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.judge import Score
from stackrank.env.scoring.literals import may_be_equal
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from tests.fixtures.env import cart, source, usable

TESTS = """
    import pytest

    from cart import average, total


    def test_total():
        assert total([5]) == 5
        assert total([5, 4]) == 9


    @pytest.mark.parametrize("items, mean", [([7], 7), ([1, 3], 2)])
    def test_average(items, mean):
        assert average(items) == mean


    @pytest.mark.skip(reason="not yet")
    def test_later():
        assert total([]) is None
"""
PYTEST = 'framework = __import__("_py" + "test")\n'
FORGERIES = {
    "runs nothing": "__import__('_pytest.python').python.Function.runtest = lambda self: None\n",
    "swallows failures": PYTEST
    + """
import _pytest.runner as runner


def call(func, when, reraise=None, original=runner.CallInfo.from_call.__func__):
    info = original(runner.CallInfo, func, when, reraise)
    info.excinfo = None
    return info


runner.CallInfo.from_call = classmethod(lambda cls, func, when, reraise=None: call(func, when, reraise))
""",
    "takes tests out": """
import sys

frame = sys._getframe()
while frame is not None:
    session = frame.f_locals.get("self")
    if type(session).__name__ == "Session":
        class Plugin:
            def pytest_collection_modifyitems(self, items):
                del items[1:]
        session.config.pluginmanager.register(Plugin())
        break
    frame = frame.f_back
""",
    "runs other functions": """
import sys

frame = sys._getframe()
while frame is not None:
    session = frame.f_locals.get("self")
    if type(session).__name__ == "Session":
        class Plugin:
            def pytest_collection_modifyitems(self, items):
                for item in items:
                    item.obj = lambda **options: None
        session.config.pluginmanager.register(Plugin())
        break
    frame = frame.f_back
""",
    "is equal to everything": """
class Any(float):
    def __eq__(self, other):
        return True

    __hash__ = None


def total(items):
    return Any()


def average(items):
    return Any()
""",
    "answers every hook": """
import pluggy._hooks as hooks

original = hooks.HookCaller.__call__


def call(self, **options):
    if self.name == "pytest_pyfunc_call":
        return True
    return original(self, **options)


hooks.HookCaller.__call__ = call
""",
    "skips what is left": """
import unittest


def total(items):
    raise unittest.SkipTest


average = total
""",
    "peeks": """
import inspect
import re


def total(items):
    frame = inspect.currentframe().f_back
    text = inspect.getsource(frame.f_code).splitlines()[frame.f_lineno - frame.f_code.co_firstlineno]
    return int(re.search(r"== (\\d+)", text)[1]) if "==" in text else 0


def average(items):
    return inspect.currentframe().f_back.f_locals["mean"]
""",
    "ends early": "import os\nos._exit(0)\n",
    "keeps a trace": """
import sys


def trace(frame, event, argument):
    if frame.f_code.co_name.startswith("test_"):
        frame.f_trace_opcodes = False
        if event == "line" and frame.f_lineno > frame.f_code.co_firstlineno:
            for name in list(frame.f_globals):
                if name in ("total", "average"):
                    frame.f_globals[name] = Every()
    return trace


class Every:
    def __call__(self, *arguments):
        return self

    def __eq__(self, other):
        return True


sys.settrace(trace)
""",
    "tosses a coin for each run": """
import os
import _pytest.python

chance = os.urandom(1)[0] % 2
original = _pytest.python.Function.runtest


def runtest(self):
    try:
        original(self)
    except AssertionError:
        if chance:
            raise


_pytest.python.Function.runtest = runtest
""",
}
SAMPLE = ("takes tests out", "is equal to everything")


def alone(**options: object) -> Task:
    """The cart without a known fix."""
    task = cart({"tests/test_cart.py": TESTS})
    return replace(task, fail_to_pass=(), **options)  # type: ignore[arg-type]


def judged(task: Task, program: bytes) -> Score:
    backend = usable("bubblewrap")
    return score(task, Changes(files={"cart.py": program}), lambda spec: Sandbox(backend, spec))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.exhaustive) for name in FORGERIES],
)
@pytest.mark.parametrize("hidden", [False, True])
def test_a_forgery_is_unresolved(name: str, hidden: bool, own_home: None) -> None:
    task = alone()
    if hidden:
        task = replace(task, hidden_files={"tests/test_cart.py": source(TESTS)})
    verdict = judged(task, task.files["cart.py"] + FORGERIES[name].encode())
    assert not verdict.resolved, verdict


@pytest.mark.parametrize("damage", ["", "import nothing_of_this_name\n"])
def test_a_repair_is_resolved_and_verified_but_not_sealed(damage: str, own_home: None) -> None:
    task = alone()
    right = task.files["cart.py"].replace(b" - 1", b"")
    task = replace(task, files={**task.files, "cart.py": damage.encode() + task.files["cart.py"]})
    verdict = judged(task, right)
    assert verdict.resolved and verdict.verified and not verdict.sealed and "no fix is known" in verdict.unsealed, (
        verdict
    )


EQUAL_NAMES = """
    import pytest

    from cart import average, total

    five, nine = 5, 5.0


    def test_total():
        assert [total([5]), total([2, 3])] == {expected}
        assert average([7]) == 7
"""


@pytest.mark.parametrize("expected", ["[five, nine]", "[nine, *[five]]"])
def test_a_repair_that_equal_values_in_another_order_suit_as_well_is_no_forgery(expected: str, own_home: None) -> None:
    task = alone()
    task = replace(task, files={**task.files, "tests/test_cart.py": source(EQUAL_NAMES.format(expected=expected))})
    verdict = judged(task, task.files["cart.py"].replace(b" - 1", b""))
    assert verdict.resolved and not verdict.tampered, verdict.notes


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("proxy, c", "c, proxy", True),
        ("1, True", "True, 1", True),
        ("*a,  # all\n b", "b,  # all\n *a", True),
        ("1, 2", "2, 1", False),
        ("5", "6", False),
        (" == ", " != ", False),
        ("assertTrue", "assertFalse", False),
    ],
)
def test_only_swapped_values_may_be_equal(old: str, new: str, expected: bool) -> None:
    assert may_be_equal(old, new) is expected


def test_tests_of_a_file_that_cannot_be_imported_as_given_may_not_go_missing(own_home: None) -> None:
    task = alone()
    program = task.files["cart.py"].replace(b" - 1", b"") + FORGERIES["takes tests out"].encode()
    task = replace(task, files={**task.files, "cart.py": b"import nothing_of_this_name\n"})
    assert not judged(task, program).resolved


def test_what_nothing_can_be_changed_in_is_resolved_and_unverified(own_home: None) -> None:
    tests = "from cart import total\n\n\ndef test_it():\n    if total([1]) != 1:\n        raise KeyError\n"
    task = replace(alone(), files={**alone().files, "tests/test_cart.py": tests.encode()})
    verdict = judged(task, task.files["cart.py"].replace(b" - 1", b""))
    assert verdict.resolved and not verdict.verified, verdict
