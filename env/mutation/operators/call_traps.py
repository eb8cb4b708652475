"""Known traps of syntax and calls: precedence, chained comparisons, methods that are not called, rounding."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from stackrank.env.mutation.edits import Edit
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.nodes import attribute_of, last_name
from stackrank.env.mutation.operators.base import Operators
from stackrank.env.mutation.source import NodeContext

CALL_TRAPS = Operators()
_TESTING = (
    *(cst.If, cst.While, cst.IfExp, cst.BooleanOperation, cst.CompIf, cst.Comparison),
    *(cst.UnaryOperation, cst.Return, cst.GeneratorExp, cst.ListComp),
)
"""Nodes in which a method that is not called is a mistake."""


@CALL_TRAPS.on(cst.Comparison)
def chained_comparison(node: cst.Comparison, context: NodeContext) -> Iterator[Mutation]:
    """Propose brackets, because `a > 0 == b` means `a > 0 and 0 == b`."""
    if len(node.comparisons) != 2:
        return
    first, second = node.comparisons
    operators = [" ".join(context.code(target.operator).split()) for target in (first, second)]
    orders = {"<", "<=", ">", ">="}
    if set(operators) <= orders:
        return
    low, middle, high = context.code(node.left), context.code(first.comparator), context.code(second.comparator)
    yield context.replacement("precedence", 1.5, f"({low} {operators[0]} {middle}) {operators[1]} {high}")
    yield context.replacement("precedence", 0.8, f"{low} {operators[0]} ({middle} {operators[1]} {high})")


@CALL_TRAPS.on(cst.IfExp)
def conditional_operand(node: cst.IfExp, context: NodeContext) -> Iterator[Mutation]:
    """Propose brackets, because `a + b if c else d` means `(a + b) if c else d`."""
    if not isinstance(node.body, (cst.BinaryOperation, cst.BooleanOperation)) or node.body.lpar:
        return
    first, operator, second = (context.code(part) for part in (node.body.left, node.body.operator, node.body.right))
    condition = f"if {context.code(node.test)} else {context.code(node.orelse)}"
    yield context.replacement("precedence", 0.9, f"{first} {operator.strip()} ({second} {condition})")


@CALL_TRAPS.on(cst.ExceptHandler, cst.Call)
def or_in_except(node: cst.ExceptHandler | cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose a tuple, because `except (A or B)` catches only A; `isinstance(x, A or B)` is alike."""
    kinds: list[str] = []

    def collect(expression: cst.BaseExpression) -> None:
        if isinstance(expression, cst.BooleanOperation):
            collect(expression.left)
            collect(expression.right)
        else:
            kinds.append(context.code(expression))

    value = node.type if isinstance(node, cst.ExceptHandler) else None
    if isinstance(node, cst.Call) and last_name(node) == "isinstance" and len(node.args) == 2:
        value = node.args[1].value
    if isinstance(value, cst.BooleanOperation):
        collect(value)
        inner = ", ".join(kinds)
        yield context.replacement("precedence", 3.0, inner if value.lpar else f"({inner})", value)


@CALL_TRAPS.on(cst.Attribute)
def not_called(node: cst.Attribute, context: NodeContext) -> Iterator[Mutation]:
    """Propose `if x.ready():` for `if x.ready:` if `ready` is a method, because a method is always true."""
    if node.attr.value in context.source.methods and isinstance(context.parent, _TESTING):
        yield context.replacement("not called", 1.8, f"{context.code()}()")


@CALL_TRAPS.on(cst.Call)
def shared_argument(node: cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose a copy of an attribute that is passed to an object, which may keep it."""
    if context.function is None or not last_name(node).lstrip("_")[:1].isupper():
        return
    for arg in node.args:
        if attribute_of(arg.value) == "self":
            text = f"deepcopy({context.code(arg.value)})"
            yield context.replacement("copy", 0.2, text, arg.value, imports=("from copy import deepcopy",))


@CALL_TRAPS.on(cst.Call)
def lengths(node: cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose a length one less or one more, because the last index is one less than the length."""
    if last_name(node) == "len" and isinstance(node.func, cst.Name):
        is_operand = isinstance(context.parent, cst.BinaryOperation)
        for shift, prior in ((" - 1", 0.3), (" + 1", 0.2)):
            text = f"({context.code()}{shift})" if is_operand else f"{context.code()}{shift}"
            yield context.replacement("off by one", prior, text)


@CALL_TRAPS.on(cst.Lambda)
def magnitude(node: cst.Lambda, context: NodeContext) -> Iterator[Mutation]:
    """Propose the absolute value in a lambda, which is often a sort key."""
    if isinstance(node.body, (cst.Subscript, cst.BinaryOperation, cst.Attribute)):
        yield context.replacement("magnitude", 0.2, f"abs({context.code(node.body)})", node.body)


@CALL_TRAPS.on(cst.Comparison)
def distance(node: cst.Comparison, context: NodeContext) -> Iterator[Mutation]:
    """Propose the absolute value of a difference that is compared."""
    if isinstance(node.left, cst.BinaryOperation) and isinstance(node.left.operator, cst.Subtract):
        yield context.replacement("magnitude", 0.3, f"abs({context.code(node.left)})", node.left)


@CALL_TRAPS.on(cst.Call)
def numeric_call(node: cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose a call without `abs`, which hides the sign, or without `round`, which rounds halves to even."""
    if len(node.args) == 1:
        inner = context.code(node.args[0].value)
        if last_name(node) == "abs":
            yield context.replacement("magnitude", 0.3, inner)
        if last_name(node) == "round":
            yield context.replacement("rounding", 0.7, f"floor({inner} + 0.5)", imports=("from math import floor",))


@CALL_TRAPS.on(cst.BinaryOperation)
def floor_division(node: cst.BinaryOperation, context: NodeContext) -> Iterator[Mutation]:
    """Propose other rounding, because `//` rounds down, negative numbers too."""
    if isinstance(node.operator, cst.FloorDivide):
        dividend, divisor = context.code(node.left), context.code(node.right)
        yield context.replacement("rounding", 0.3, f"int({dividend} / {divisor})")
        yield context.replacement("rounding", 0.25, f"({dividend} + {divisor} - 1) // {divisor}")


@CALL_TRAPS.on(cst.Await)
def shielded(node: cst.Await, context: NodeContext) -> Iterator[Mutation]:
    """Propose a shield, because cancelling a coroutine that awaits a task cancels the task for all who await it."""
    if isinstance(node.expression, (cst.Name, cst.Attribute, cst.Subscript)):
        text = f"asyncio.shield({context.code(node.expression)})"
        yield context.replacement("shield", 0.4, text, node.expression, imports=("import asyncio",))


@CALL_TRAPS.on(cst.ClassDef)
def reflected(node: cst.ClassDef, context: NodeContext) -> Iterator[Mutation]:
    """Propose the reflected method, because `sum` begins with `0 + x`."""
    if not isinstance(node.body, cst.IndentedBlock):
        return
    names = {statement.name.value for statement in node.body.body if isinstance(statement, cst.FunctionDef)}
    for statement in node.body.body:
        if isinstance(statement, cst.FunctionDef) and statement.name.value in ("__add__", "__mul__"):
            reflected_name = statement.name.value.replace("__", "__r", 1)
            if reflected_name not in names:
                _, end = context.source.whole_lines(statement)
                _, indent = context.line_start(statement)
                text = f"\n{indent}{reflected_name} = {statement.name.value}\n"
                yield context.mutation("reflected", 0.5, Edit(end, end, text), is_hot_swappable=False)
