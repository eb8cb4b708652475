# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The equations of a circuit, as rows of coefficients with the right side at the end."""
from __future__ import annotations

from typing import Dict, List, Sequence

from .parts import GROUND, Current, Resistor, Source


class Equations:
    """One unknown for each node but ground, then one for the current through each source."""

    def __init__(self, nodes: Sequence[str], sources: Sequence[Source]) -> None:
        self._index: Dict[str, int] = {node: i for i, node in enumerate(nodes)}
        self._size = len(nodes) + len(sources)
        self.rows: List[List[float]] = [[0.0] * (self._size + 1) for _ in range(self._size)]
        for number, source in enumerate(sources, len(nodes)):
            self._add(number, source.plus, 1.0)
            self._add(number, source.minus, -1.0)
            self.rows[number][-1] = source.volts
            for node, sign in ((source.plus, 1.0), (source.minus, -1.0)):
                if node != GROUND:
                    self.rows[self._index[node]][number] += sign

    def _add(self, row: int, node: str, value: float) -> None:
        if node != GROUND:
            self.rows[row][self._index[node]] += value

    def resistor(self, part: Resistor) -> None:
        for here, there in ((part.one, part.two), (part.two, part.one)):
            if here != GROUND:
                self._add(self._index[here], here, 1.0 / part.ohms)
                self._add(self._index[here], there, -1.0 / part.ohms)

    def current(self, part: Current) -> None:
        for node, sign in ((part.end, 1.0), (part.start, -1.0)):
            if node != GROUND:
                self.rows[self._index[node]][-1] += sign * part.amperes
