# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The parser."""
from __future__ import annotations

from typing import List, Optional

from .lexer import Token, words
from .nodes import Binary, Expression, Name, Number, Print, Set, Statement, Text, While

_LEVELS = (("==", "!=", "<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"), ("*", "/"))
_ESCAPES = {"n": "\n", "t": "\t"}


class ParseError(ValueError):
    """A sentence that cannot be understood."""


def parse(text: str) -> List[Statement]:
    """Raises LexError and ParseError."""
    return _Parser(list(words(text))).program()


class _Parser:
    def __init__(self, tokens: List[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def program(self, end: Optional[str] = None) -> List[Statement]:
        found: List[Statement] = []
        while True:
            if self._at == len(self._tokens):
                if end:
                    raise ParseError(f"{end} is missing at the end")
                return found
            if end and self._is(end):
                return found
            found.append(self._statement())

    def _statement(self) -> Statement:
        token = self._take()
        if token.text == "print":
            value = self._expression()
            self._need(";")
            return Print(value)
        if token.text == "while":
            condition = self._expression()
            self._need("{")
            return While(condition, self.program("}"))
        if token.kind != "name":
            raise ParseError(f"line {token.line}: {token.text} begins no sentence")
        sign = self._take().text
        value = self._expression()
        self._need(";")
        if sign in ("+=", "-=", "*=", "/="):
            return Set(token.text, Binary(sign[0], Name(token.text), value))
        if sign != "=":
            raise ParseError(f"line {token.line}: {token.text} {sign}")
        return Set(token.text, value)

    def _expression(self, level: int = 0) -> Expression:
        if level == len(_LEVELS):
            return self._value()
        left = self._expression(level + 1)
        while self._at < len(self._tokens) and self._tokens[self._at].text in _LEVELS[level]:
            sign = self._take().text
            left = Binary(sign, left, self._expression(level + 1))
        return left

    def _value(self) -> Expression:
        token = self._take()
        if token.kind == "number":
            return Number(float(token.text.replace("_", "")))
        if token.kind == "string":
            return Text(_unescaped(token.text[1:-1]))
        if token.kind == "name":
            return Name(token.text)
        if token.text == "(":
            inner = self._expression()
            self._need(")")
            return inner
        if token.text == "-":
            return Binary("-", Number(0.0), self._value())
        raise ParseError(f"line {token.line}: {token.text} is no value")

    def _take(self) -> Token:
        if self._at == len(self._tokens):
            raise ParseError("the program ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _is(self, text: str) -> bool:
        if self._tokens[self._at].text == text and self._tokens[self._at].kind == "sign":
            self._at += 1
            return True
        return False

    def _need(self, text: str) -> None:
        token = self._take()
        if token.text != text:
            raise ParseError(f"line {token.line}: {text} expected, not {token.text}")


def _unescaped(text: str) -> str:
    found, parts = [], iter(text)
    for character in parts:
        if character == "/":
            character = next(parts)
            character = _ESCAPES.get(character, character)
        found.append(character)
    return "".join(found)
