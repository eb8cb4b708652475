"""Failure points of trajectories made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from agents.episode import Step, StopReason
from agents.failure_point import diagnose
from agents.milestones import Tracker
from env.actions import Action, Observation
from env.scoring import Score
from env.task import Fault, Task
from tests.env.conftest import make_task

FAULT = Fault("shop/cart.py", ("Cart.total",), (40,))
TASK: Task = make_task({"shop/cart.py": "x = 1\n", "tests/test_cart.py": ""}, faults=(FAULT,))
FAILING = {"tests": {"passed": 1, "failed": 1, "ids": {}}, "solved": False, "exit": 1}
PASSING = {"tests": {"passed": 2, "failed": 0, "ids": {}}, "solved": True, "exit": 0}
LOOK = ("view", {"path": "shop/cart.py", "lines": [1, 80]})
EDIT = ("rewrite", {"edited": "shop/cart.py", "lines": [40, 41]})
UNFIXED = Score(False, unfixed=("t::a",), diff="d")


def trajectory(*steps: tuple[Any, ...], reset: dict[str, Any] = FAILING, task: Task = TASK) -> list[Step]:
    """Steps from (tool, state) or (tool, state, ok)."""
    tracker = Tracker(task)
    seen = [Observation("failing", True, dict(reset))]
    seen += [Observation(f"seen {number}", not ok or ok[0], state) for number, (_, state, *ok) in enumerate(steps, 1)]
    actions = [None, *(Action(tool, {"number": number}) for number, (tool, *_) in enumerate(steps, 1))]
    return [
        Step(number, action, "", each, progress=tracker.take(number, each))
        for number, (action, each) in enumerate(zip(actions, seen, strict=True))
    ]


@pytest.mark.parametrize(
    ("steps", "score", "reason", "point", "at"),
    [
        # Worse ones first: tampering and nonsense count before anything else that is wrong.
        ([LOOK, EDIT], Score(False, tampered=True, diff="d"), "submitted", "tampered", 2),
        (
            [LOOK, ("", {"malformed": True}), ("", {"malformed": True})],
            UNFIXED,
            "malformed_actions",
            "malformed_actions",
            2,
        ),
        ([LOOK, ("rewrite", {**EDIT[1], "syntax_error": "line 3"})], UNFIXED, "submitted", "broke_syntax", 2),
        ([], Score(False), "agent_gave_up", "never_localized", 0),
        ([("view", {"path": "shop/other.py", "lines": [1, 9]})], Score(False), "submitted", "never_localized", 1),
        ([("view", {"path": "shop/other.py", "lines": [1, 9]})], Score(False), "step_limit", "out_of_budget", 1),
        ([("view", {"path": "shop/cart.py"}, False)], Score(False), "submitted", "never_localized", 1),
        ([("eval", FAILING), LOOK], Score(False), "submitted", "localized_not_edited", 2),
        ([("eval", FAILING), LOOK], Score(False), "token_limit", "out_of_budget", 2),
        # Edits that were taken back were edits.
        ([LOOK, EDIT], Score(False, diff=""), "agent_gave_up", "wrong_fix", 2),
        ([LOOK, EDIT], Score(False, diff=""), "step_limit", "out_of_budget", 1),
        ([LOOK, ("rewrite", {"edited": "shop/cart.py", "lines": [1, 2]})], UNFIXED, "submitted", "wrong_location", 2),
        ([LOOK, ("rewrite", {"edited": "shop/x.py", "lines": [40, 40]})], UNFIXED, "submitted", "wrong_location", 2),
        ([LOOK, EDIT, ("eval", FAILING)], UNFIXED, "submitted", "wrong_fix", 2),
        ([LOOK, EDIT], Score(False, regressions=("t::b",), diff="d"), "submitted", "regression", 2),
        ([LOOK, EDIT], Score(False, unfixed=("a",), regressions=("b",), diff="d"), "submitted", "wrong_fix", 2),
    ],
)
def test_failure_points(steps: list[Any], score: Score, reason: str, point: str, at: int) -> None:
    found = diagnose(TASK, trajectory(*steps), score, StopReason(reason))
    assert (found.failure_point, found.step) == (point, at)


def test_nothing_to_say_about_resolved_and_cancelled() -> None:
    steps = trajectory(LOOK, EDIT, ("eval", PASSING))
    assert diagnose(TASK, steps, Score(True, diff="d"), StopReason.SOLVED).failure_point == ""
    assert diagnose(TASK, steps, None, StopReason.CANCELLED).failure_point == ""
    assert diagnose(TASK, steps, None, StopReason.CANCELLED).milestones["solved"] == 3


def test_syntax_that_was_mended_again_is_not_held_against_it() -> None:
    steps = trajectory(LOOK, ("rewrite", {**EDIT[1], "syntax_error": "line 3"}), EDIT)
    assert diagnose(TASK, steps, UNFIXED, StopReason.SUBMITTED).failure_point == "wrong_fix"


def test_looped() -> None:
    steps = trajectory(LOOK)
    same = [Step(2 + n, Action("eval"), "", Observation("again", True, FAILING)) for n in range(4)]
    found = diagnose(TASK, [*steps, *same], UNFIXED, StopReason.STEP_LIMIT)
    assert (found.failure_point, found.step) == ("looped", 2)
    other = [*same[:2], Step(4, Action("eval"), "", Observation("other", True, FAILING)), *same[3:]]
    assert diagnose(TASK, [*steps, *other], UNFIXED, StopReason.STEP_LIMIT).failure_point != "looped"


def test_never_reproduced() -> None:
    steps = trajectory(LOOK, EDIT, reset={})
    found = diagnose(TASK, steps, UNFIXED, StopReason.SUBMITTED)
    assert (found.failure_point, found.step) == ("never_reproduced", 0)


def test_without_a_known_fix_no_place_is_wrong() -> None:
    unknown = make_task({"a.py": ""})
    steps = trajectory(("view", {"path": "a.py"}), ("rewrite", {"edited": "a.py", "lines": [1, 1]}), task=unknown)
    assert diagnose(unknown, steps, UNFIXED, StopReason.SUBMITTED).failure_point == "wrong_fix"
