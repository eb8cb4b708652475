"""Every kind of outcome that pytest knows, as the report tells it: nothing that failed may count as passed."""

from __future__ import annotations

import os

from stackrank.env.sandbox.base import Backend, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.scoring.report import parse

KINDS = b"""
import unittest
import pytest


def test_passes():
    pass


def test_fails():
    assert 1 == 2


@pytest.mark.skip
def test_skip_mark():
    pass


def test_skip_call():
    pytest.skip()


@pytest.mark.xfail
def test_xfail():
    assert False


@pytest.mark.xfail
def test_xpass():
    pass


@pytest.mark.xfail(strict=True)
def test_xpass_strict():
    pass


@pytest.fixture
def broken():
    raise ValueError("setup")


@pytest.fixture
def breaks_after():
    yield
    raise ValueError("teardown")


def test_setup_fails(broken):
    pass


def test_teardown_fails(breaks_after):
    pass


@pytest.mark.parametrize("n", [0, 1])
def test_parameters(n):
    assert n == 0


class Case(unittest.TestCase):
    def test_case_passes(self):
        self.assertEqual(1, 1)

    def test_case_fails(self):
        self.assertEqual(1, 2)

    def test_case_raises(self):
        raise KeyError("x")

    @unittest.skip("no")
    def test_case_skipped(self):
        self.fail()

    @unittest.expectedFailure
    def test_case_expected(self):
        self.fail()

    @unittest.expectedFailure
    def test_case_unexpected(self):
        pass

    def test_case_subtests(self):
        for n in range(2):
            with self.subTest(n=n):
                self.assertEqual(n, 0)


class SetUpFails(unittest.TestCase):
    def setUp(self):
        raise OSError("no")

    def test_after_set_up(self):
        pass


class ClassSetUpFails(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no")

    def test_after_class_set_up(self):
        pass
"""

EXPECTED = {
    "passes": "passed",
    "fails": "failed",
    "skip_mark": "skipped",
    "skip_call": "skipped",
    "xfail": "xfailed",
    "xpass": "passed",
    "xpass_strict": "failed",
    "setup_fails": "failed",
    "teardown_fails": "failed",
    "parameters[0]": "passed",
    "parameters[1]": "failed",
    "case_passes": "passed",
    "case_fails": "failed",
    "case_raises": "failed",
    "case_skipped": "skipped",
    "case_expected": "xfailed",
    "case_unexpected": "failed",
    "case_subtests": "failed",
    "after_set_up": "failed",
    "after_class_set_up": "failed",
}


def test_every_kind_of_outcome(sandbox_backend: Backend) -> None:
    with Sandbox(sandbox_backend, SandboxSpec()) as sandbox:
        sandbox.put({"test_kinds.py": KINDS})
        for score in (False, True):
            key = os.urandom(32)
            result = sandbox.test("python -m pytest -q test_kinds.py", 30, key, score=score)
            report = parse(result.report or "", key)
            outcomes = {test.rpartition("test_")[2]: outcome for test, outcome in report.outcomes.items()}
            assert outcomes == EXPECTED
            assert report.complete
            assert report.suspicions == ()


def test_files_that_cannot_be_imported(sandbox_backend: Backend) -> None:
    with Sandbox(sandbox_backend, SandboxSpec()) as sandbox:
        sandbox.put({"test_a.py": b"import nothing_here\n", "test_b.py": b"def test_b(): pass\n"})
        key = os.urandom(32)
        result = sandbox.test("python -m pytest -q test_a.py test_b.py", 30, key, score=True)
        report = parse(result.report or "", key)
        assert report.failed >= 1
        assert "nothing_here" in report.collect_errors[0]
