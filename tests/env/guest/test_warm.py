"""How the processes of test runs begin and end."""

from __future__ import annotations

import re

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


LEFT_OPEN = b"""
import records

def test_leaves_objects():
    records.log.write("complete")
    assert records.held.partner.partner is records.held
"""
RECORDS = b"""
import os

log = open("log.txt", "w")

class Held:
    def __del__(self):
        print(os.path.basename("finalized/with its globals"))

held, cyclic = Held(), Held()
held.partner, cyclic.partner = cyclic, held
"""


@pytest.mark.parametrize("warm", [True, False])
def test_what_a_shown_run_leaves_open_is_completed_and_finalized(warm: bool) -> None:
    with Sandbox(backend("local"), SandboxSpec()) as sandbox:
        sandbox.put({"test_left.py": LEFT_OPEN, "records.py": RECORDS})
        prefix = "" if warm else "env A=1 "
        shown = sandbox.eval(f"{prefix}python -m pytest -q -s test_left.py", 30, b"k" * 32).result
        assert sandbox.read("log.txt") == b"complete"
    assert shown.exit == 0
    assert shown.output.count("with its globals") == 2 and "Exception ignored" not in shown.output


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


HOOKS = b"""
def pytest_configure(config):
    given = config.invocation_params
    kinds = [type(each).__name__ for each in given.plugins]
    print(given.args[0], given.dir, [name for name in kinds if name != "Prepared"])
    print(sorted((name, type(plugin).__name__) for name, plugin in config.pluginmanager.list_name_plugin()
                 if type(plugin).__name__ == "module"), sorted(vars(config.option).items()))
"""


def seen(sandbox: Sandbox, arguments: str, *, score: bool) -> tuple[int, list[str]]:
    """How a run ends, and what it prints, but for what no two runs have in common."""
    result = sandbox.test(f"python -m pytest {arguments}", 30, b"k" * 32, score=score)
    lines = [line for line in result.output.splitlines() if "Prepared" not in line]
    return result.exit, [re.sub(r"0x[0-9a-f]+|in \d+\.\d+s|\d{6,}|'tbstyle', '\w+'", "", line) for line in lines]


@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "-p no:doctest -pno:cacheprovider --help",
        "--fixtures -v",
        "-p no:cacheprovider --lf",
        "-p no:python",
        "-p",
        "-v -s --tb=native -p no:cacheprovider -p no:doctest test_it.py",
    ],
)
def test_a_run_with_what_is_prepared_is_one_without(local: Sandbox, arguments: str) -> None:
    local.put({"conftest.py": HOOKS, "test_it.py": b"def test_it(tmp_path, capsys, monkeypatch): pass\n"})
    started = seen(local, arguments, score=True)  # and not forked
    for _ in range(2):
        assert seen(local, arguments, score=False) == started


INNER = b"""
import _pytest.config, _pytest.fixtures, inspect, pytest

def test_it(capsys):
    for function in (_pytest.config.get_config, _pytest.fixtures.FixtureManager.parsefactories):
        assert inspect.getsourcefile(function).endswith(("config/__init__.py", "fixtures.py"))
    assert pytest.main(["-q", "-p", "no:cacheprovider", "inner.py"]) == 0
    assert "1 passed" in capsys.readouterr().out
"""


def test_what_is_prepared_serves_one_run_and_leaves_pytest_as_it_was(local: Sandbox) -> None:
    local.put({"test_it.py": INNER, "inner.py": b"def test_inner(tmp_path): assert tmp_path.is_dir()\n"}, fresh=True)
    for _ in range(2):
        result = local.test("python -m pytest -q -p no:cacheprovider test_it.py", 30, b"k" * 32, score=False)
        assert result.exit == 0, result.output
