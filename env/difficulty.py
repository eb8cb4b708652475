"""How hard tasks are: measurements, stored with the tasks or on this machine, and the plug-in that measures."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Task
from stackrank.home import home, write_whole
from stackrank.plugins import load_plugin

GROUP = "stackrank.difficulty"
"""The entry point group of the plug-in `measure`, a function of a task and a sandbox."""
VERSION = 1
"""Changes when new measurements say something else than stored ones."""
_PART = 2.0
"""The most that each part adds to the prediction."""
_EASY, _MEDIUM = 3.0, 5.5


@dataclass(frozen=True, slots=True)
class Difficulty:
    """How hard one task is, as far as it could be measured."""

    digest: str
    """The task's digest."""
    unmeasured: str = ""
    """Why nothing below is known; empty if it is known."""
    test: str = ""
    """The failing test that counts."""
    in_traceback: bool = False
    """Whether a frame of the test's traceback is in a function of the fault, or at a line of it; if the file does not
    parse, at any line of the file.
    """
    in_named_file: bool = False
    """Whether a frame of the test's traceback is in a file of the fault."""
    ranks: dict[str, float | None] = field(default_factory=dict)
    """Formula -> rank of the fault's most suspicious line; None if no test runs it."""
    lines: int = 0
    """How many lines of the program all tests together run; these are the lines that are ranked."""
    lines_run: int = 0
    """How many lines the failing test runs, in addition to those that run at import."""
    functions_run: int = 0
    distance: int | None = None
    """Calls between the last time that the fault ran and the failure; None if it did not run before."""

    @property
    def predicted(self) -> float | None:
        """The predicted difficulty, from 0, seen at once, to 8; None if nothing is known.

        Four parts of 0 to 2 are added, none of which shrinks when the fault is farther away:

        - where the traceback leads: 0 to the fault, 1 to another place of its file, 2 to other files;
        - its rank by Ochiai: log10, so that the 10th line adds 1 and the 100th 2;
        - the lines that the failing test runs: log10 of tens of lines, so that 100 add 1 and 1000 add 2;
        - the calls between fault and failure: log10 of one more, so that 9 add 1 and 99 add 2.

        A fault that nothing runs has the worst rank and distance, unless the traceback leads to it. Wrong changes that
        pass, and whether `repair` solves the task, are not included: they tell about the tests and about an entrant,
        and serve to judge the prediction.
        """
        if self.unmeasured:
            return None
        ochiai_rank = self.ranks.get("ochiai")
        worst = 0.0 if self.in_traceback else _PART
        parts = (
            0.0 if self.in_traceback else 1.0 if self.in_named_file else _PART,
            worst if ochiai_rank is None else math.log10(ochiai_rank),
            math.log10(max(self.lines_run, 10) / 10),
            worst if self.distance is None else math.log10(1 + self.distance),
        )
        return round(sum(min(part, _PART) for part in parts), 2)

    @property
    def label(self) -> str:
        """easy below 3, medium below 5.5, else hard; empty if nothing is known."""
        predicted = self.predicted
        if predicted is None:
            return ""
        return "easy" if predicted < _EASY else "medium" if predicted < _MEDIUM else "hard"

    def document(self) -> dict[str, Any]:
        """Return the measurement as plain data, with prediction and label."""
        fields = asdict(self)
        del fields["digest"]
        return {**fields, "predicted": self.predicted, "label": self.label}

    def dump(self) -> str:
        """Return the measurement as JSON."""
        return json.dumps({"version": VERSION, **asdict(self)}, indent=1) + "\n"


Measure = Callable[[Task, Sandbox], Difficulty]
"""Measures a task in a sandbox that it clears first. Raises SandboxError."""


def load(text: str) -> Difficulty | None:
    """Read what `dump` wrote; None if it has another version."""
    fields = json.loads(text)
    return Difficulty(**fields) if fields.pop("version") == VERSION else None


def find_difficulty(task: Task) -> Difficulty | None:
    """Return the measurement of exactly this task: the one that comes with it, else the one made on this machine."""
    file = _file(task)
    for text in (task.measured, file.read_text(encoding="utf-8") if file.is_file() else ""):
        difficulty = load(text) if text else None
        if difficulty is not None and difficulty.digest == task.digest:
            return difficulty
    return None


def save_difficulty(task: Task, difficulty: Difficulty) -> None:
    """Store a measurement on this machine."""
    write_whole(_file(task), difficulty.dump())


def difficulty_label(task: Task) -> str:
    """Return easy, medium or hard as measured; if the task was not measured, what its author says."""
    difficulty = find_difficulty(task)
    return (difficulty.label if difficulty else "") or task.difficulty


def load_measure() -> Measure | None:
    """Return the function that measures tasks; None if no plug-in provides one. Raises PluginError."""
    measure: Measure | None = load_plugin(GROUP, "measure")
    return measure


def _file(task: Task) -> Path:
    return home() / "difficulty" / f"{task.digest}.json"
