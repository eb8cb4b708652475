"""After which step each of several faults was mended, and what had been used by then.

A fault counts as mended from the last step that changed a file in its folder: since then, its files are those that the
verdict judged. It may have been mended earlier, if a later step changed the same files without need, but never later.
Nothing has to be judged for this but the end, and a fault that was mended for a while and broken again counts as it
ended. A fault that is anywhere in the workspace counts from the last change of any file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stackrank.agents.episode.step import Step, Usage
from stackrank.env.patches import touched_files
from stackrank.env.scoring.judge import FaultScore, Score
from stackrank.env.task import Task


@dataclass(frozen=True, slots=True)
class JudgedFault:
    """The verdict on one of several faults; if it is mended, also when that was done."""

    score: FaultScore
    step: int | None = None
    """The index of the last step that changed its files."""
    usage: Usage | None = None
    """What all steps up to that one used."""


def judged_faults(task: Task, steps: Sequence[Step], score: Score) -> tuple[JudgedFault, ...]:
    """Return the faults of a verdict in the order of the task; empty for a task with one fault."""
    changed = [_changed_files(step) for step in steps]
    used = [Usage()]
    for step in steps[1:]:
        used.append(used[-1] + step.usage)

    folders = {part.name: part.folder for part in task.parts}

    def judged(fault: FaultScore) -> JudgedFault:
        if not fault.mended:
            return JudgedFault(fault)
        folder = folders[fault.name]
        inside = f"{folder}/" if folder else ""
        touching = [index for index, paths in enumerate(changed) if any(path.startswith(inside) for path in paths)]
        last = touching[-1] if touching else len(steps) - 1  # a program that ran on changed it without a step
        return JudgedFault(fault, last, used[last])

    return tuple(map(judged, score.faults))


def _changed_files(step: Step) -> set[str]:
    diff = step.observation.state.get("diff")
    return touched_files(diff) if diff else set()
