"""Reading Python source."""

from __future__ import annotations

import ast
import threading
from typing import Any

_parsing = threading.Lock()


def parse_python(source: str | bytes) -> ast.Module:
    """Like `ast.parse`, but safe in threads. Raises SyntaxError, ValueError, RecursionError.

    CPython 3.11 counts the recursion of all threads together: if two threads parse at the same time, one may fail with
    "SystemError: AST constructor recursion depth mismatch" (python/cpython issue 106905).
    """
    with _parsing:
        return ast.parse(source)


def literal(source: str | ast.AST) -> Any:
    """Like `ast.literal_eval`, but safe in threads. Raises what `parse_python` raises, TypeError, MemoryError."""
    if isinstance(source, str):
        with _parsing:
            source = ast.parse(source.lstrip(" \t"), mode="eval")
    return ast.literal_eval(source)  # of a tree, so nothing is parsed here
