# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Versions such as 1.4.0 or 2.0.0-rc.1."""
from __future__ import annotations

import re
from functools import total_ordering
from typing import List, Tuple, Union

_FORM = re.compile(r"^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$")
Part = Tuple[int, Union[int, str]]


@total_ordering
class Version:
    """A version; three numbers and perhaps a tail of parts.

    The numbers decide first. A version with a tail comes before the one
    without. Tails are compared part by part: numbers by value, words by
    alphabet, numbers before words; if all parts are equal the shorter tail
    comes first.
    """

    def __init__(self, text: str) -> None:
        match = _FORM.match(text.strip())
        if match is None:
            raise ValueError("not a version: " + text)
        self.numbers = tuple(int(number) for number in match.groups()[:3])
        self.tail: List[str] = match.group(4).split(".") if match.group(4) else []

    @property
    def is_final(self) -> bool:
        return not self.tail

    def _key(self) -> Tuple[Tuple[int, ...], bool, int, List[Part]]:
        parts: List[Part] = [(0, int(part)) if part.isdigit() else (1, part) for part in self.tail]
        return self.numbers, self.is_final, len(parts), parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key() == other._key()

    def __lt__(self, other: "Version") -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __str__(self) -> str:
        return ".".join(map(str, self.numbers)) + ("-" + ".".join(self.tail) if self.tail else "")

    def __repr__(self) -> str:
        return "Version(%r)" % str(self)
