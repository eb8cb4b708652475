# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Mailings: one letter for each of many people."""
from __future__ import annotations

from typing import Dict, Iterable, List, Mapping, Tuple

from .engine import render
from .fields import names


class Mailing:
    """A letter to many, with values that hold for all of them."""

    def __init__(self, subject: str, body: str, **common: object) -> None:
        self._subject = subject
        self._body = body
        self._common = common

    def letter(self, person: Mapping[str, object]) -> str:
        """The letter to a person, whose own values come before the common ones."""
        values: Dict[str, object] = {**self._common, **person}
        return f"{render(self._subject, values)}\n\n{render(self._body, values)}"

    def lacking(self, people: Iterable[Mapping[str, object]]) -> List[Tuple[int, str]]:
        """The number of each person and the field she lacks."""
        wanted = names(f"{self._subject} {self._body}")
        return [
            (number, name)
            for number, person in enumerate(people)
            for name in wanted
            if name not in person and name not in self._common
        ]
