"""A change of one file, with what is known about it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from stackrank.env.mutation.edits import Edit, apply_edits
from stackrank.source import parse_python


@dataclass(frozen=True, slots=True)
class Mutation:
    """A small change of one file. It may be a fix, or a mistake."""

    path: str
    edits: tuple[Edit, ...]
    kind: str
    prior: float
    """How likely a change of this kind is a fix; 1.0 for the most usual kinds."""
    line: int
    """1-based line of the first edit."""
    imports: tuple[str, ...] = ()
    """Import statements that the change needs at the top of the file."""
    is_hot_swappable: bool = True
    """Whether only function bodies change, so that a running program can be changed in the same way."""

    def apply(self, text: str) -> str:
        """Return the changed file."""
        text = apply_edits(text, self.edits)
        for statement in self.imports:
            if f"\n{statement}\n" not in f"\n{text}":
                text = _add_import(text, statement)
        return text


def _add_import(text: str, statement: str) -> str:
    try:
        tree = parse_python(text)  # libcst takes seconds for a large file, and many mutations need an import
    except (SyntaxError, ValueError):
        return text  # compiling it will show the error
    last_line = 0
    lines = text.split("\n")
    for position, node in enumerate(tree.body):
        is_docstring = position == 0 and isinstance(node, ast.Expr)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not (is_docstring or is_future):
            break
        last_line = node.end_lineno or last_line
    return "\n".join([*lines[:last_line], statement, *lines[last_line:]])
