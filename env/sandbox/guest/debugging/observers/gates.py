"""Gates skip the calls of a hook and count them, at a few nanoseconds per call."""

from __future__ import annotations

import itertools
import operator
from typing import Any, Callable, Iterator, List, NamedTuple

NEVER = 1 << 60
"""A number that no count ever reaches."""


class Gate:
    """Stands before hooks in code: they are skipped as long as `cell`'s iterator yields something.

    No code of ours runs then, so a place in a hot loop stays nearly as fast as it was. The number of skipped calls
    follows from what is left in the iterator. Hooks that are called report to the gate, whatever follows the code.
    """

    def __init__(self) -> None:
        self.cell: List[Iterator[Any]] = []
        self.reset()

    def reset(self, first: int = 1) -> None:
        """Count from 0; the hook is called from number `first` on."""
        self._before = self._given = 0
        self.cell[:] = [iter(())]
        self.next(first)

    @property
    def count(self) -> int:
        """How often the place was reached."""
        return self._before + self._given - operator.length_hint(self.cell[0])

    def told(self) -> int:
        """Count a call of the hook. Returns the number of this time, counted from 1."""
        self._before += 1
        return self.count

    def next(self, number: int) -> None:
        """Skip all calls before the one with that number; if it is past, skip none."""
        self._before = self.count
        self._given = max(number - 1 - self._before, 0)
        self.cell[0] = itertools.repeat(None, self._given)


class Kept(NamedTuple):
    """Replaces a hook: `keep(what)`, a function in C, is called as long as `room`'s iterator yields something."""

    room: Gate
    keep: Callable[[Any], Any]
    what: Any
