"""Where an unresolved episode went wrong first: worked out from the trajectory and the known fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from env.scoring import Score
from env.task import Fault, Task

if TYPE_CHECKING:
    from agents.episode import Step, StopReason

NEAR_LINES = 5
"""An edit or a look this close to a faulty line counts as being there."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the trajectory shows."""

    failure_point: str = ""
    """Empty for a resolved episode."""
    step: int | None = None
    """The step the failure point belongs to."""
    milestones: Mapping[str, int] = field(default_factory=dict)
    """Milestone -> index of the step at which it was first reached: reproduced, localized (a faulty file was looked
    at), breakpoint, inspected (a value at the fault), edited (at the fault), improved, solved."""


def diagnose(task: Task, steps: Sequence[Step], score: Score | None, reason: StopReason) -> Diagnosis:
    """The milestones of an episode and, where it was not resolved, its failure point."""
    milestones = find_milestones(task, steps)
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


def find_milestones(task: Task, steps: Sequence[Step]) -> dict[str, int]:
    """Milestone -> step index of its first time."""
    found: dict[str, int] = {}
    best_passed: int | None = None
    for step in steps:
        state = step.observation.state
        for name in _reached(task.faults, step):
            found.setdefault(name, step.index)
        tests = state.get("tests")
        if tests and "solved" in state:
            if tests["failed"]:
                found.setdefault("reproduced", step.index)
            if best_passed is not None and tests["passed"] > best_passed:
                found.setdefault("improved", step.index)
            best_passed = max(best_passed or 0, tests["passed"])
        if state.get("exit") and "solved" in state:
            found.setdefault("reproduced", step.index)
        if state.get("solved"):
            found.setdefault("solved", step.index)
    return found


def _reached(faults: Sequence[Fault], step: Step) -> list[str]:
    state, reached = step.observation.state, []
    for fault in faults:
        if fault.file in (state.get("path"), state.get("edited"), state.get("file")) and step.observation.ok:
            reached.append("localized")
        if state.get("edited") == fault.file and _near(fault, *state.get("lines", [0, 0])):
            reached.append("edited")
        if state.get("file") == fault.file:
            at_fault = _near(fault, state.get("line", 0), state.get("line", 0))
            if at_fault or _in_function(fault, state.get("function", "")):
                reached.append("inspected")
        for point in state.get("breakpoints", []):
            if point["file"] == fault.file and _near(fault, point["line"], point["line"]):
                reached.append("breakpoint")
    return reached


def _near(fault: Fault, first: int, last: int) -> bool:
    return any(first - NEAR_LINES <= line <= last + NEAR_LINES for line in fault.lines)


def _in_function(fault: Fault, function: str) -> bool:
    return any(name == function or name.endswith("." + function) for name in fault.functions)
