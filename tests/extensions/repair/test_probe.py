"""The code that repair runs in a stopped program: how it counts work, and what ends."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from stackrank.extensions.repair import probe
from stackrank.extensions.repair.probe import Meter, rows_of_copy

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
            lines: list[int] = []
            meter = Meter(str(Path.cwd()), 10_000, lambda file, line: lines.append(line))
            meter.start()
            program["total"](count)
            meter.stop()
            return [meter.steps, len(set(lines))]

        answer: list[int] = in_copy(work, NEVER_S)
        return answer

    small, repeated, large = measure(10), measure(10), measure(100)
    assert small == repeated and small[1] == large[1] == 5
    assert large[0] - small[0] == 2 * 90, "two lines for each number"


def test_only_steps_end_an_endless_loop(program: dict[str, FunctionType]) -> None:
    def work() -> str:
        Meter(str(Path.cwd()), 10_000).start()
        program["forever"]()
        return "never"

    assert in_copy(work, NEVER_S) is None


def test_the_clock_ends_what_is_blocked() -> None:
    def work() -> str:
        import threading

        Meter(str(Path.cwd()), 10_000).start()
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
