"""Reading Python source."""

from __future__ import annotations

import ast
import threading
import warnings
from typing import Any

_parsing = threading.Lock()
warnings.filterwarnings("ignore", module=r"<unknown>\Z")  # what the parser finds odd in somebody else's source


def parse_python(source: str | bytes) -> ast.Module:
    """Like `ast.parse`, but safe in threads. Raises SyntaxError, also for source that is nested too deep, ValueError.

    CPython 3.11 counts the recursion of all threads together: if two threads parse at the same time, one may fail with
    "SystemError: AST constructor recursion depth mismatch" (python/cpython issue 106905).
    """
    with _parsing:
        try:
            return ast.parse(source)
        except (RecursionError, MemoryError):
            raise SyntaxError("nested too deep") from None


def literal(source: str | ast.AST) -> Any:
    """Like `ast.literal_eval`, but safe in threads. Raises SyntaxError, ValueError, TypeError, RecursionError,
    MemoryError.
    """
    if isinstance(source, str):
        with _parsing:
            source = ast.parse(source.lstrip(" \t"), mode="eval")
    return ast.literal_eval(source)  # of a tree, so nothing is parsed here
