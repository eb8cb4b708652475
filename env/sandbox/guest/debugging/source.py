"""Finds where functions are defined, from the source alone."""

from __future__ import annotations

import ast
from typing import Iterator, Tuple


def functions(tree: ast.AST, prefix: str = "") -> Iterator[Tuple[str, ast.AST]]:
    """Yield the qualified name and node of every function below a syntax tree, outer ones first."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name, node
            yield from functions(node, prefix + node.name + ".")
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, prefix + node.name + ".")
        elif not isinstance(node, ast.expr):  # most nodes are below expressions, which define no function
            yield from functions(node, prefix)


def is_overload(node: ast.AST) -> bool:
    """Whether a function only declares types: it is decorated with `typing.overload`, and never runs."""
    for decorator in node.decorator_list:  # type: ignore[attr-defined]
        if (decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")) == "overload":
            return True
    return False
