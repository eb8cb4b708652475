"""Reading Python source."""

from __future__ import annotations

import ast
import threading
from typing import Any

_parsing = threading.Lock()


def parse_python(source: str | bytes) -> ast.Module:
    """As `ast.parse`, and safe in threads. Raises SyntaxError, ValueError, RecursionError.

    CPython 3.11 counts its recursion for all threads together: of two that parse at the same time one may end in
    "SystemError: AST constructor recursion depth mismatch" (python/cpython issue 106905).
    """
    with _parsing:
        return ast.parse(source)


def literal(source: str | ast.AST) -> Any:
    """As `ast.literal_eval`, and safe in threads. Raises what `parse_python` raises, TypeError, MemoryError."""
    if isinstance(source, str):
        with _parsing:
            source = ast.parse(source.lstrip(" \t"), mode="eval")
    return ast.literal_eval(source)  # of a tree: nothing is parsed
