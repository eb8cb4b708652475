# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Formulas: + - * / ^, parentheses, signs, numbers and cells."""
from __future__ import annotations

import operator
from typing import Callable

from .tokens import FormulaError, tokens

Lookup = Callable[[str], float]
Formula = Callable[[Lookup], float]

_SUM = {"+": operator.add, "-": operator.sub}
_PRODUCT = {"*": operator.mul, "/": operator.truediv}


def parse(text: str) -> Formula:
    """The formula as a function of the cells it refers to.

    ^ binds strongest and to the right, then signs, then * and /, then + and -: -2^2 is -4, 2^-1 is 0.5.
    """
    reader = _Reader(tokens(text))
    formula = reader.sum()
    if reader.peek() is not None:
        raise FormulaError(f"unexpected {reader.peek()!r}")
    return formula


class _Reader:
    def __init__(self, found: list[str]) -> None:
        self._tokens = found
        self._position = 0

    def peek(self) -> str | None:
        """The next token, left where it is; None at the end."""
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def take(self) -> str | None:
        """The next token, which is used up."""
        token = self.peek()
        self._position += 1
        return token

    def sum(self) -> Formula:
        left = self.product()
        while self.peek() in ("+", "-"):
            left = _combine(_SUM[self.take() or ""], left, self.product())
        return left

    def product(self) -> Formula:
        left = self.signed()
        while self.peek() in ("*", "/"):
            left = _combine(_PRODUCT[self.take() or ""], left, self.signed())
        return left

    def signed(self) -> Formula:
        if self.peek() in ("+", "-"):
            sign = self.peek()
            value = self.signed()
            return value if sign == "+" else lambda lookup: -value(lookup)
        return self.power()

    def power(self) -> Formula:
        base = self.atom()
        if self.peek() == "^":
            self.take()
            return _combine(operator.pow, base, self.signed())
        return base

    def atom(self) -> Formula:
        token = self.take()
        if token is None:
            raise FormulaError("the formula ends too early")
        if token == "(":
            inner = self.sum()
            if self.take() != ")":
                raise FormulaError("a parenthesis is not closed")
            return inner
        if token[0].isdigit():
            number = float(token)
            return lambda lookup: number
        if token[0].isalpha():
            return lambda lookup: lookup(token)
        raise FormulaError(f"unexpected {token!r}")


def _combine(operation: Callable[[float, float], float], left: Formula, right: Formula) -> Formula:
    return lambda lookup: operation(left(lookup), right(lookup))
