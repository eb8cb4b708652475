"""Runs an agent's code statement by statement, as a console does."""

from __future__ import annotations

import ast
import contextlib
import io
import textwrap
import types
from typing import Any, Dict, List, NamedTuple

from ...core.files import Refused
from ..evaluation import evaluate
from ..values import shown
from .report_stream import describe


class Statement(NamedTuple):
    """One statement of an agent's code."""

    text: str
    code: types.CodeType
    is_expression: bool


def statements(text: str) -> List[Statement]:
    """Return the statements of a text. Raises Refused."""
    source = textwrap.dedent(text).strip("\n")
    try:
        return [_statement(source, node) for node in ast.parse(source).body]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused("the code is not valid Python: %s" % (error.args[0] if error.args else error)) from None


def _statement(source: str, node: ast.stmt) -> Statement:
    is_expression = isinstance(node, ast.Expr)
    part: Any = ast.Expression(node.value) if isinstance(node, ast.Expr) else ast.Module(body=[node], type_ignores=[])
    code = compile(part, "<code>", "eval" if is_expression else "exec", dont_inherit=True)
    return Statement(ast.get_source_segment(source, node) or "", code, is_expression)


def result_of(statement: Statement, outer: Dict[str, Any], names: Dict[str, Any], most: int) -> str:
    """Run a statement; names that it assigns go into `names`.

    Returns what it prints, and its value or the exception that it raises, each in at most `most` characters.
    """
    printed = io.StringIO()
    text = ""
    try:
        with contextlib.redirect_stdout(printed):
            value = evaluate(statement.code, outer, names)
        if statement.is_expression and not (value is None and printed.getvalue()):
            text = shown(value, most)
    except BaseException as error:  # SystemExit too, so that the program goes on
        text = "raised %s" % describe(error).split("\n")[0]
    output = printed.getvalue()[:most].rstrip("\n")
    return "\n".join(part for part in (output, text) if part)
