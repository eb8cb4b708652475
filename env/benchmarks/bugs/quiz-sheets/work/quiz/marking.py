# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Marks."""
from __future__ import annotations

from typing import Iterable, List, Tuple

from .questions import Quiz
from .reader import read_sheets


def grade(score: int, best: int) -> str:
    """A from 90 percent, B from 70, C from 50, else D."""
    for letter, percent in (("A", 90), ("B", 70), ("C", 50)):
        if score * 100 >= percent * best:
            return letter
    return "D"


def mark_file(source: Iterable[str], quiz: Quiz) -> List[Tuple[str, int, str]]:
    """Name, points and grade of every participant, best first, else in the order of the file."""
    sheets = read_sheets(source, quiz)
    marks = [(sheet.name, sheet.score, grade(sheet.score, quiz.best)) for sheet in sheets]
    return sorted(marks, key=lambda mark: -mark[1])
