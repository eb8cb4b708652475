# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The parser: conditions joined by "and" and "or", with brackets."""
from __future__ import annotations

from typing import Any, List, Tuple

from .errors import QueryError
from .lexer import Token, tokens

Node = Tuple[Any, ...]


class _Parser:
    def __init__(self, source: str) -> None:
        self._tokens: List[Token] = list(tokens(source))
        self._next = 0

    def peek(self) -> Token:
        return self._tokens[self._next]

    def take(self, kind: str, *texts: str) -> Token:
        token = self.peek()
        if token.kind != kind or (texts and token.text.lower() not in texts):
            raise QueryError(f"expected {' or '.join(texts) or kind}", token.where)
        self._next += 1
        return token

    def joined(self, word: str) -> Node:
        part = self.joined("and") if word == "or" else self.condition()
        while self.peek().kind == "word" and self.peek().text.lower() == word:
            self._next += 1
            part = (word, part, self.joined("and") if word == "or" else self.condition())
        return part

    def condition(self) -> Node:
        if self.peek().text == "(":
            self.take("sign", "(")
            inner = self.joined("or")
            self.take("sign", ")")
            return inner
        field = self.take("word").text
        sign = self.take("sign", "=", "!=", "<", ">", "<=", ">=").text
        token = self.peek()
        if token.kind == "text":
            self._next += 1
            return (sign, field, token.text[1:-1].replace("''", "'"))
        return (sign, field, float(self.take("number").text))


def parse(source: str) -> Node:
    """The tree of a query; raises QueryError."""
    parser = _Parser(source)
    tree = parser.joined("or")
    parser.take("end")
    return tree
