# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The sheet itself."""
from __future__ import annotations

import re
from typing import Callable, Dict, List, Tuple, Union

from sheet import refs

Value = Union[int, float, str]
CALL = re.compile(r"(SUM|MIN|MAX|COUNT)\(([A-Z]+[0-9]+):([A-Z]+[0-9]+)\)")
TERM = re.compile(r"[+-]?[^+-]+")
FUNCTIONS: Dict[str, Callable[[List[float]], float]] = {
    "SUM": sum,
    "MIN": lambda xs: min(xs, default=0),
    "MAX": lambda xs: max(xs, default=0),
    "COUNT": len,
}


class Sheet:
    """Cells by address. A blank cell counts as 0 in sums of terms and is
    left out by functions over ranges, as are texts."""

    def __init__(self) -> None:
        self._cells: Dict[Tuple[int, int], Value] = {}

    def set(self, address: str, content: Value) -> None:
        """Store a number, a text, or a formula that starts with `=`."""
        self._cells[refs.split(address)] = content

    def fill_right(self, address: str, contents: List[Value]) -> str:
        """Store contents in a row from `address` on; returns the last address."""
        last = address
        for offset, content in enumerate(contents):
            last = refs.shift(address, offset, 0)
            self.set(last, content)
        return last

    def get(self, address: str) -> Value:
        """The value of a cell; formulas are worked out, blank cells are ""."""
        content = self._cells.get(refs.split(address), "")
        if isinstance(content, str) and content.startswith("="):
            return self._evaluate(content[1:].replace(" ", ""))
        return content

    def _evaluate(self, formula: str) -> float:
        total: float = 0
        for term in TERM.findall(formula):
            sign = -1 if term[0] == "-" else 1
            total += sign * self._term(term.lstrip("+-"))
        return total

    def _term(self, term: str) -> float:
        call = CALL.fullmatch(term)
        if call:
            return FUNCTIONS[call.group(1)](self._numbers(call.group(2), call.group(3)))
        if refs.ADDRESS.fullmatch(term):
            value = self.get(term)
            return value if isinstance(value, (int, float)) else 0
        return float(term) if "." in term else int(term)

    def _numbers(self, first: str, last: str) -> List[float]:
        values = [self.get(address) for address in refs.expand(first, last)]
        return [v for v in values if isinstance(v, (int, float))]

    def used(self) -> str:
        """The smallest range that holds all cells, "" for an empty sheet."""
        if not self._cells:
            return ""
        columns = [c for c, _ in self._cells]
        rows = [r for _, r in self._cells]
        return refs.join(min(columns), min(rows)) + ":" + refs.join(max(columns), max(rows))
