"""How the processes of test runs begin and end."""

from __future__ import annotations

import pytest

from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.registry import backend

ENDING = b"""
import atexit, threading, time

def later():
    time.sleep(0.2)
    print("the thread was waited for")

def test_ends():
    atexit.register(print, "what was registered ran")
    threading.Thread(target=later).start()
"""


@pytest.mark.parametrize("score", [False, True])
def test_a_run_ends_as_pythons_own_does(local: Sandbox, score: bool) -> None:
    local.put({"test_end.py": ENDING})
    result = local.test("python -m pytest -q -s test_end.py", 30, b"k" * 32, score=score)
    assert result.exit == 0
    assert "the thread was waited for" in result.output
    assert "what was registered ran" in result.output
    assert "finished" in str(result.report)


MOCKING = b"""
import sys
READY = "unittest.mock" in sys.modules
from unittest import mock

def test_ready():
    assert READY
"""


def test_what_the_files_import_is_ready_where_runs_are_forked_and_not_in_a_verdict() -> None:
    with Sandbox(backend("local"), SandboxSpec()) as sandbox:
        sandbox.prepare()
        sandbox.put({"test_mock.py": MOCKING})
        assert sandbox.test("python -m pytest -q test_mock.py", 30, b"k" * 32, score=False).exit == 0
        assert sandbox.test("python -m pytest -q test_mock.py", 30, b"k" * 32, score=True).exit == 1
