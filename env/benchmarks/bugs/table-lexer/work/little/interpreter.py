# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Runs a program."""
from __future__ import annotations

import operator
from typing import Any, Callable, Dict, List, Union

from .nodes import Binary, Expression, Name, Number, Print, Set, Statement, Text, While
from .parser import parse

Value = Union[float, str]
_SIGNS: Dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<<": lambda left, right: left * 2**right,
    ">>": lambda left, right: left // 2**right,
}


def run(text: str, most: int = 10_000) -> List[str]:
    """What a program prints. Raises LexError, ParseError, NameError, and RuntimeError after `most` rounds of loops."""
    names: Dict[str, Value] = {}
    printed: List[str] = []
    rounds = [most]
    _run(parse(text), names, printed, rounds)
    return printed


def _run(statements: List[Statement], names: Dict[str, Value], printed: List[str], rounds: List[int]) -> None:
    for statement in statements:
        if isinstance(statement, Set):
            names[statement.name] = _value(statement.value, names)
        elif isinstance(statement, Print):
            value = _value(statement.value, names)
            printed.append(value if isinstance(value, str) else f"{value:g}")
        elif isinstance(statement, While):
            while _value(statement.condition, names):
                rounds[0] -= 1
                if rounds[0] < 0:
                    raise RuntimeError("it does not end")
                _run(statement.body, names, printed, rounds)


def _value(expression: Expression, names: Dict[str, Value]) -> Value:
    if isinstance(expression, (Number, Text)):
        return expression.value
    if isinstance(expression, Name):
        if expression.name not in names:
            raise NameError(expression.name)
        return names[expression.name]
    left, right = _value(expression.left, names), _value(expression.right, names)
    result: Value = _SIGNS[expression.sign](left, right)
    return result
