"""Turn tests into probes: their inputs are changed a little, and the values they would assert are only recorded.

A probe of `assert total([1, 2]) == 3` is `__stackrank_probe__(total([1, 1]))`. If the fix and a change show different
values there, a test could have noticed the difference.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from typing import Any

from stackrank.source import literal, parse_python

_PROBE = "__stackrank_probe__"
_MOST_CHANGES = 3
_ROOMY = 4
"""A tuple of fewer members is taken for a record, which has to keep them."""
Plain = (int, float, str, bytes)


def probe(source: str, seed: int) -> str | None:
    """Return the test file as a probe; None if it cannot be parsed."""
    try:
        tree = parse_python(source)
    except SyntaxError:
        return None
    dice = random.Random(seed)
    inputs = _Inputs(tree, dice)
    for node in tree.body:
        inputs.change(node)
    return ast.unparse(ast.fix_missing_locations(_Asserts().visit(tree)))


class _Inputs:
    """Changes a few literals of each function, class or constant."""

    def __init__(self, tree: ast.Module, dice: random.Random) -> None:
        self._dice = dice
        self._values: dict[type, list[Any]] = {kind: [] for kind in Plain}
        for node in _literals(tree):
            values = self._values.get(type(node.value)) if isinstance(node, ast.Constant) else None
            if values is not None and node.value not in values:
                values.append(node.value)

    def change(self, top: ast.stmt) -> None:
        """Change literals in a statement at the top level of the file."""
        if isinstance(top, ast.Import | ast.ImportFrom):
            return
        alone = not isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        literals = list(_literals(top))
        if not literals or (alone and self._dice.random() < 0.5):
            return
        for node in self._dice.sample(
            literals, min(self._dice.randint(0 if alone else 1, _MOST_CHANGES), len(literals))
        ):
            if isinstance(node, ast.Constant):
                node.value = self._other(node.value)
            else:
                self._rearrange(node)
        if not alone and self._dice.random() < 0.3:
            self._reorder(top)

    def _other(self, value: Any) -> Any:
        dice = self._dice
        if isinstance(value, bool):
            return not value
        alternatives = [alternative for alternative in self._values.get(type(value), ()) if alternative != value]
        if alternatives and dice.random() < 0.4:
            return dice.choice(alternatives)
        if isinstance(value, int):
            return dice.choice([value + 1, max(value - 1, min(value, 0)), value * 2, value + 2, value // 2])
        if isinstance(value, float):
            return dice.choice([value * 2, value / 2, value + 1, value + 0.25])
        return _text(value, dice) if value else value

    def _rearrange(self, node: Any) -> None:
        name = "keys" if isinstance(node, ast.Dict) else "elts"
        order = list(range(len(getattr(node, name))))
        at = self._dice.randrange(len(order))
        variant = self._dice.randrange(4)
        if variant == 0:
            del order[at]
        elif variant == 1:
            order.insert(at, self._dice.choice(order))
        elif variant == 2:
            order.append(order.pop(at))
        else:
            order.reverse()
        for field in (name, "values") if isinstance(node, ast.Dict) else (name,):
            old = getattr(node, field)
            setattr(node, field, [old[number] for number in order])

    def _reorder(self, top: Any) -> None:
        inner = (getattr(node, "body", None) for node in ast.walk(top))
        blocks = [body for body in inner if isinstance(body, list)]
        block = self._dice.choice(blocks)
        calls = [
            at
            for at, statement in enumerate(block)
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        ]
        if not calls:
            return
        at = self._dice.choice(calls)
        if self._dice.random() < 0.5 and len(block) > 1:
            del block[at]
        else:
            block.insert(at, block[at])


def _text(value: Any, dice: random.Random) -> Any:
    at = dice.randrange(len(value))
    tail = value[at + 1 :]
    blank = " " if isinstance(value, str) else b" "
    return dice.choice(
        [
            value[:at] + tail,
            value[: at + 1] + value[at : at + 1] + tail,
            value[at:] + value[:at],
            value.swapcase(),
            value[:at] + blank + value[at:],
            value + value,
        ]
    )


def _literals(node: ast.AST) -> Iterator[Any]:
    """Yield the literals that are inputs: no names, patterns, docstrings, or values with which a call is compared."""
    if isinstance(node, ast.Constant):
        if type(node.value) in (bool, *Plain):
            yield node
        return
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Dict | ast.List | ast.Set) or (isinstance(node, ast.Tuple) and len(node.elts) >= _ROOMY):
        sized = node.keys if isinstance(node, ast.Dict) else node.elts
        if sized and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            yield node
    for child in _inner(node):
        yield from _literals(child)


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        yield node.func
        yield from node.args[1 if name in ("parametrize", "setattr", "getattr", "hasattr", "setenv") else 0 :]
        yield from (child.value for child in node.keywords if child.arg not in ("ids", "match", "scope", "reason"))
    elif isinstance(node, ast.Compare) and not _is_plain(node.left):
        yield node.left
        yield from (child for child in node.comparators if not _is_plain(child))
    else:
        yield from ast.iter_child_nodes(node)


def _is_plain(node: ast.expr) -> bool:
    try:
        literal(node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return False
    return True


class _Asserts(ast.NodeTransformer):
    """Turns each `assert` into a call that records what it compares."""

    def visit_Assert(self, node: ast.Assert) -> Any:
        recorded = [expression for expression in _observed_expressions(node.test) if not _is_plain(expression)]
        call = ast.Call(ast.Name(_PROBE, ast.Load()), recorded, [])
        return ast.copy_location(ast.Expr(call), node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Do the same for unittest's methods."""
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
            recorded = _METHODS[call.func.attr](call.args)
            return ast.copy_location(ast.Expr(ast.Call(ast.Name(_PROBE, ast.Load()), recorded, [])), node)
        return node


def _truth(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), node))


def _observed_expressions(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what an assertion shows of the program: values it compares for equality, else only whether it holds."""
    if isinstance(node, ast.Compare) and all(isinstance(operand, ast.Eq | ast.NotEq) for operand in node.ops):
        yield from (_without_approx(operand) for operand in (node.left, *node.comparators))
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is) and _is_plain(node.comparators[0]):
        yield node.left
    elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for operand in node.values:
            yield from _observed_expressions(operand)
    else:
        yield _truth(node)


def _without_approx(node: ast.expr) -> ast.expr:
    """Return x for `approx(x)`, and other nodes unchanged."""
    if isinstance(node, ast.Call) and node.args:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return node.args[0] if name == "approx" else node
    return node


_METHODS: dict[str, Callable[[list[ast.expr]], list[ast.expr]]] = {
    **dict.fromkeys(("assertEqual", "assertEquals", "assertListEqual", "assertDictEqual"), lambda args: args[:2]),
    **dict.fromkeys(("assertTrue", "assertFalse"), lambda args: [_truth(args[0])]),
    "assertIsNone": lambda args: args[:1],
}
