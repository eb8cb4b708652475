"""Where an unresolved episode went wrong first: worked out from the trajectory and the known fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stackrank.agents.episode.milestones import MilestoneTracker
from stackrank.agents.episode.step import Step
from stackrank.env.scoring.judge import Score
from stackrank.env.task import Task
from stackrank.terms import FailurePoint, Milestone, StopReason


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """How far an episode came, and where it failed."""

    failure_point: FailurePoint | None = None
    """None for a resolved episode."""
    step: int | None = None
    """The step the failure point belongs to."""
    milestones: Mapping[Milestone, int] = field(default_factory=dict)
    """Milestone -> index of the step at which it was first reached; see `agents.episode.milestones`."""


def diagnose(task: Task, steps: Sequence[Step], score: Score | None, reason: StopReason) -> Diagnosis:
    """Return the milestones of an episode and, if it was not resolved, its failure point.

    Needs only what is stored of an episode, so that old episodes can be diagnosed again.
    """
    tracker = MilestoneTracker(task)
    for step in steps:
        tracker.observe(step.index, step.observation)
    if score is None or score.resolved:
        return Diagnosis(milestones=tracker.reached)
    point, step_index = _failure_point(task, steps, score, reason, tracker)
    return Diagnosis(point, len(steps) - 1 if step_index is None else step_index, tracker.reached)


def _failure_point(
    task: Task, steps: Sequence[Step], score: Score, reason: StopReason, tracker: MilestoneTracker
) -> tuple[FailurePoint, int | None]:
    """Return the failure point and its step; None: the last step."""
    milestones, edits, has_known_fault = tracker.reached, tracker.edits, bool(task.faults)
    if score.tampered:
        return FailurePoint.TAMPERED, tracker.first_touch
    if reason is StopReason.SANDBOX_LOST:
        return FailurePoint.BROKE_SANDBOX, None
    if reason is StopReason.MALFORMED_ACTIONS:
        return FailurePoint.MALFORMED_ACTIONS, _first_malformed(steps)
    if tracker.broken:
        return FailurePoint.BROKE_SYNTAX, min(tracker.broken.values())
    looped = _loop_start(steps)
    if looped is not None:
        return FailurePoint.LOOPED, looped
    at_fault = tracker.changed_at_fault(score.diff)
    has_change = at_fault is not None
    if not has_change and reason.is_limit:
        return FailurePoint.OUT_OF_BUDGET, milestones.get(Milestone.LOCALIZED)
    # If the visible tests show no bug, there is no failure that an agent could certainly have seen.
    if Milestone.REPRODUCED not in milestones and task.shows_bug:
        return FailurePoint.NEVER_REPRODUCED, 0
    if has_known_fault and Milestone.LOCALIZED not in milestones and not at_fault:
        return FailurePoint.NEVER_LOCALIZED, None
    if not has_change:
        return FailurePoint.LOCALIZED_NOT_EDITED, milestones.get(Milestone.LOCALIZED)
    if has_known_fault and not at_fault:
        return FailurePoint.WRONG_LOCATION, edits[0] if edits else None
    last_edit = edits[-1] if edits else None
    if score.regressions and not score.unfixed:
        return FailurePoint.REGRESSION, last_edit
    return FailurePoint.WRONG_FIX, last_edit


def _first_malformed(steps: Sequence[Step]) -> int | None:
    return next((step.index for step in steps if step.observation.state["kind"] == "malformed"), None)


def _loop_start(steps: Sequence[Step], times: int = 4) -> int | None:
    """Return the step from which one action with one observation repeats to the end, at least `times` times."""
    run = 1
    while (
        run < len(steps)
        and steps[-run - 1].action == steps[-1].action
        and (steps[-run - 1].observation.text == steps[-1].observation.text)
    ):
        run += 1
    return steps[-run].index if run >= times else None
