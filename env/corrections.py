"""Corrections of test lists that were made elsewhere: what a validation on this machine found, in stackrank's home.

SWE-bench's lists come from its own images. In another environment some tests behave differently. A test that should
start to pass with the fix, or go on passing with it, but does not, says nothing about an agent. It is dropped, with a
note.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from stackrank.env.scoring.judge import Score
from stackrank.env.scoring.report import PASSED, outcome_of
from stackrank.env.task import Task
from stackrank.home import home, write_whole


def _file(task: Task) -> Path:
    return home() / "corrections" / f"{task.digest}.json"


def corrected(task: Task) -> Task:
    """Return the task without the tests that a validation on this machine dropped."""
    if not task.lists_from_elsewhere:
        return task
    try:
        dropped = json.loads(_file(task).read_text(encoding="utf-8"))["dropped"]
    except FileNotFoundError:
        return task
    return replace(task, dropped=tuple(dropped))


def save_correction(task: Task, dropped: tuple[str, ...]) -> None:
    """Store which tests a validation dropped; if it dropped none, store nothing."""
    file = _file(task)
    if not dropped:
        file.unlink(missing_ok=True)
        return
    write_whole(file, json.dumps({"task": task.id, "dropped": list(dropped)}))


def find_corrections(task: Task, unfixed: Score, fixed: Score) -> tuple[str, ...]:
    """Return the ids in the task's lists that do not behave here as they should, given the scores of both states."""
    never = [test for test in task.fail_to_pass if outcome_of(test, unfixed.tests) in PASSED]
    still = [test for test in task.fail_to_pass if outcome_of(test, fixed.tests) not in PASSED]
    lost = [test for test in task.pass_to_pass if outcome_of(test, fixed.tests) not in (*PASSED, "skipped")]
    return tuple(dict.fromkeys([*never, *still, *lost]))
