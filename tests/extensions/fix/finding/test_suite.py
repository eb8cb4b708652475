"""Which tests run again, and what is said of suites that take long."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.scoring.report import TestReport
from stackrank.extensions.fix.finding import slow_tests
from stackrank.extensions.fix.finding import suite as suite_module
from stackrank.extensions.fix.finding.suite import run_suite
from tests.extensions.fix.opening import opened
from tests.fixtures.env import usable

FILES = {
    "shop.py": "def total(items):\n    return sum(items[1:])\n",
    "test_net.py": "import urllib.request\n\n\ndef test_it():\n    urllib.request.urlopen('http://192.0.2.7/')\n",
    "test_plug_in.py": "def test_it(mocker):\n    pass\n",
    "test_lib.py": "import no_such_library\n",
    "test_shop.py": "from shop import total\n\n\ndef test_it():\n    assert total([2]) == 2\n",
}


@pytest.mark.slow
def test_only_what_may_be_the_fault_of_the_program_runs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_run, ran, lines = suite_module._run, list[Sequence[str]](), list[str]()

    def run(*arguments: Any) -> Any:
        ran.append(arguments[3])
        return real_run(*arguments)

    monkeypatch.setattr(suite_module, "_run", run)
    monkeypatch.setattr(suite_module, "_LONG_S", 0.0)
    suite = run_suite(opened(tmp_path / "p", FILES), usable("bubblewrap"), times=3, say=lines.append)
    assert ran == [(), ["test_shop.py"], ["test_shop.py"]]
    assert set(suite.failing) == {"test_shop.py::test_it"} and suite.not_isolated == ("test_net.py::test_it",)
    assert set(suite.lacking) == {"test_plug_in.py::test_it"} and len(suite.unread) == 1 and not suite.flaky
    assert len(lines) == 1 and "pytest -q -p no:cacheprovider test_shop.py' for what may fail" in lines[0]


@pytest.mark.slow
@pytest.mark.parametrize("timeout_s", [5.0, 60.0])
def test_tests_that_take_most_of_the_time_are_left_out_of_further_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timeout_s: float
) -> None:
    monkeypatch.setattr(suite_module, "_LONG_S", 0.0)
    monkeypatch.setattr(slow_tests, "_SLOW_S", 0.5)
    drawn = """
import time
import pytest

@pytest.mark.parametrize("seconds", [0, 9])
def test_drawn(seconds):
    time.sleep(seconds)

def test_fails():
    time.sleep(0.6)
    assert 0

def test_quick():
    pass
"""
    lines: list[str] = []
    project = opened(
        tmp_path / "p",
        {"test_a.py": drawn, "test_b.py": FILES["test_shop.py"], "shop.py": FILES["shop.py"]},
        timeout_s=timeout_s,
    )
    suite = run_suite(project, usable("bubblewrap"), times=2, say=lines.append)
    assert (
        suite.slow == ("test_a.py::test_drawn[9]",) == tuple(suite.lacking)
        and "a run of" in suite.lacking[suite.slow[0]]
    )
    assert {*suite.failing} == {"test_a.py::test_fails", "test_b.py::test_it"} and not suite.flaky
    assert suite.passing == {"test_a.py::test_drawn[0]", "test_a.py::test_quick"}
    assert "1 test takes most of the time, so further runs leave out test_a.py::test_drawn[9]" in lines[0]


@pytest.mark.parametrize(
    ("outcomes", "seconds", "slow"),
    [
        ({"a::x": "passed", "a::x_more": "passed", "a::y": "passed"}, {"a::x": 50, "a::y": 3}, {"a::x", "a::x_more"}),
        ({"a::x": "passed", "a::x_more": "failed"}, {"a::x": 50}, set()),
        ({"a::x": "failed", "a::y": "passed"}, {"a::x": 50, "a::y": 6}, {"a::y"}),
        ({"a::x": "passed", "a::y": "passed"}, {"a::x": 4, "a::y": 4.5}, set()),
        ({"a::x": "passed", "a::y": "missing", "a::z": "missing"}, {"a::x": 4}, {"a::y"}),
    ],
)
def test_only_passing_tests_are_slow(outcomes: dict[str, str], seconds: dict[str, float], slow: set[str]) -> None:
    unfinished = slow_tests.UnfinishedRun("p", 60.0, TestReport(outcomes), seconds)
    assert {*slow_tests.find_slow(unfinished.report, seconds, 60.0, unfinished.running)} == slow


def test_only_times_that_a_test_can_take_count() -> None:
    records = (
        '{"test": "a::x", "seconds": 2.5}', '{"test": "a::x", "seconds": 1}', '{"test": "a::y", "seconds": 1e999}',
        '{"test": "a::y", "seconds": NaN}', '{"test": ["a::z"], "seconds": 1}', '{"test": "a::z", "seconds": -1}',
        '{"test": "a::z", "seconds": true}', '{"collected": ["a::z"]}', "[" * 100_000, "",
    )  # fmt: skip
    assert slow_tests.seconds_of("\n".join(f"mark {record}" for record in records)) == {"a::x": 3.5}
