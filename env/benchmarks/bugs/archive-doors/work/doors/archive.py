# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The archive."""
from __future__ import annotations

from typing import List

from doors.decide import decide
from doors.paths import parse_path
from doors.people import People
from doors.rules import Rule


class Archive:
    """Documents, rules and people."""

    def __init__(self, rules: List[Rule], people: People) -> None:
        self._rules = rules
        self._people = people
        self._documents: List[str] = []

    def file(self, *documents: str) -> None:
        self._documents.extend("/" + "/".join(parse_path(document)) for document in documents)

    def may_read(self, person: str, document: str) -> bool:
        return decide(self._rules, self._people.groups(person), parse_path(document))

    def listing(self, person: str) -> List[str]:
        """The documents the person may read, sorted."""
        return sorted(document for document in self._documents if self.may_read(person, document))
