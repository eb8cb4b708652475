"""Compares two lists of lines, in a time that is bounded whatever the lines are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

MOST_COMPARED = 20_000_000
"""The most pairs of lines that are compared, a second or two; what is left then counts as replaced as a whole.

`difflib` takes a time that grows with the cube of the number of lines: days, for lines that were chosen for it.
"""


class LineChange(NamedTuple):
    """Adjacent lines that are replaced, as indices into both sides."""

    old: range
    new: range


def find_changes(old: Sequence[str], new: Sequence[str], most_compared: int = MOST_COMPARED) -> Iterator[LineChange]:
    """Yield what changes from one list of lines to another, in order."""
    # Equal lines at both ends are left out first: most edits are small, and comparing takes long. None of them may be
    # compared again: a change that moves to the end of what is compared loses its context, and git rejects it.
    head, tail = 0, 0
    shorter = min(len(old), len(new))
    while head < shorter and old[head] == new[head]:
        head += 1
    while tail < shorter - head and old[-tail - 1] == new[-tail - 1]:
        tail += 1
    matcher = _Matcher(old[head : len(old) - tail], new[head : len(new) - tail], most_compared)
    for kind, old_start, old_stop, new_start, new_stop in matcher.get_opcodes():
        if kind != "equal":
            yield LineChange(range(head + old_start, head + old_stop), range(head + new_start, head + new_stop))


class _Matcher(SequenceMatcher[str]):
    """Finds no match any more once so many pairs of lines were compared."""

    b2j: dict[str, list[int]]
    """The places of each line of the second side. The types of Python's library do not name it."""

    def __init__(self, old: Sequence[str], new: Sequence[str], most_compared: int) -> None:
        super().__init__(None, old, new)
        self._compared = [0, *accumulate(1 + len(self.b2j.get(line, ())) for line in old)]
        """With how many lines of `new` the first lines of `old` are compared to find one match, and themselves."""
        self._remaining = most_compared

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Return the longest match, as `difflib` does; an empty one if the time is used up."""
        self._remaining -= self._compared[-1 if ahi is None else ahi] - self._compared[alo]
        return Match(alo, blo, 0) if self._remaining < 0 else super().find_longest_match(alo, ahi, blo, bhi)
