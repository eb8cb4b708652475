"""How far an episode has come, worked out step by step as it is played: milestones, and how near the fault it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from env.actions import Observation
from env.patches import function_spans
from env.task import Fault, Task

NEAR_LINES = 5
"""An edit or a look this close to a faulty line counts as being there."""
_DISTANCES = ("line", "function", "file", "elsewhere")


@dataclass(frozen=True, slots=True)
class Progress:
    """What one step adds."""

    milestones: tuple[str, ...] = ()
    """Those that this step is the first to reach: reproduced, localized (a faulty file was looked at), breakpoint (in
    a faulty function), inspected (the debugger paused there), edited (at the fault), improved (more tests pass),
    solved."""
    distance: str = ""
    """How near the step came to the known fault: `line` (within NEAR_LINES of one), `function`, `file`, `elsewhere`;
    empty where it was nowhere, or where no fault is known."""
    distance_lines: int | None = None
    """Lines to the nearest faulty line of the file it was in; None in other files."""


class Tracker:
    """Takes an episode's observations one after another. Not thread-safe."""

    def __init__(self, task: Task) -> None:
        """`task`: its faults say where the known fix changes the files."""
        self._faults = task.faults
        self._spans = {
            fault: [
                (first, last)
                for name, first, last in function_spans(task.files.get(fault.file, b""))
                if name in fault.functions
            ]
            for fault in task.faults
        }
        self._passed: int | None = None
        self.found: dict[str, int] = {}
        """Milestone -> index of the step that was the first to reach it."""

    def take(self, index: int, observation: Observation) -> Progress:
        """What the step `index` adds to what was taken before."""
        reached = [*self._at_fault(observation), *self._of_tests(observation.state)]
        new = [name for name in dict.fromkeys(reached) if name not in self.found]
        self.found |= dict.fromkeys(new, index)
        return Progress(tuple(new), *self._distance(observation))

    def _at_fault(self, observation: Observation) -> Iterator[str]:
        state = observation.state
        for fault in self._faults:
            if observation.ok and fault.file in (state.get("path"), state.get("edited"), state.get("file")):
                yield "localized"
            if state.get("edited") == fault.file and _near(fault, *state.get("lines", [0, 0])):
                yield "edited"
            if state.get("file") == fault.file:
                line = state.get("line", 0)
                if _near(fault, line, line) or _in_function(fault, state.get("function", "")):
                    yield "inspected"
            for point in state.get("breakpoints", []):
                line = point["line"]
                if point["file"] == fault.file and (_near(fault, line, line) or self._inside(fault, line, line)):
                    yield "breakpoint"

    def _of_tests(self, state: Mapping[str, Any]) -> Iterator[str]:
        if "solved" not in state:
            return
        tests = state.get("tests")
        if state.get("exit") or (tests and tests["failed"]):
            yield "reproduced"
        if tests:
            if self._passed is not None and tests["passed"] > self._passed:
                yield "improved"
            self._passed = max(self._passed or 0, tests["passed"])
        if state["solved"]:
            yield "solved"

    def _distance(self, observation: Observation) -> tuple[str, int | None]:
        """The nearest of the places that the step looked at, edited, or paused at."""
        places = list(_places(observation))
        if not places or not self._faults:
            return "", None
        best, lines_best = "elsewhere", None
        for file, lines, function in places:
            for fault in self._faults:
                if fault.file != file:
                    continue
                away = None if lines is None else _away(fault, *lines)
                near = "line" if away is not None and away <= NEAR_LINES else "file"
                if near == "file" and (_in_function(fault, function) or (lines and self._inside(fault, *lines))):
                    near = "function"
                best = min(best, near, key=_DISTANCES.index)
                lines_best = min((n for n in (lines_best, away) if n is not None), default=None)
        return best, lines_best

    def _inside(self, fault: Fault, first: int, last: int) -> bool:
        """Whether lines overlap a faulty function, as it was at first."""
        return any(start <= last and first <= end for start, end in self._spans[fault])


def _places(observation: Observation) -> Iterator[tuple[str, tuple[int, int] | None, str]]:
    """(file, first and last line where known, function where known)."""
    state = observation.state
    if not observation.ok:
        return
    if state.get("file"):
        line = state.get("line", 0)
        yield state["file"], (line, line), state.get("function", "")
    for name in ("edited", "path"):
        if state.get(name):
            lines = state.get("lines")
            yield state[name], (lines[0], lines[1]) if lines else None, ""


def _away(fault: Fault, first: int, last: int) -> int | None:
    return min((max(first - line, line - last, 0) for line in fault.lines), default=None)


def _near(fault: Fault, first: int, last: int) -> bool:
    away = _away(fault, first, last)
    return away is not None and away <= NEAR_LINES


def _in_function(fault: Fault, function: str) -> bool:
    return any(name == function or name.endswith("." + function) for name in fault.functions)
