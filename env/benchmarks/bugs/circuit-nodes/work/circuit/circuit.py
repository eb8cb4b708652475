# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Circuits."""
from __future__ import annotations

from typing import Dict, List, Union

from .equations import Equations
from .parts import GROUND, Current, Resistor, Source
from .solve import solve

Part = Union[Resistor, Source, Current]


class Circuit:
    """Parts between nodes; the node "0" is ground."""

    def __init__(self) -> None:
        self._resistors: List[Resistor] = []
        self._sources: List[Source] = []
        self._currents: List[Current] = []
        self._nodes: Dict[str, None] = {}

    def resistor(self, one: str, two: str, ohms: float) -> None:
        if ohms <= 0:
            raise ValueError("a resistor has a positive resistance")
        self._resistors.append(Resistor(one, two, ohms))
        self._know(one, two)

    def source(self, plus: str, minus: str, volts: float) -> None:
        self._sources.append(Source(plus, minus, volts))
        self._know(plus, minus)

    def current(self, start: str, end: str, amperes: float) -> None:
        self._currents.append(Current(start, end, amperes))
        self._know(start, end)

    def _know(self, *nodes: str) -> None:
        self._nodes.update((node, None) for node in nodes if node != GROUND)

    def voltages(self) -> Dict[str, float]:
        """The voltage of every node against ground."""
        equations = Equations(list(self._nodes), self._sources)
        for resistor in self._resistors:
            equations.resistor(resistor)
        for current in self._currents:
            equations.current(current)
        return dict(zip(self._nodes, solve(equations.rows)))
