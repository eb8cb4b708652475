# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Writes a program in the usual form: remarks are left out, and what is inside of a loop is moved to the right."""
from __future__ import annotations

from typing import List

from .nodes import Expression, Name, Number, Print, Set, Statement, Text, While
from .parser import parse

_STRENGTH = {"*": 4, "/": 4, "+": 3, "-": 3, "<<": 2, ">>": 2}


def rewritten(text: str) -> str:
    """Raises LexError and ParseError."""
    return "".join(line + "\n" for line in _statements(parse(text), ""))


def _statements(statements: List[Statement], margin: str) -> List[str]:
    lines: List[str] = []
    for statement in statements:
        if isinstance(statement, Set):
            lines.append(f"{margin}{statement.name} = {_expression(statement.value)};")
        elif isinstance(statement, Print):
            lines.append(f"{margin}print {_expression(statement.value)};")
        elif isinstance(statement, While):
            lines.append(f"{margin}while {_expression(statement.condition)} {{")
            lines += _statements(statement.body, margin + "    ")
            lines.append(f"{margin}}}")
    return lines


def _expression(expression: Expression, least: int = 0) -> str:
    if isinstance(expression, Number):
        return f"{expression.value:g}"
    if isinstance(expression, Text):
        return f'"{_escaped(expression.value)}"'
    if isinstance(expression, Name):
        return expression.name
    strength = _STRENGTH.get(expression.sign, 1)
    left = _expression(expression.left, strength)
    right = _expression(expression.right, strength + 1)
    text = f"{left} {expression.sign} {right}"
    return f"({text})" if strength < least else text


def _escaped(text: str) -> str:
    for plain, written in (("/", "//"), ('"', '/"'), ("\n", "/n"), ("\t", "/t")):
        text = text.replace(plain, written)
    return text
