"""Verdicts on labelled changes, made as those of episodes are made."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.patches import apply_patch
from stackrank.env.sandbox.base import GuestBug, spec_for
from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.env.scoring.judge import Score
from stackrank.env.scoring.verdict import NewSandbox, score
from stackrank.env.task import Task
from stackrank.extensions.authoring.rates.changes import LabelledChange
from stackrank.flows.runs.playing.error_policy import describe_error, find_policy

_MOST_TESTS = 5


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict on one change, and what else decides whether it counts."""

    change: LabelledChange
    error: str = ""
    """Why there is no verdict; empty if there is one."""
    resolved: bool = False
    sealed: bool = False
    plausible: bool = True
    """Whether the change passes the visible tests, as far as they ran."""
    proved: bool = True
    """For a wrong change with a witness that is resolved: whether the witness tells it from the known fix."""
    tests: tuple[str, ...] = ()
    """The first tests that fail."""
    notes: tuple[str, ...] = ()
    diff: str = ""

    @property
    def reason(self) -> str:
        """Why the change counts in no rate; empty if it counts."""
        if self.error or self.change.final_label == "right":
            return self.error
        if not self.plausible:
            return "it is wrong, and fails a visible test"
        return "" if self.proved else "its witness shows no difference from the known fix"

    @property
    def counts(self) -> bool:
        """Whether the change counts in a rate."""
        return not self.reason

    @property
    def mistaken(self) -> bool:
        """Whether the verdict is wrong."""
        return self.counts and self.resolved != (self.change.final_label == "right")

    def document(self) -> dict[str, Any]:
        """Return the grade as plain data. Only a change with the wrong verdict has its diff."""
        verdict = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in ("change", "diff") or (field.name == "diff" and self.mistaken)
        }
        return {**self.change.model_dump(exclude_defaults=True, exclude={"diff"}), **verdict, "reason": self.reason}


def grade(task: Task, changes: Sequence[LabelledChange], new_sandbox: NewSandbox) -> list[Grade]:
    """Grade the changes of one task; an infrastructure failure becomes the result of its change only."""
    right = next((change for change in changes if change.final_label == "right"), None)
    return [_grade(task, change, right, new_sandbox) for change in changes]


def _grade(task: Task, change: LabelledChange, right: LabelledChange | None, new_sandbox: NewSandbox) -> Grade:
    try:
        verdict = score(task, change.apply(task), new_sandbox)
        return Grade(
            change,
            resolved=verdict.resolved,
            sealed=bool(verdict.sealed),
            plausible=_passes_visible_tests(task, verdict),
            proved=_is_proved(task, change, right, new_sandbox) if verdict.resolved else True,
            tests=(*verdict.unfixed, *verdict.regressions)[:_MOST_TESTS],
            notes=verdict.notes,
            diff=verdict.diff,
        )
    except Exception as error:
        if find_policy(error).retried or isinstance(error, GuestBug):
            return Grade(change, describe_error(error))
        if isinstance(error, BenchmarkError):
            return Grade(change, str(error))
        raise


def _passes_visible_tests(task: Task, verdict: Score) -> bool:
    failing = (*verdict.unfixed, *verdict.regressions)
    return all(path_of(test) in task.hidden_files for test in failing)


def _is_proved(task: Task, change: LabelledChange, right: LabelledChange | None, new_sandbox: NewSandbox) -> bool:
    """Whether a change's witness, if it has one, prints something else with a program that is right.

    That is the known fix, or a right repair if no fix is known. Raises BenchmarkError if there is neither.
    """
    if not change.witness:
        return True
    if task.fix:
        repaired = apply_patch(task.files, task.fix)
    elif right is not None:
        repaired = _changed(task, right)
    else:
        raise BenchmarkError(f"{task.id} has no known fix: add a right repair, with which witnesses can be compared")
    outputs = []
    with new_sandbox(spec_for(task, warm=False)) as sandbox:
        for files in (_changed(task, change), repaired):
            sandbox.put(files, fresh=True)
            outputs.append(sandbox.run(shlex.join(["python", "-c", change.witness]), task.limits.timeout_s).output)
    return outputs[0] != outputs[1]


def _changed(task: Task, change: LabelledChange) -> dict[str, bytes]:
    """Return the files of a task after a change."""
    changes = change.apply(task)
    return {path: content for path, content in {**task.files, **changes.files}.items() if path not in changes.deleted}
