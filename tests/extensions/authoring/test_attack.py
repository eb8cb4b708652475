"""The audit of tests: weak ones are caught, strong ones are not, and what is as good as the fix is not called wrong."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from stackrank.env.patches import make_diff
from stackrank.env.patterns import globs
from stackrank.env.sandbox.base import Backend
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Task
from stackrank.extensions.authoring.audit.audit import Audit, audit
from stackrank.extensions.authoring.audit.changes import (
    Call,
    Fixed,
    Variant,
    distinct,
    mistakes,
    parts_of_the_fix,
    special_cases,
)
from stackrank.extensions.authoring.audit.probes import probe
from tests.fixtures.env import source

GIVEN = """
    def price(count, each):
        if count > 10:
            return count * each
        return count * each


    def label(name):
        return name.strip()
"""
FIXED = """
    def price(count, each):
        if count >= 10:
            return count * each * 9 // 10
        return count * each


    def label(name):
        return name.strip()
"""
VISIBLE = """
    from shop import price

    def test_discount():
        assert price(20, 5) == 90
"""
STRONG = """
    import pytest
    from shop import price

    @pytest.mark.parametrize("count, each, expected", [
        (9, 10, 90), (10, 10, 90), (11, 10, 99), (12, 7, 75), (30, 1, 27), (1, 3, 3), (0, 3, 0), (15, 2, 27),
        (10, 1, 9), (13, 9, 105), (9, 7, 63), (8, 10, 80), (100, 3, 270), (17, 11, 168),
    ])
    def test_price(count, each, expected):
        assert price(count, each) == expected
"""
SUBTESTS = """
    import unittest
    from shop import price

    class TestPrice(unittest.TestCase):
        def test_price(self):
            for count, each, expected in [(9, 10, 90), (10, 10, 90), (11, 10, 99), (12, 7, 75), (30, 1, 27)]:
                with self.subTest(count=count):
                    self.assertEqual(price(count, each), expected)
"""
WEAK = """
    from shop import price

    def test_price():
        assert price(30, 10) == 270
