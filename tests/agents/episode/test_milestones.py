"""Milestones and distances to the fault, step by step."""

from __future__ import annotations

from typing import Any

import pytest

from stackrank.agents.episode.milestones import NEAR_LINES, MilestoneTracker, Progress
from stackrank.env.actions import Observation
from stackrank.env.task import Fault, Task
from tests.agents.episode.edit_states import edit_state
from tests.fixtures.env import make_task

LINES = "".join(f"        x{number} = 1\n" for number in range(97))
SOURCE = f"class Cart:\n    def total(self):\n{LINES}\n\ndef other():\n    pass\n"
FAULT = Fault("shop/cart.py", ("Cart.total",), (40,))
TASK: Task = make_task({"shop/cart.py": SOURCE, "tests/test_cart.py": ""}, faults=(FAULT,))
FAILING = {"kind": "tests", "tests": {"passed": 1, "failed": 1, "ids": {}}, "solved": False, "exit": 1}
BETTER = {**FAILING, "tests": {"passed": 2, "failed": 1, "ids": {}}}
PASSING = {"kind": "tests", "tests": {"passed": 2, "failed": 0, "ids": {}}, "solved": True, "exit": 0}


def follow(*states: dict[str, Any], task: Task = TASK, reset: dict[str, Any] | None = None) -> list[Progress]:
    """What the steps after the reset add."""
    tracker = MilestoneTracker(task)
    assert tracker.observe(0, Observation("", True, reset or {})) == Progress()
    return [tracker.observe(index, Observation("", True, state)) for index, state in enumerate(states, 1)]


def saw(event: str, file: str, line: int, function: str = "") -> dict[str, Any]:
    """The state of a tool that saw one event."""
    return {"debug_events": [{"event": event, "file": file, "line": line, "function": function}]}


def test_each_milestone_belongs_to_the_step_that_is_the_first_to_reach_it() -> None:
    at_fault = saw("paused", "shop/cart.py", 40 + NEAR_LINES, "total")
    point = saw("watched", "shop/cart.py", 40)
    view, edit = {"kind": "shown", "path": "shop/cart.py", "lines": [1, 80]}, edit_state("shop/cart.py", 40, 41)
    paused = {"debug_events": point["debug_events"] + saw("paused", "tests/test_cart.py", 1)["debug_events"]}
    steps = (FAILING, view, paused, at_fault, view, edit, edit, BETTER, FAILING, BETTER, PASSING)
    assert [progress.milestones for progress in follow(*steps)] == [
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
    assert [progress.milestones for progress in follow({}, BETTER, FAILING, BETTER)] == [(), ("reproduced",), (), ()]
    assert [progress.milestones for progress in follow(BETTER, BETTER, reset=FAILING)] == [
        ("reproduced", "improved"),
        (),
    ]
    # Under the debugger, tests are reported one by one as they end: not a result to compare.
    assert follow(FAILING, {"kind": "debugger", "outcomes": {"t::a": "passed"}})[1].milestones == ()


@pytest.mark.parametrize(
    ("state", "milestone"),
    [
        (edit_state("shop/cart.py", 40 + NEAR_LINES, 90), "edited"),
        (edit_state("shop/cart.py", 41 + NEAR_LINES, 90), None),
        (edit_state("shop/cart.py", 1, 40 - NEAR_LINES), "edited"),
        (edit_state("shop/cart.py", 1, 39 - NEAR_LINES), None),
        (saw("paused", "shop/cart.py", 1, "Cart.total"), "inspected"),
        (saw("paused", "shop/cart.py", 1, "total"), "inspected"),
        (saw("paused", "shop/cart.py", 1, "subtotal"), None),
        (saw("paused", "shop/cart.py", 1, ""), None),
        (saw("paused", "shop/x.py", 40, "Cart.total"), None),
        (saw("watched", "shop/cart.py", 90), "breakpoint"),
        (saw("watched", "shop/cart.py", 1), None),
    ],
)
def test_the_distance_at_which_a_place_is_near_a_fault(state: dict[str, Any], milestone: str | None) -> None:
    assert set(follow(state)[0].milestones) - {"localized"} == ({milestone} if milestone else set())


@pytest.mark.parametrize(
    ("state", "distance"),
    [
        ({}, (None, None)),
        (FAILING, (None, None)),
        ({"kind": "shown", "path": "shop/cart.py"}, ("file", None)),
        ({"kind": "shown", "path": "shop/cart.py", "lines": [1, 80]}, ("line", 0)),
        ({"kind": "shown", "path": "shop/cart.py", "lines": [1, 38]}, ("line", 2)),
        ({"kind": "shown", "path": "shop/cart.py", "lines": [60, 80]}, ("function", 20)),
        (edit_state("shop/cart.py", 101, 103), ("file", 61)),
        (saw("paused", "shop/cart.py", 90, "Cart.total"), ("function", 50)),
        (saw("paused", "shop/cart.py", 103, "other"), ("file", 63)),
        ({"kind": "shown", "path": "shop/x.py", "lines": [40, 40]}, ("elsewhere", None)),
    ],
)
def test_distance_to_the_fault(state: dict[str, Any], distance: tuple[str, int | None]) -> None:
    progress = follow(state)[0]
    assert (progress.distance, progress.distance_lines) == distance


def test_failed_steps_and_unknown_fixes_have_no_distance() -> None:
    refused = MilestoneTracker(TASK).observe(
        1, Observation("no such file", False, {"kind": "shown", "path": "shop/cart.py"})
    )
    assert refused == Progress()
    unknown = make_task({"a.py": ""})
    assert follow({"kind": "shown", "path": "a.py", "lines": [1, 1]}, task=unknown) == [Progress()]


def test_the_nearest_of_several_faults_counts() -> None:
    two = make_task({}, faults=(FAULT, Fault("shop/cart.py", ("other",), (103,)), Fault("a.py", (), (1,))))
    assert follow({"kind": "shown", "path": "shop/cart.py", "lines": [90, 95]}, task=two)[0].distance_lines == 8
    assert follow({"kind": "shown", "path": "a.py", "lines": [1, 1]}, task=two)[0].distance == "line"
