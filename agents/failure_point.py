"""Where an unresolved episode went wrong first: worked out from the trajectory and the known fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from env.scoring import Score
from env.task import Task

if TYPE_CHECKING:
    from agents.episode import Step, StopReason


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the trajectory shows."""

    failure_point: str = ""
    """Empty for a resolved episode."""
    step: int | None = None
    """The step the failure point belongs to."""
    milestones: Mapping[str, int] = field(default_factory=dict)
    """Milestone -> index of the step at which it was first reached; see `agents.milestones`."""


def diagnose(task: Task, steps: Sequence[Step], score: Score | None, reason: StopReason) -> Diagnosis:
    """The milestones of an episode and, where it was not resolved, its failure point."""
    milestones = {name: step.index for step in steps for name in step.progress.milestones}
    if score is None or score.resolved:
        return Diagnosis(milestones=milestones)
    last = len(steps) - 1
    point, step = _failure_point(steps, score, str(reason), milestones, bool(task.faults))
    return Diagnosis(point, last if step is None else step, milestones)


def _failure_point(
    steps: Sequence[Step], score: Score, reason: str, milestones: Mapping[str, int], known: bool
) -> tuple[str, int | None]:
    if score.tampered:
        return "tampered", _first(steps, lambda step: "edited" in step.observation.state)
    if reason == "malformed_actions":
        return "malformed_actions", _first(steps, lambda step: bool(step.observation.state.get("malformed")))
    broken = _first(steps, lambda step: bool(step.observation.state.get("syntax_error")))
    edits = [step for step in steps if "edited" in step.observation.state]
    if edits and edits[-1].observation.state.get("syntax_error"):
        return "broke_syntax", broken
    looped = _loop_start(steps)
    if looped is not None:
        return "looped", looped
    if "reproduced" not in milestones:
        return "never_reproduced", 0
    if known and "localized" not in milestones:
        return ("out_of_budget" if _ran_out(reason) and not edits else "never_localized"), None
    taken_back = not score.diff
    if not edits or (taken_back and _ran_out(reason)):
        return ("out_of_budget" if _ran_out(reason) else "localized_not_edited"), milestones.get("localized")
    if known and "edited" not in milestones:
        return "wrong_location", edits[0].index
    if score.regressions and not score.unfixed:
        return "regression", edits[-1].index
    return "wrong_fix", edits[-1].index


def _ran_out(reason: str) -> bool:
    return reason in ("step_limit", "token_limit", "cost_limit", "time_limit")


def _first(steps: Sequence[Step], holds: Any) -> int | None:
    return next((step.index for step in steps if holds(step)), None)


def _loop_start(steps: Sequence[Step], times: int = 4) -> int | None:
    """Where the episode's end repeats one action with one observation at least `times` times."""
    run = 1
    while (
        run < len(steps)
        and steps[-run - 1].action == steps[-1].action
        and (steps[-run - 1].observation.text == steps[-1].observation.text)
    ):
        run += 1
    return steps[-run].index if run >= times else None
