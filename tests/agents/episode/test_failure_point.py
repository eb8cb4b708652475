"""Failure points of trajectories made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stackrank.agents.episode.failure_point import diagnose
from stackrank.agents.episode.milestones import Tracker
from stackrank.agents.episode.step import Step
from stackrank.env.actions import Action, Observation
from stackrank.env.file_diffs import file_diff
from stackrank.env.scoring.judge import Score
from stackrank.env.task import Fault, Task
from stackrank.terms import StopReason
from tests.fixtures.env import make_task

FAULT = Fault("shop/cart.py", ("Cart.total",), (40,))
TASK: Task = make_task({"shop/cart.py": "x = 1\n", "shop/x.py": "", "tests/test_cart.py": ""}, faults=(FAULT,))
FAILING = {"tests": {"passed": 1, "failed": 1, "ids": {}}, "solved": False, "exit": 1}
PASSING = {"tests": {"passed": 2, "failed": 0, "ids": {}}, "solved": True, "exit": 0}
LOOK = ("view", {"path": "shop/cart.py", "lines": [1, 80]})
OTHER = ("view", {"path": "shop/other.py", "lines": [1, 9]})
RUN = ("eval", FAILING)
ELSEWHERE = ("rewrite", {"edited": "shop/cart.py", "lines": [1, 2]})
BESIDE = ("rewrite", {"edited": "shop/x.py", "lines": [40, 40]})
EDIT = ("rewrite", {"edited": "shop/cart.py", "lines": [40, 41]})
UNFIXED = Score(False, unfixed=("t::a",), diff="d")


def trajectory(*steps: tuple[Any, ...], reset: dict[str, Any] = FAILING, task: Task = TASK) -> list[Step]:
    """Steps from (tool, state) or (tool, state, ok)."""
    tracker = Tracker(task)
    seen = [Observation("failing", True, dict(reset))]
    seen += [Observation(f"seen {number}", not ok or ok[0], state) for number, (_, state, *ok) in enumerate(steps, 1)]
    actions = [None, *(Action(tool, {"number": number}) for number, (tool, *_) in enumerate(steps, 1))]
    return [
        Step(number, action, each, progress=tracker.take(number, each))
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
        ([RUN, LOOK, ("rewrite", {**EDIT[1], "syntax_error": "line 3"})], UNFIXED, "submitted", "broke_syntax", 3),
        # What the reset shows was not the agent's doing.
        ([], Score(False), "agent_gave_up", "never_reproduced", 0),
        ([LOOK, EDIT], UNFIXED, "submitted", "never_reproduced", 0),
        ([RUN, OTHER], Score(False), "submitted", "never_localized", 2),
        ([RUN, ("view", {"path": "shop/cart.py"}, False)], Score(False), "submitted", "never_localized", 2),
        ([OTHER], Score(False), "step_limit", "out_of_budget", 1),
        ([RUN, LOOK], Score(False), "submitted", "localized_not_edited", 2),
        ([RUN, LOOK], Score(False), "token_limit", "out_of_budget", 2),
        # Edits that were taken back changed nothing, nor did a file that is no part of the program.
        ([RUN, LOOK, EDIT], Score(False, diff=""), "agent_gave_up", "localized_not_edited", 2),
        ([RUN, LOOK, EDIT], Score(False, diff=""), "step_limit", "out_of_budget", 2),
        ([RUN, LOOK], Score(False, diff=file_diff("try.py", None, b"x\n")), "submitted", "localized_not_edited", 2),
        ([RUN, LOOK, ELSEWHERE], UNFIXED, "submitted", "wrong_location", 3),
        (
            [RUN, LOOK, ("rewrite", {"edited": "shop/x.py", "lines": [40, 40]})],
            UNFIXED,
            "submitted",
            "wrong_location",
            3,
        ),
        ([RUN, LOOK, EDIT, RUN], UNFIXED, "submitted", "wrong_fix", 3),
        ([LOOK, EDIT, RUN], Score(False, regressions=("t::b",), diff="d"), "submitted", "regression", 2),
        ([LOOK, EDIT, RUN], Score(False, unfixed=("a",), regressions=("b",), diff="d"), "submitted", "wrong_fix", 2),
    ],
)
def test_failure_points(steps: list[Any], score: Score, reason: str, point: str, at: int) -> None:
    found = diagnose(TASK, trajectory(*steps), score, StopReason(reason))
    assert (found.failure_point, found.step) == (point, at)


def test_nothing_to_say_about_resolved_and_cancelled() -> None:
    steps = trajectory(LOOK, EDIT, ("eval", PASSING))
    assert diagnose(TASK, steps, Score(True, diff="d"), StopReason.SOLVED).failure_point is None
    assert diagnose(TASK, steps, None, StopReason.CANCELLED).failure_point is None
    assert diagnose(TASK, steps, None, StopReason.CANCELLED).milestones["solved"] == 3


def test_syntax_that_was_mended_again_is_not_held_against_it() -> None:
    steps = trajectory(RUN, LOOK, ("rewrite", {**EDIT[1], "syntax_error": "line 3"}), EDIT)
    assert diagnose(TASK, steps, UNFIXED, StopReason.SUBMITTED).failure_point == "wrong_fix"


def test_looped() -> None:
    steps = trajectory(LOOK)
    same = [Step(2 + n, Action("eval"), Observation("again", True, FAILING)) for n in range(4)]
    found = diagnose(TASK, [*steps, *same], UNFIXED, StopReason.STEP_LIMIT)
    assert (found.failure_point, found.step) == ("looped", 2)
    other = [*same[:2], Step(4, Action("eval"), Observation("other", True, FAILING)), *same[3:]]
    assert diagnose(TASK, [*steps, *other], UNFIXED, StopReason.STEP_LIMIT).failure_point != "looped"


def test_where_the_visible_tests_show_no_bug_nobody_has_to_see_them_fail() -> None:
    hidden = replace(TASK, shows_bug=False)
    steps = trajectory(LOOK, EDIT, reset=PASSING, task=hidden)
    assert diagnose(hidden, steps, UNFIXED, StopReason.SUBMITTED).failure_point == "wrong_fix"


def test_what_stands_at_the_end_says_where_it_was_changed() -> None:
    """An edit of the fault that was taken back does not make an edit elsewhere one of the fault."""
    source = b"".join(b"x%d = 1\n" % number for number in range(90))
    task = make_task({"shop/cart.py": source, "shop/x.py": "y = 1\n"}, faults=(FAULT,))
    elsewhere = Score(False, unfixed=("a",), diff=file_diff("shop/x.py", b"y = 1\n", b"y = 2\n"))
    steps = trajectory(RUN, LOOK, EDIT, EDIT, task=task)
    assert diagnose(task, steps, elsewhere, StopReason.SUBMITTED).failure_point == "wrong_location"
    there = replace(elsewhere, diff=file_diff("shop/cart.py", source, source.replace(b"x40 = 1", b"x40 = 2")))
    assert diagnose(task, steps, there, StopReason.SUBMITTED).failure_point == "wrong_fix"


def test_without_a_known_fix_no_place_is_wrong() -> None:
    unknown = make_task({"a.py": ""})
    steps = trajectory(RUN, ("view", {"path": "a.py"}), ("rewrite", {"edited": "a.py", "lines": [1, 1]}), task=unknown)
    assert diagnose(unknown, steps, UNFIXED, StopReason.SUBMITTED).failure_point == "wrong_fix"
