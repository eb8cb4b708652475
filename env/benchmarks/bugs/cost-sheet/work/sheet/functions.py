# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Functions of formulas, and comparisons."""
from __future__ import annotations

import operator
from typing import Any, Callable, Dict, List, Union

from .errors import SheetError

Value = Union[float, str]
_COMPARISONS: Dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}


def comparison(sign: str, left: Value, right: Value) -> float:
    """One for true, zero for false. Raises SheetError for a number and a text."""
    if isinstance(left, str) is not isinstance(right, str) and sign not in ("=", "<>"):
        raise SheetError(f"{left!r} {sign} {right!r}")
    return float(_COMPARISONS[sign](left, right))


def _numbers(values: List[Value]) -> List[float]:
    """Texts and empty cells do not count."""
    return [value for value in values if not isinstance(value, str)]


def _average(values: List[Value]) -> float:
    numbers = _numbers(values)
    if not numbers:
        raise SheetError("the average of nothing")
    return sum(numbers) / len(numbers)


def _if(values: List[Value]) -> Value:
    condition, then, otherwise = values
    return then if condition else otherwise


def _round(values: List[Value]) -> float:
    number, digits = _numbers(values)
    return round(number, int(digits))


FUNCTIONS: Dict[str, Callable[[List[Value]], Value]] = {
    "SUM": lambda values: sum(_numbers(values)),
    "MAX": lambda values: max(_numbers(values)),
    "MIN": lambda values: min(_numbers(values)),
    "AVERAGE": _average,
    "IF": _if,
    "ROUND": _round,
}
