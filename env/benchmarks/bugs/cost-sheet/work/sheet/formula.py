# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Formulas: a parser that computes while it goes."""
from __future__ import annotations

from typing import Callable, List, Union

from .errors import SheetError
from .functions import FUNCTIONS, comparison
from .names import area, plain
from .tokens import Token, tokens

Value = Union[float, str]
Look = Callable[[str], Value]


class Formula:
    """`look` gives the value of a cell."""

    def __init__(self, text: str, look: Look) -> None:
        self._tokens = tokens(text)
        self._text = text
        self._look = look
        self._at = 0

    def value(self) -> Value:
        """Raises SheetError."""
        found = self._comparison()
        if self._at < len(self._tokens):
            raise SheetError(f"{self._text!r}: what is {self._tokens[self._at].text!r} for?")
        return found

    def _next(self, *texts: str) -> bool:
        """Whether one of the signs comes, which is then passed."""
        if self._at < len(self._tokens) and self._tokens[self._at].text in texts:
            self._at += 1
            return True
        return False

    def _passed(self) -> str:
        return self._tokens[self._at - 1].text

    def _number(self, value: Value) -> float:
        if isinstance(value, str):
            raise SheetError(f"{self._text!r}: {value!r} is no number")
        return value

    def _comparison(self) -> Value:
        left = self._sum()
        if self._next("<", ">", "<=", ">=", "=", "<>"):
            return comparison(self._passed(), left, self._sum())
        return left

    def _sum(self) -> Value:
        left = self._product()
        while self._next("+", "-"):
            sign = 1 if self._passed() == "+" else -1
            left = self._number(left) + sign * self._number(self._product())
        return left

    def _product(self) -> Value:
        left = self._factor()
        while self._next("*", "/"):
            times = self._passed() == "*"
            right = self._number(self._factor())
            if not times and right == 0:
                raise SheetError(f"{self._text!r} divides by zero")
            left = self._number(left) * right if times else self._number(left) / right
        return left

    def _factor(self) -> Value:
        if self._next("-"):
            return -self._number(self._factor())
        if self._next("("):
            inner = self._comparison()
            self._close()
            return inner
        if self._at == len(self._tokens):
            raise SheetError(f"{self._text!r} ends too early")
        token: Token = self._tokens[self._at]
        self._at += 1
        if token.kind == "number":
            return float(token.text)
        if token.kind == "cell":
            return self._look(plain(token.text))
        if token.kind == "function" and token.text in FUNCTIONS:
            self._next("(")
            return FUNCTIONS[token.text](self._arguments())
        raise SheetError(f"{self._text!r}: {token.text!r} is not known")

    def _arguments(self) -> List[Value]:
        found: List[Value] = []
        while True:
            first, second = self._at, self._at + 1
            if second < len(self._tokens) and self._tokens[second].text == ":":
                self._at += 3
                ends = self._tokens[first].text, self._tokens[second + 1].text
                found += [self._look(name) for name in area(*ends)]
            else:
                found.append(self._comparison())
            if not self._next(","):
                self._close()
                return found

    def _close(self) -> None:
        if not self._next(")"):
            raise SheetError(f"{self._text!r} lacks a bracket")
