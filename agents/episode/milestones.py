"""How far an episode has come, worked out step by step as it is played: milestones, and how near the fault it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from stackrank.agents.episode.evidence import NEAR_LINES, CodeRange, Evidence, EvidenceReader
from stackrank.env.actions import Observation
from stackrank.env.patches import function_spans
from stackrank.env.state import State
from stackrank.env.task import Fault, Task
from stackrank.terms import Distance, Milestone


@dataclass(frozen=True, slots=True)
class Progress:
    """What one step adds."""

    milestones: tuple[Milestone, ...] = ()
    """The milestones that this step is the first to reach."""
    distance: Distance | None = None
    """How near the step came to the known fault; `line`: within NEAR_LINES of a faulty line. None if the step was at
    no place, or if no fault is known."""
    distance_lines: int | None = None
    """Lines to the nearest faulty line in a file that the step was in; None if it was in other files only."""


class MilestoneTracker:
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
        self._reader = EvidenceReader(task)
        self._passed: int | None = None
        self._total: int | None = None
        self.reached: dict[Milestone, int] = {}
        """Milestone -> index of the step that was the first to reach it."""
        self.first_touch: int | None = None
        """Index of the first step that changed any file."""
        self.edits: list[int] = []
        """Indices of the steps that changed the program."""
        self.broken: dict[str, int] = {}
        """File that parsed at first and does not now -> index of the step that broke it."""

    def observe(self, index: int, observation: Observation) -> Progress:
        """Take the observation of step `index`; return what it adds. The reset (0) reaches no milestone."""
        if index == 0:
            self._passed, self._total = self._reader.learn(observation)
            return Progress()
        evidence = self._reader.read(observation)
        if evidence.touched and self.first_touch is None:
            self.first_touch = index
        if evidence.edited:
            self.edits.append(index)
        for file in evidence.intact:
            self.broken.pop(file, None)
        for file in evidence.broken:
            self.broken.setdefault(file, index)
        milestones = [*self._at_fault(evidence), *self._of_tests(evidence, observation.state)]
        new = [name for name in dict.fromkeys(milestones) if name not in self.reached]
        self.reached |= dict.fromkeys(new, index)
        return Progress(tuple(new), *self._distance(evidence))

    @property
    def passing(self) -> float | None:
        """The largest share of the visible tests that passed in one run so far. None: unknown."""
        return None if self._passed is None or not self._total else min(self._passed / self._total, 1.0)

    def changed_at_fault(self, diff: str) -> bool | None:
        """Whether a diff against the task's files changes the program at a fault. None: it does not change the program.

        If the diff is not empty but names no file, the changes that the steps made decide.
        """
        changed = self._reader.changed_in(diff)
        if diff and not changed:
            return Milestone.EDITED in self.reached
        places = [place for place in changed if self._reader.is_program(place.file)]
        return any(self._near(place, unknown=True) for place in places) if places else None

    def _at_fault(self, evidence: Evidence) -> Iterator[Milestone]:
        edited = any(self._near(place, unknown=True) for place in evidence.edited)
        inspected = any(
            self._near(place) or self._in_function(place) or self._inside(place) for place in evidence.paused
        )
        if edited or inspected or any(map(self._near, evidence.displayed)):
            yield Milestone.LOCALIZED
        if any(self._near(place) or self._inside(place) for place in evidence.breakpoints):
            yield Milestone.BREAKPOINT
        if inspected:
            yield Milestone.INSPECTED
        if edited:
            yield Milestone.EDITED

    def _of_tests(self, evidence: Evidence, state: State) -> Iterator[Milestone]:
        if evidence.failed:
            yield Milestone.REPRODUCED
        tests = evidence.tests
        all_run = tests is not None and self._total is not None and sum(tests) == self._total
        if tests is not None and (state["kind"] == "tests" or all_run):
            if self._passed is not None and tests.passed > self._passed:
                yield Milestone.IMPROVED
            self._passed = max(self._passed or 0, tests.passed)
        if state["solved"] if state["kind"] == "tests" else all_run and tests is not None and not tests.failed:
            yield Milestone.SOLVED

    def _distance(self, evidence: Evidence) -> tuple[Distance | None, int | None]:
        """Return how near a fault the step looked, edited, or paused, also in lines."""
        places = (*evidence.displayed, *evidence.paused, *evidence.edited)
        if not places or not self._faults:
            return None, None
        best, lines_best = Distance.ELSEWHERE, None
        for fault, place in product(self._faults, places):
            if fault.file != place.file:
                continue
            away = _away(fault, place)
            distance = Distance.LINE if away is not None and away <= NEAR_LINES else Distance.FILE
            if distance is Distance.FILE and (self._in_function(place) or self._inside(place)):
                distance = Distance.FUNCTION
            best = min(best, distance, key=list(Distance).index)
            lines_best = min((n for n in (lines_best, away) if n is not None), default=None)
        return best, lines_best

    def _near(self, place: CodeRange, *, unknown: bool = False) -> bool:
        """Whether a place is within NEAR_LINES of a fault; `unknown`: the answer if its lines are not known."""
        for fault in self._faults:
            away = _away(fault, place)
            if fault.file == place.file and (unknown if away is None else away <= NEAR_LINES):
                return True
        return False

    def _in_function(self, place: CodeRange) -> bool:
        """Whether the function that a place names is faulty."""
        return any(
            fault.file == place.file and any(f".{name}".endswith(f".{place.function}") for name in fault.functions)
            for fault in self._faults
            if place.function
        )

    def _inside(self, place: CodeRange) -> bool:
        """Whether a place overlaps the original lines of a faulty function."""
        if place.lines is None:
            return False
        first, last = place.lines
        spans = [span for fault in self._faults if fault.file == place.file for span in self._spans[fault]]
        return any(start <= last and first <= end for start, end in spans)


def _away(fault: Fault, place: CodeRange) -> int | None:
    """Return the distance in lines from a place to the nearest faulty line; None if it is unknown."""
    if place.lines is None:
        return None
    first, last = place.lines
    return min((max(first - line, line - last, 0) for line in fault.lines), default=None)