"""


def shop(hidden: str) -> Task:
    files = {"shop.py": source(GIVEN), "tests/test_shop.py": source(VISIBLE)}
    command = "python -m pytest -q -p no:cacheprovider tests/test_shop.py"
    return Task(
        id="shop",
        benchmark="test",
        statement="Ten and more are cheaper.",
        files=files,
        hidden_files={"tests/test_hidden_shop.py": source(hidden)},
        test_command=command,
        score_command=f"{command} tests/test_hidden_shop.py",
        fix=make_diff({"shop.py": source(GIVEN)}, {"shop.py": source(FIXED)}),
        readonly=globs(("tests/**",)),
    )


def audited(task: Task, kind: Backend, *variants: Variant) -> Audit:
    return audit(task, lambda spec: Sandbox(kind, spec), [lambda variant=variant: variant for variant in variants])


def test_a_weak_test_is_caught_and_a_strong_one_is_not(sandbox_backend: Backend) -> None:
    weak = audited(shop(WEAK), sandbox_backend)
    assert weak.audited and weak.wrong, weak
    assert weak.tried == weak.killed + len(weak.wrong) + len(weak.undecided)
    for wrong in weak.wrong:
        assert wrong.diff.startswith("diff --git a/shop.py") and wrong.fixed != wrong.wrong
        assert "test_probe" in wrong.test
    strong = audited(shop(STRONG), sandbox_backend)
    assert strong.audited and not strong.wrong, strong.wrong
    assert strong.killed > 5


@pytest.mark.exhaustive
def test_the_options_of_the_command_hold_and_other_tests_tell_nothing(sandbox_backend: Backend) -> None:
    task = shop(WEAK.replace("import price", "import label, price") + "\n    def test_label():\n        label(' a ')\n")
    files = {**task.files, "src/shop.py": task.files["shop.py"]}
    del files["shop.py"]
    in_src = task.fix.replace("a/shop.py", "a/src/shop.py").replace("b/shop.py", "b/src/shop.py")
    visible = "python -m pytest -q -p no:cacheprovider -o pythonpath=src tests/test_shop.py"
    command = f"{visible} tests/test_hidden_shop.py::test_price"
    result = audited(
        replace(task, files=files, fix=in_src, test_command=visible, score_command=command), sandbox_backend
    )
    assert result.audited and result.wrong, result
    assert {wrong.test.partition("::")[2] for wrong in result.wrong} <= {"test_price", "test_discount"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("hidden", [STRONG, SUBTESTS], ids=["parameters", "subtests"])
def test_what_is_as_good_as_the_fix_is_undecided(sandbox_backend: Backend, hidden: str) -> None:
    equivalent = Variant("another fix", {"shop.py": source(FIXED.replace("count >= 10", "not count < 10"))})
    result = audited(shop(hidden), sandbox_backend, equivalent)
    assert not any("not count < 10" in wrong.diff for wrong in result.wrong), result.wrong
    assert hidden is SUBTESTS or not result.wrong
    assert any("not count < 10" in diff for diff in result.undecided)


@pytest.mark.exhaustive
def test_a_rejected_fix_is_tried_wherever_it_is(sandbox_backend: Backend) -> None:
    task = shop(WEAK)
    task = replace(task, files={**task.files, "rates.py": b"RATE = 9\n"})
    special = source(
        GIVEN.replace("return count * each", "return count * each * 9 // 10 if count in (20, 30) else 0", 1)
    )
    rejected = Variant("a fix that a person rejected", {"shop.py": special, "rates.py": b"RATE = 1\n"})
    result = audit(task, lambda spec: Sandbox(sandbox_backend, spec), rejected=[rejected])
    assert result.audited and result.wrong[0].kind == "a fix that a person rejected", result
    assert "rates.py" in result.wrong[0].diff and not any("rates.py" in wrong.diff for wrong in result.wrong[1:])


def test_what_cannot_be_audited_says_why(sandbox_backend: Backend) -> None:
    assert "it has no known fix" in audited(replace(shop(WEAK), fix=""), sandbox_backend).reason
    assert (
        "does not run pytest directly"
        in audited(replace(shop(WEAK), score_command="make test"), sandbox_backend).reason
    )
    failing = shop("def test_it():\n    assert False\n")
    assert "do not pass with the fix" in audited(failing, sandbox_backend).reason


@pytest.fixture
def fixed() -> Fixed:
    return Fixed.of({"shop.py": source(GIVEN)}, {"shop.py": source(FIXED)})


def test_parts_and_mistakes_are_python_and_never_the_fix(fixed: Fixed) -> None:
    variants = [*distinct(fixed, iter([*parts_of_the_fix(fixed), *mistakes(fixed, 0)]))]
    texts = [variant.files["shop.py"] for variant in variants]
    assert source(GIVEN) in texts and source(FIXED) not in texts
    assert len(set(texts)) == len(texts) > 5
    assert all(ast.parse(text) for text in texts)
    # Only where the fix is.
    assert all(b"name.strip()" in text for text in texts)


def test_a_special_case_is_the_bug_but_for_what_was_seen(fixed: Fixed) -> None:
    calls = [Call("shop.py", "price", {"count": "20", "each": "5"}, "return 90")]
    (variant,) = special_cases(fixed, calls)
    space: dict[str, object] = {}
    exec(variant.files["shop.py"], space)
    price = space["price"]
    assert callable(price)
    assert (price(20, 5), price(20, 6)) == (90, 120)


def test_a_probe_keeps_names_and_changes_inputs() -> None:
    probes = {probe(source(STRONG).decode(), seed) for seed in range(20)}
    assert len(probes) > 10 and None not in probes
    for text in probes:
        assert text is not None and "assert" not in text and "__stackrank_probe__(price(count, each), expected)" in text
        assert "'count, each, expected'" in text
    assert probe("def broken(:", 0) is None
