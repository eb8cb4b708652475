"""Failure points of trajectories made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stackrank.agents.episode.failure_point import diagnose
from stackrank.agents.episode.milestones import MilestoneTracker
from stackrank.agents.episode.step import Step
from stackrank.env.actions import Action, Observation
from stackrank.env.scoring.judge import Score
from stackrank.env.task import Fault, Task
from stackrank.patches.writing import file_diff
from stackrank.terms import StopReason
from tests.agents.episode.edit_states import edit_state
from tests.fixtures.env import make_task

FAULT = Fault("shop/cart.py", ("Cart.total",), (40,))
TASK: Task = make_task({"shop/cart.py": "x = 1\n" * 90, "shop/x.py": "", "tests/test_cart.py": ""}, faults=(FAULT,))
FAILING = {"kind": "tests", "tests": {"passed": 1, "failed": 1, "ids": {}}, "solved": False, "exit": 1}
PASSING = {"kind": "tests", "tests": {"passed": 2, "failed": 0, "ids": {}}, "solved": True, "exit": 0}
LOOK = ("view", {"kind": "shown", "path": "shop/cart.py", "lines": [1, 80]})
OTHER = ("view", {"kind": "shown", "path": "shop/other.py", "lines": [1, 9]})
RUN = ("eval", FAILING)
ELSEWHERE = ("rewrite", edit_state("shop/cart.py", 1, 2))
BESIDE = ("rewrite", edit_state("shop/x.py", 40, 40))
EDIT = ("rewrite", edit_state("shop/cart.py", 40, 41))
UNFIXED = Score(False, unfixed=("t::a",), diff="d")


def trajectory(*steps: tuple[Any, ...], reset: dict[str, Any] = FAILING, task: Task = TASK) -> list[Step]:
    """Steps from (tool, state) or (tool, state, ok)."""
    tracker = MilestoneTracker(task)
    observations = [Observation("failing", True, dict(reset))]
    observations += [
        Observation(f"seen {number}", not ok or ok[0], state) for number, (_, state, *ok) in enumerate(steps, 1)
    ]
    actions = [None, *(Action(tool, {"number": number}) for number, (tool, *_) in enumerate(steps, 1))]
    return [
        Step(number, action, observation, progress=tracker.observe(number, observation))
        for number, (action, observation) in enumerate(zip(actions, observations, strict=True))
    ]


@pytest.mark.parametrize(
    ("steps", "score", "reason", "point", "at"),
    [
        # Worse ones first: tampering and nonsense count before anything else that is wrong.
        ([LOOK, EDIT], Score(False, tampered=True, diff="d"), "submitted", "tampered", 2),
        (
            [LOOK, ("", {"kind": "malformed", "malformed": True}), ("", {"kind": "malformed", "malformed": True})],
            UNFIXED,
            "malformed_actions",
            "malformed_actions",
            2,
        ),
        (
            [RUN, LOOK, ("rewrite", edit_state("shop/cart.py", 40, 41, is_broken=True))],
            UNFIXED,
            "submitted",
            "broke_syntax",
            3,
        ),
        # What the reset shows was not the agent's doing.
        ([], Score(False), "agent_gave_up", "never_reproduced", 0),
        ([LOOK, EDIT], UNFIXED, "submitted", "never_reproduced", 0),
        ([RUN, OTHER], Score(False), "submitted", "never_localized", 2),
        (
            [RUN, ("view", {"kind": "shown", "path": "shop/cart.py"}, False)],
            Score(False),
            "submitted",
            "never_localized",
            2,
        ),
        ([OTHER], Score(False), "step_limit", "out_of_budget", 1),
        ([RUN, LOOK], Score(False), "submitted", "localized_not_edited", 2),
        ([RUN, LOOK], Score(False), "token_limit", "out_of_budget", 2),
        # Edits that were taken back changed nothing, nor did a file that is no part of the program.
        ([RUN, LOOK, EDIT], Score(False, diff=""), "agent_gave_up", "localized_not_edited", 2),
        ([RUN, LOOK, EDIT], Score(False, diff=""), "step_limit", "out_of_budget", 2),
        ([RUN, LOOK], Score(False, diff=file_diff("try.py", None, b"x\n")), "submitted", "localized_not_edited", 2),
        ([RUN, LOOK, ELSEWHERE], UNFIXED, "submitted", "wrong_location", 3),
        (
            [RUN, LOOK, BESIDE],
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
    diagnosis = diagnose(TASK, trajectory(*steps), score, StopReason(reason))
    assert (diagnosis.failure_point, diagnosis.step) == (point, at)


def test_resolved_and_cancelled_episodes_have_no_failure_point() -> None:
    steps = trajectory(LOOK, EDIT, ("eval", PASSING))
    assert diagnose(TASK, steps, Score(True, diff="d"), StopReason.SOLVED).failure_point is None
    assert diagnose(TASK, steps, None, StopReason.CANCELLED).failure_point is None
    assert diagnose(TASK, steps, None, StopReason.CANCELLED).milestones["solved"] == 3


def test_a_repaired_syntax_error_is_not_the_failure_point() -> None:
    steps = trajectory(RUN, LOOK, ("rewrite", edit_state("shop/cart.py", 40, 41, is_broken=True)), EDIT)
    assert diagnose(TASK, steps, UNFIXED, StopReason.SUBMITTED).failure_point == "wrong_fix"


def test_looped() -> None:
    steps = trajectory(LOOK)
    repeated = [Step(2 + n, Action("eval"), Observation("again", True, FAILING)) for n in range(4)]
    diagnosis = diagnose(TASK, [*steps, *repeated], UNFIXED, StopReason.STEP_LIMIT)
    assert (diagnosis.failure_point, diagnosis.step) == ("looped", 2)
    varied = [*repeated[:2], Step(4, Action("eval"), Observation("other", True, FAILING)), *repeated[3:]]
    assert diagnose(TASK, [*steps, *varied], UNFIXED, StopReason.STEP_LIMIT).failure_point != "looped"


def test_without_failing_visible_tests_the_bug_need_not_be_reproduced() -> None:
    hidden = replace(TASK, shows_bug=False)
    steps = trajectory(LOOK, EDIT, reset=PASSING, task=hidden)
    assert diagnose(hidden, steps, UNFIXED, StopReason.SUBMITTED).failure_point == "wrong_fix"


def test_the_final_diff_decides_where_the_program_was_changed() -> None:
    """An undone edit of the fault does not make an edit elsewhere an edit of the fault."""
    source = b"".join(b"x%d = 1\n" % number for number in range(90))
    task = make_task({"shop/cart.py": source, "shop/x.py": "y = 1\n"}, faults=(FAULT,))
    elsewhere = Score(False, unfixed=("a",), diff=file_diff("shop/x.py", b"y = 1\n", b"y = 2\n"))
    steps = trajectory(RUN, LOOK, EDIT, EDIT, task=task)
    assert diagnose(task, steps, elsewhere, StopReason.SUBMITTED).failure_point == "wrong_location"
    at_fault = replace(elsewhere, diff=file_diff("shop/cart.py", source, source.replace(b"x40 = 1", b"x40 = 2")))
    assert diagnose(task, steps, at_fault, StopReason.SUBMITTED).failure_point == "wrong_fix"


def test_without_a_known_fix_no_location_is_wrong() -> None:
    unknown = make_task({"a.py": ""})
    steps = trajectory(
        RUN, ("view", {"kind": "shown", "path": "a.py"}), ("rewrite", edit_state("a.py", 1, 1)), task=unknown
    )
    assert diagnose(unknown, steps, UNFIXED, StopReason.SUBMITTED).failure_point == "wrong_fix"
