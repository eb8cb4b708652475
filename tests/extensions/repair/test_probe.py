"""The code that repair runs in a stopped program: how it counts work, and what ends."""

from __future__ import annotations

import gc
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from stackrank.extensions.repair import probe
from stackrank.extensions.repair.probe import count_steps, rows_of_copy
from tests.support.packages import pip
from tests.support.repository import write

PROGRAM = """
def total(count):
    result = 0
    for number in range(count):
        result += number
    return result

def forever():
    while True:
        pass
"""
NEVER_S = 600.0


def in_copy(work: Callable[[], Any], patience_s: float) -> Any:
    """Return the result of `work` from a forked copy of this process; None if the copy dies, or is blocked so long."""
    return next(iter(rows_of_copy(lambda: [work()], patience_s)[0]), None)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, FunctionType]:
    """The functions of a program in the working directory."""
    monkeypatch.chdir(tmp_path)
    functions: dict[str, FunctionType] = {}
    exec(compile(PROGRAM, str(tmp_path / "program.py"), "exec"), functions)
    return functions


def test_steps_are_the_same_in_every_run_and_grow_with_the_work(program: dict[str, FunctionType]) -> None:
    def measure(count: int) -> list[int]:
        def work() -> list[int]:
            hits: set[tuple[str, int]] = set()
            stop = count_steps(str(Path.cwd()), 10_000, hits)
            program["total"](count)
            return [stop(), len(hits)]

        answer: list[int] = in_copy(work, NEVER_S)
        return answer

    small, repeated, large = measure(10), measure(10), measure(100)
    assert small == repeated and small[1] == large[1] == 5
    assert large[0] - small[0] == 2 * 90, "two lines for each number"


def test_only_steps_end_an_endless_loop(program: dict[str, FunctionType]) -> None:
    def work() -> str:
        count_steps(str(Path.cwd()), 10_000)
        program["forever"]()
        return "never"

    assert in_copy(work, NEVER_S) is None


def test_the_clock_ends_what_is_blocked() -> None:
    def work() -> str:
        import threading

        count_steps(str(Path.cwd()), 10_000)
        threading.Event().wait()
        return "never"

    assert in_copy(work, 0.2) is None


def test_a_loop_inside_c_code_is_ended_by_the_processor_time_that_it_uses() -> None:
    assert in_copy(lambda: sum(itertools.repeat(0)), 0.1) is None


def test_what_takes_long_and_works_is_not_blocked() -> None:
    """Work for longer than the patience, and less than the processor time that it may use."""

    def work() -> str:
        while time.process_time() < 1.5:  # of the copy
            sum(range(10_000))
        return "done"

    assert in_copy(work, 1.0) == "done"


