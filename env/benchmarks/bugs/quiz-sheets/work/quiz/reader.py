# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reading answer sheets.

A sheet is a line `sheet NAME`, a line `room NUMBER`, then one line per question of the quiz.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, List, Tuple

from .lines import Lines
from .questions import Question, Quiz


class TooShort(ValueError):
    """The file ends in the middle of a sheet."""


@dataclass(frozen=True)
class Sheet:
    name: str
    room: int
    answers: Tuple[Tuple[Question, str], ...]

    @property
    def score(self) -> int:
        return sum(question.score(answer) for question, answer in self.answers)


def read_sheets(source: Iterable[str], quiz: Quiz) -> List[Sheet]:
    """All sheets of a file. A file that ends inside a sheet is refused as a whole: TooShort."""
    lines = Lines(source)
    sheets: List[Sheet] = []
    while True:
        try:
            head = lines.take()
        except StopIteration:
            return sheets
        try:
            sheets.append(_sheet(head, lines, quiz))
        except StopIteration:
            raise TooShort(f"file ends too early, in sheet {len(sheets) + 1}") from None


def _sheet(head: str, lines: Lines, quiz: Quiz) -> Sheet:
    word, _, name = head.partition(" ")
    if word != "sheet" or not name:
        raise ValueError(f"line {lines.number}: sheet expected, not {head!r}")

    def answered(question: Question) -> Tuple[Question, str]:
        return question, lines.take()

    place = lines.take().split()
    if len(place) != 2 or place[0] != "room":
        raise ValueError(f"line {lines.number}: room expected")
    return Sheet(name, int(place[1]), tuple(map(answered, quiz.questions)))
