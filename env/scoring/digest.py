"""Identifies the scorer: a hash over the code that decides verdicts, but not over its wording.

Covered are `env/scoring`, and of the guest `core` and `testing`. They are hashed as syntax trees, so comments and
layout do not count. Of the trees, two kinds of text are left out:

- docstrings, and other statements that are only a string;
- the wording of messages: text literals as arguments of an exception that is raised, or of `message(...)`.

That is sound because no covered code decides by what such a text says: it tells exceptions apart by their classes, and
`message` marks what only people read. A test replaces all these texts, and gets the same verdicts. Every other literal
counts (operands of comparisons, keys, patterns, words of a protocol), as does any part of a message that could do more
than be shown: a call, for instance. An empty text stays apart from others, because code may ask whether there is one.

The trees are written down here and not by `ast.dump`, whose form differs between versions of Python.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

from stackrank.source import parse_python

SCORER_VERSION = 1
"""Increases when verdicts change for a reason that is not in the covered sources."""
COVERED = ("scoring", "sandbox/guest/core", "sandbox/guest/testing")
"""The folders of `env` whose modules decide verdicts."""
_DIGITS = 16
_NOT_CODE = {"kind", "type_comment", "type_ignores", "ctx"}
"""Fields of syntax trees that are notes of the parser, or follow from the rest."""
_EFFECTS = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


@functools.cache
def scorer_digest() -> str:
    """Identify this scorer."""
    return digest_of(covered_sources())


def covered_sources(env: Path = Path(__file__).parents[1]) -> dict[str, bytes]:
    """Return the source of each covered module below the folder `env`, by its path there."""
    files = (file for folder in COVERED for file in (env / folder).rglob("*.py"))
    return {file.relative_to(env).as_posix(): file.read_bytes() for file in files}


def digest_of(sources: dict[str, bytes]) -> str:
    """Return the digest of modules: path -> source. Raises SyntaxError."""
    total = hashlib.sha256(str(SCORER_VERSION).encode())
    for path, source in sorted(sources.items()):
        total.update(f"\0{path}\0{_form(without_wording(parse_python(source)))}".encode())
    return total.hexdigest()[:_DIGITS]


def without_wording(tree: ast.Module) -> ast.Module:
    """Replace the texts that are left out, in place: a message becomes `message` and the parts that still count."""
    _WithoutWording().visit(tree)
    return ast.fix_missing_locations(tree)


class _WithoutWording(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if getattr(node, "body", None) == [] and not isinstance(node, ast.Module):
            setattr(node, "body", [ast.Pass()])  # noqa: B010
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return None
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.exc, ast.Call):
            _leave_out(node.exc)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "message":
            _leave_out(node)
        return node


def _leave_out(call: ast.Call) -> None:
    call.args = [_unworded(argument) for argument in call.args]
    for keyword in call.keywords:
        keyword.value = _unworded(keyword.value)


def _unworded(argument: ast.expr) -> ast.expr:
    if not _is_text(argument):
        return argument
    effects = {_form(node): node for node in _outermost_effects(argument)}
    parts: list[ast.expr] = [ast.Constant("message"), *(effects[form] for form in sorted(effects))]
    return ast.Tuple(parts, ast.Load()) if effects else parts[0]


def _is_text(node: ast.expr) -> bool:
    """Whether an expression is a text that is written down here, at least in part, and not empty."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value != ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_text(node.left) or _is_text(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _is_text(node.left)
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.Constant) for part in node.values)
    return False


def _outermost_effects(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the parts of a message that could do more than be shown."""
    if isinstance(node, _EFFECTS):
        yield node
    else:
        for child in ast.iter_child_nodes(node):
            yield from _outermost_effects(child)


def _form(node: object) -> str:
    """Write a syntax tree down, without positions and without what is empty: newer versions of Python add fields."""
    if isinstance(node, ast.Constant):
        return ascii(node.value)  # `repr` depends on Python's version of Unicode
    if isinstance(node, ast.JoinedStr):  # Python 3.12 has empty texts in it, others have not
        return f"JoinedStr{_form([part for part in node.values if _form(part) != ascii('')])}"
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if name not in _NOT_CODE)
        filled = (f"{name}={_form(value)}" for name, value in fields if value is not None and value != [])
        return f"{type(node).__name__}({','.join(filled)})"
    if isinstance(node, list):
        return f"[{','.join(_form(element) for element in node if not isinstance(element, ast.Pass))}]"
    return ascii(node)