def test_functions_are_found_although_something_has_frozen_them(
    program: dict[str, FunctionType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "_LIVING", {})
    gc.freeze()
    try:
        living = probe.functions_of(str(Path("program.py").resolve()))
    finally:
        gc.unfreeze()
    assert living == {("total", 2): [program["total"]], ("forever", 8): [program["forever"]]}


SHOP = "def total(prices):\n    return sum(prices[1:])\n"
TEST_SHOP = """
from shop import total

def test_none():
    assert total([]) == 0

def test_one():
    assert total([3]) == 3

def test_two():
    assert total([3, 4]) == 7
"""
PLUG_IN = """
import json
import _pytest.runner as runner
import pytest
from stackrank.extensions.repair import probe

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    original, calls = runner.call_and_report, {item: {}}

    def call_and_report(item, when, log=True, **options):
        hook = getattr(item.ihook, "pytest_runtest_" + when)
        call = runner.CallInfo.from_call(lambda: hook(item=item, **options), when=when)
        calls[item][when] = call
        report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        if log:
            item.ihook.pytest_runtest_logreport(report=report)
        if runner.check_interactive_exception(call, report):
            item.ihook.pytest_exception_interact(node=item, call=call, report=report)
        return report

    runner.call_and_report = call_and_report
    try:
        runner.pytest_runtest_protocol(item, nextitem)
    finally:
        runner.call_and_report = original
    return True

def pytest_exception_interact(node):
    failing = ["test_shop.py::test_one", "test_shop.py::test_two"]
    changes = [["shop.py", [[41, 42, "0"]], []], ["shop.py", [[41, 42, "2"]], []]]
    answer = probe.spectrum(["shop.py"], failing)
    trials = probe.trials(changes, failing, answer["effort"], answer["steps"], answer["kept"])
    print("answer:", json.dumps([answer["lines"], trials["results"]]))
"""
"""Runs tests as the plug-in flaky does, and asks the probe where a test fails."""


def test_a_plug_in_that_runs_tests_itself_does_not_disturb_the_probe(tmp_path: Path) -> None:
    write(tmp_path, {"shop.py": SHOP, "test_shop.py": TEST_SHOP, "conftest.py": PLUG_IN})
    command = [sys.executable, "-m", "pytest", "-s", "-x", "-p", "no:cacheprovider"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    lines, results = json.loads(printed.partition("answer:")[2].partition("\n")[0])
    assert lines == {"shop.py": [[1, 2, 1], [2, 2, 1]]} and results == [[2, 0], 0]


MANY = """
import json
from stackrank.extensions.repair import probe
from shop import total
import pytest

@pytest.mark.parametrize("count", range(12))
def test_total(count):
    with open("run.txt", "a") as file:
        file.write(f"{count} ")
    assert total([1, count]) == 1 + count
"""
MANY_PLUG_IN = """
import json, os
from stackrank.extensions.repair import probe

def pytest_exception_interact(node):
    failing = [item.nodeid for item in node.session.items]
    changes = [["shop.py", [[41, 42, text]], []] for text in ("2", "0")]
    ran = []
    for change in changes:
        os.path.exists("run.txt") and os.remove("run.txt")
        result = probe.trials([change], failing, 1, 20_000, [])["results"][0]
        ran.append([result, sorted(map(int, open("run.txt").read().split()))])
    print("answer:", json.dumps(ran))
"""


def test_of_many_failing_tests_a_few_say_whether_a_change_is_worth_a_try(tmp_path: Path) -> None:
    write(tmp_path, {"shop.py": SHOP, "test_shop.py": MANY, "conftest.py": MANY_PLUG_IN})
    command = [sys.executable, "-m", "pytest", "-s", "-x", "-p", "no:cacheprovider"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    useless, useful = json.loads(printed.partition("answer:")[2].partition("\n")[0])
    assert useless == [0, [0, 1, 3, 6, 9]]
    assert useful == [[12, 0], list(range(12))]


DRAWN = """
import hypothesis, json, os
from hypothesis import given, settings, strategies
from stackrank.extensions.repair import probe

if os.environ["QUICK"]:
    probe.skip_shrinking()
runs = []

@settings(database=None, deadline=None, max_examples=40)
@given(strategies.lists(strategies.text(), min_size=3))
def test_wrong(words):
    runs.append(words)
    assert sorted(words) == words

@given(strategies.integers())
@settings(database=None)
def test_right(number):
    runs.append(number)
    assert settings(max_examples=number % 7 + 1).max_examples == number % 7 + 1

def test_end():
    failing = sum(isinstance(run, list) for run in runs)
    print("answer:", json.dumps([failing, len(runs) - failing]))
"""


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("version", ["", "==6.60.0"])
def test_hypothesis_looks_for_no_smaller_example_of_a_failure(tmp_path: Path, version: str) -> None:
    pip("install", "-q", "--target", tmp_path / "packages", f"hypothesis{version}")
    write(tmp_path, {"test_drawn.py": DRAWN})
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "--hypothesis-seed=1", "test_drawn.py"]
    runs = []
    for quick in ("", "1"):
        variables = {**os.environ, "PYTHONPATH": str(tmp_path / "packages"), "QUICK": quick}
        ran = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
        assert "1 failed, 2 passed" in ran.stdout, ran.stdout
        runs.append(json.loads(ran.stdout.partition("answer:")[2].partition("\n")[0]))
    (shrunk, passing), (quick_failing, passing_too) = runs
    assert passing == passing_too == 100 and 0 < quick_failing < shrunk
