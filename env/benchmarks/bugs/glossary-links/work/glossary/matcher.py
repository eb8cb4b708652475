# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Finding terms in a text."""
from __future__ import annotations

import re
from typing import Iterable, Iterator, NamedTuple


class Found(NamedTuple):
    start: int
    end: int
    text: str


class Matcher:
    """Finds spellings that stand in a text as whole words.

    A spelling never begins or ends inside of a longer word or name: what goes on with a letter, a digit,
    an underscore or one of + and # is longer. Of several spellings at one place the longest counts.
    """

    def __init__(self, spellings: Iterable[str]) -> None:
        ordered = sorted(set(spellings), key=len, reverse=True)
        choices = "|".join(r"\s+".join(map(re.escape, spelling.split())) for spelling in ordered)
        self._pattern = re.compile(rf"\b(?:{choices})\b", re.IGNORECASE) if ordered else None

    def find(self, text: str) -> Iterator[Found]:
        """The spellings in a text, from left to right, without overlap."""
        if self._pattern is None:
            return
        for match in self._pattern.finditer(text):
            yield Found(match.start(), match.end(), match.group())
