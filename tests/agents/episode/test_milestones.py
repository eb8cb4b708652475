"""Milestones and distances to the fault, step by step."""

from __future__ import annotations

from typing import Any

import pytest

from stackrank.agents.episode.milestones import NEAR_LINES, Progress, Tracker
from stackrank.env.actions import Observation
from stackrank.env.sandbox.guest.diffs import file_diff
from stackrank.env.task import Fault, Task
from tests.fixtures.env import make_task

LINES = "".join(f"        x{number} = 1\n" for number in range(97))
SOURCE = f"class Cart:\n    def total(self):\n{LINES}\n\ndef other():\n    pass\n"
FAULT = Fault("shop/cart.py", ("Cart.total",), (40,))
TASK: Task = make_task({"shop/cart.py": SOURCE, "tests/test_cart.py": ""}, faults=(FAULT,))
FAILING = {
    "kind": "tests",
    "timed_out": False,
    "tests": {"passed": 1, "failed": 1, "ids": {}},
    "solved": False,
    "exit": 1,
}
BETTER = {**FAILING, "tests": {"passed": 2, "failed": 1, "ids": {}}}
PASSING = {
    "kind": "tests",
    "timed_out": False,
    "tests": {"passed": 2, "failed": 0, "ids": {}},
    "solved": True,
    "exit": 0,
}


def shown(path: str, *lines: int) -> dict[str, Any]:
    """The state of a step that shows a file."""
    return {"kind": "shown", "path": path, **({"lines": list(lines)} if lines else {})}


def edited(first: int, last: int) -> dict[str, Any]:
    """The state of a step that changes lines of the faulty file."""
    lines = SOURCE.splitlines(keepends=True)
    lines[first - 1 : last] = ["        changed = 1\n"] * (last - first + 1)
    diff = file_diff("shop/cart.py", SOURCE.encode(), "".join(lines).encode())
    return {"kind": "edit", "edited": "shop/cart.py", "lines": [first, last], "diff": diff}


def paused(path: str, line: int, function: str, *breakpoints: dict[str, Any]) -> dict[str, Any]:
    """The state of a step after which the debugger stands at a line."""
    return {**breaking(*breakpoints), "file": path, "line": line, "function": function}


def breaking(*breakpoints: dict[str, Any]) -> dict[str, Any]:
    """The state of a step that sets breakpoints."""
    return {"kind": "debugger", "alive": True, "breakpoints": list(breakpoints)}


def follow(*states: dict[str, Any], task: Task = TASK, reset: dict[str, Any] | None = None) -> list[Progress]:
    """What the steps after the reset add."""
    tracker = Tracker(task)
    assert tracker.take(0, Observation("", True, reset or {})) == Progress()
    return [tracker.take(index, Observation("", True, state)) for index, state in enumerate(states, 1)]


def test_each_milestone_belongs_to_the_step_that_is_the_first_to_reach_it() -> None:
    point = {"file": "shop/cart.py", "line": 40}
    view, edit = shown("shop/cart.py", 1, 80), edited(40, 41)
    in_test = paused("tests/test_cart.py", 1, "", point)
    at_fault = paused("shop/cart.py", 40 + NEAR_LINES, "total", point)
    steps = (FAILING, view, in_test, at_fault, view, edit, edit, BETTER, FAILING, BETTER, PASSING)
    assert [each.milestones for each in follow(*steps)] == [
        ("reproduced",),
        ("localized",),
        ("breakpoint",),
        ("inspected",),
        (),
        ("edited",),
        (),
        ("improved",),
        (),
        (),
        ("solved",),
    ]


def test_the_first_run_of_tests_is_what_others_improve_on() -> None:
    assert [each.milestones for each in follow({}, BETTER, FAILING, BETTER)] == [(), ("reproduced",), (), ()]
    assert [each.milestones for each in follow(BETTER, BETTER, reset=FAILING)] == [("reproduced", "improved"), ()]
    # Under the debugger, tests are told one by one as they end: not a result to compare.
    assert follow(FAILING, {**breaking(), "outcomes": {"t::a": "passed"}, "ended": "finished"})[1].milestones == ()


@pytest.mark.parametrize(
    ("state", "reached"),
    [
        (edited(40 + NEAR_LINES, 90), "edited"),
        (edited(41 + NEAR_LINES, 90), None),
        (edited(1, 40 - NEAR_LINES), "edited"),
        (edited(1, 39 - NEAR_LINES), None),
        (paused("shop/cart.py", 1, "Cart.total"), "inspected"),
        (paused("shop/cart.py", 1, "total"), "inspected"),
        (paused("shop/cart.py", 1, "subtotal"), None),
        (paused("shop/cart.py", 1, ""), None),
        (paused("shop/x.py", 40, "Cart.total"), None),
        (breaking({"file": "shop/cart.py", "line": 90}), "breakpoint"),
        (breaking({"file": "shop/cart.py", "line": 1}), None),
    ],
)
def test_how_near_is_near(state: dict[str, Any], reached: str | None) -> None:
    assert set(follow(state)[0].milestones) - {"localized"} == ({reached} if reached else set())


@pytest.mark.parametrize(
    ("state", "distance"),
    [
        ({}, (None, None)),
        (FAILING, (None, None)),
        (shown("shop/cart.py"), ("file", None)),
        (shown("shop/cart.py", 1, 80), ("line", 0)),
        (shown("shop/cart.py", 1, 38), ("line", 2)),
        (shown("shop/cart.py", 60, 80), ("function", 20)),
        (edited(101, 103), ("file", 61)),
        (paused("shop/cart.py", 90, "Cart.total"), ("function", 50)),
        (paused("shop/cart.py", 103, "other"), ("file", 63)),
        (shown("shop/x.py", 40, 40), ("elsewhere", None)),
    ],
)
def test_distance_to_the_fault(state: dict[str, Any], distance: tuple[str, int | None]) -> None:
    found = follow(state)[0]
    assert (found.distance, found.distance_lines) == distance


def test_what_failed_or_has_no_known_fix_is_at_no_distance() -> None:
    refused = Tracker(TASK).take(1, Observation("no such file", False, shown("shop/cart.py")))
    assert refused == Progress()
    unknown = make_task({"a.py": ""})
    assert follow(shown("a.py", 1, 1), task=unknown) == [Progress()]


def test_the_nearest_of_several_faults_counts() -> None:
    two = make_task({}, faults=(FAULT, Fault("shop/cart.py", ("other",), (103,)), Fault("a.py", (), (1,))))
    assert follow(shown("shop/cart.py", 90, 95), task=two)[0].distance_lines == 8
    assert follow(shown("a.py", 1, 1), task=two)[0].distance == "line"
