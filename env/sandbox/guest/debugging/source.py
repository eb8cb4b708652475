"""Finds where functions are defined, from the source alone."""

from __future__ import annotations

import ast
import os
from typing import Iterator, List, Tuple


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


def _is_overload(node: ast.AST) -> bool:
    """Whether a function only declares types: it is decorated with `typing.overload`, and never runs."""
    for decorator in node.decorator_list:  # type: ignore[attr-defined]
        if (decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")) == "overload":
            return True
    return False


def find_function(root: str, name: str, file: str = "") -> List[Tuple[str, int]]:
    """Return (relative path, line of the first statement) of every function called `name` or `Class.name` below `root`,
    in files whose path ends with `file`. Overloads are left out."""
    places: List[Tuple[str, int]] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(child for child in folders if not child.startswith(".") and child != "__pycache__")
        for file_name in sorted(names):
            path = os.path.join(folder, file_name)
            relative = os.path.relpath(path, root)
            ends = not file or (os.sep + relative).endswith(os.sep + os.path.normpath(file))
            if not file_name.endswith(".py") or not ends:
                continue
            try:
                with open(path, "rb") as handle:
                    tree = ast.parse(handle.read())
            except (SyntaxError, ValueError, OSError, RecursionError):
                continue
            for qualified, node in functions(tree):
                if (qualified == name or qualified.endswith("." + name)) and not _is_overload(node):
                    body = node.body  # type: ignore[attr-defined]
                    first = body[0]
                    docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                    target = body[1] if docstring and len(body) > 1 else first
                    places.append((relative, target.lineno))
    return places
