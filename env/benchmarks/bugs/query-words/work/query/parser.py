# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Build a query from tokens."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Optional, Tuple, Union

from query.tokens import QueryError, Token, tokenize

Value = Union[int, str]


@dataclass
class Query:
    """A query; no columns means all of them."""

    table: str = ""
    columns: List[str] = field(default_factory=list)
    conditions: List[Tuple[str, str, Value]] = field(default_factory=list)
    order: List[Tuple[str, bool]] = field(default_factory=list)
    limit: Optional[int] = None
    offset: int = 0


class Parser:
    """Reads one query."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._at = 0

    def _take(self, kind: str, value: Optional[str] = None) -> Optional[Token]:
        token = self._tokens[self._at]
        if token.kind != kind or (value is not None and token.value != value):
            return None
        self._at += 1
        return token

    def _need(self, kind: str, value: Optional[str] = None) -> Token:
        token = self._take(kind, value)
        if token is None:
            raise QueryError("unexpected %r" % (self._tokens[self._at].value or "end"))
        return token

    def _number(self) -> int:
        return int(self._need("number").value)

    def _condition(self) -> Tuple[str, str, Value]:
        name, sign = self._need("name").value, self._need("sign").value
        text = self._take("text")
        return (name, sign, text.value) if text else (name, sign, self._number())

    def _ordering(self) -> Tuple[str, bool]:
        name = self._need("name").value
        if self._take("desc"):
            return name, True
        self._take("asc")
        return name, False

    def parse(self) -> Query:
        """select COLUMNS from TABLE [where C and C] [order by N, N desc] [limit N] [offset N]"""
        query = Query()
        self._need("select")
        if not self._take("sign", "*"):
            query.columns.append(self._need("name").value)
            while self._take("sign", ","):
                query.columns.append(self._need("name").value)
        self._need("from")
        query.table = self._need("name").value
        if self._take("where"):
            query.conditions.append(self._condition())
            while self._take("and"):
                query.conditions.append(self._condition())
        if self._take("order"):
            self._need("by")
            query.order.append(self._ordering())
            while self._take("sign", ","):
                query.order.append(self._ordering())
        if self._take("limit"):
            query.limit = self._number()
        if self._take("offset"):
            query.offset = self._number()
        self._need("end")
        return query
