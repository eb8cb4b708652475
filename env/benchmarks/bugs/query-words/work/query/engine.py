# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Run queries."""
from __future__ import annotations

import operator
from typing import Any, Dict, List

from query.parser import Parser
from query.tokens import QueryError

Row = Dict[str, Any]
_SIGNS = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}


def run(tables: Dict[str, List[Row]], text: str) -> List[Row]:
    """The rows a query selects. Unknown tables raise QueryError."""
    query = Parser(text).parse()
    if query.table not in tables:
        raise QueryError("no table " + query.table)
    rows = [
        row for row in tables[query.table]
        if all(_SIGNS[sign](row[name], value) for name, sign, value in query.conditions)
    ]
    for name, down in reversed(query.order):
        rows.sort(key=lambda row: row[name], reverse=down)
    stop = None if query.limit is None else query.offset + query.limit
    return [{name: row[name] for name in query.columns or row} for row in rows[query.offset:stop]]
