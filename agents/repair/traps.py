"""Known traps of syntax and calls: precedence, chained comparisons, methods that are not called, rounding."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from agents.repair.source import Candidate, Change, Operator, Place, indentation, last_name


def chained_comparison(place: Place) -> Iterator[Candidate]:
    """`a > 0 == b` means `a > 0 and 0 == b`."""
    node = place.node
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 2:
        return
    first, second = node.comparisons
    operators = [" ".join(place.code(each.operator).split()) for each in (first, second)]
    orders = {"<", "<=", ">", ">="}
    if set(operators) <= orders:
        return
    left, middle, right = place.code(node.left), place.code(first.comparator), place.code(second.comparator)
    yield place.candidate("precedence", 1.5, place.swap(f"({left} {operators[0]} {middle}) {operators[1]} {right}"))
    yield place.candidate("precedence", 0.8, place.swap(f"{left} {operators[0]} ({middle} {operators[1]} {right})"))


def conditional_operand(place: Place) -> Iterator[Candidate]:
    """`a + b if c else d` means `(a + b) if c else d`."""
    node = place.node
    if not isinstance(node, cst.IfExp) or not isinstance(node.body, (cst.BinaryOperation, cst.BooleanOperation)):
        return
    if node.body.lpar:
        return
    left, operator, right = (place.code(each) for each in (node.body.left, node.body.operator, node.body.right))
    rest = f"if {place.code(node.test)} else {place.code(node.orelse)}"
    yield place.candidate("precedence", 0.9, place.swap(f"{left} {operator.strip()} ({right} {rest})"))


def or_in_except(place: Place) -> Iterator[Candidate]:
    """`except (A or B)` catches A only; so does `isinstance(x, A or B)`."""
    node = place.node
    kinds: list[str] = []

    def collect(each: cst.BaseExpression) -> None:
        if isinstance(each, cst.BooleanOperation):
            collect(each.left)
            collect(each.right)
        else:
            kinds.append(place.code(each))

    value = node.type if isinstance(node, cst.ExceptHandler) else None
    if isinstance(node, cst.Call) and last_name(node) == "isinstance" and len(node.args) == 2:
        value = node.args[1].value
    if isinstance(value, cst.BooleanOperation):
        collect(value)
        inner = ", ".join(kinds)
        yield place.candidate("precedence", 3.0, place.swap(inner if value.lpar else f"({inner})", value))


def not_called(place: Place) -> Iterator[Candidate]:
    """`if x.ready:` where `ready` is a method: a method is always true."""
    node = place.node
    if not isinstance(node, cst.Attribute) or node.attr.value not in place.source.methods:
        return
    parent = place.parent
    if isinstance(parent, cst.Call) and parent.func is node:
        return
    tested = isinstance(parent, (cst.If, cst.While, cst.IfExp, cst.BooleanOperation, cst.CompIf, cst.Comparison))
    tested = tested or isinstance(parent, (cst.UnaryOperation, cst.Return, cst.GeneratorExp, cst.ListComp))
    if tested and not isinstance(parent, cst.AssignTarget):
        yield place.candidate("not called", 1.8, place.swap(f"{place.code()}()"))


def shared_argument(place: Place) -> Iterator[Candidate]:
    """What an object holds, handed to another that keeps it."""
    node = place.node
    if not isinstance(node, cst.Call) or place.function is None:
        return
    name = last_name(node)
    keeps = name.lstrip("_")[:1].isupper()
    if not keeps:
        return
    for arg in node.args:
        value = arg.value
        own = isinstance(value, cst.Attribute) and isinstance(value.value, cst.Name) and value.value.value == "self"
        if own:
            code = place.code(value)
            deep = place.swap(f"deepcopy({code})", value)
            yield place.candidate("copy", 0.2, deep, imports=("from copy import deepcopy",))


def lengths(place: Place) -> Iterator[Candidate]:
    """The last index is one less than the length."""
    node = place.node
    if isinstance(node, cst.Call) and last_name(node) == "len" and isinstance(node.func, cst.Name):
        inside = isinstance(place.parent, cst.BinaryOperation)
        for shift, prior in ((" - 1", 0.3), (" + 1", 0.2)):
            text = f"({place.code()}{shift})" if inside else f"{place.code()}{shift}"
            yield place.candidate("off by one", prior, place.swap(text))


def magnitudes(place: Place) -> Iterator[Candidate]:
    """The size of a number, whatever its sign."""
    node = place.node
    if isinstance(node, cst.Lambda) and isinstance(node.body, (cst.Subscript, cst.BinaryOperation, cst.Attribute)):
        yield place.candidate("magnitude", 0.2, place.swap(f"abs({place.code(node.body)})", node.body))
    elif isinstance(node, cst.Comparison) and isinstance(node.left, cst.BinaryOperation):
        if isinstance(node.left.operator, cst.Subtract):
            yield place.candidate("magnitude", 0.3, place.swap(f"abs({place.code(node.left)})", node.left))
    elif isinstance(node, cst.Call) and last_name(node) == "abs" and len(node.args) == 1:
        yield place.candidate("magnitude", 0.3, place.swap(place.code(node.args[0].value)))


def rounding(place: Place) -> Iterator[Candidate]:
    """`round` rounds halves to even; `//` rounds down, negative numbers too."""
    node = place.node
    if isinstance(node, cst.Call) and last_name(node) == "round" and len(node.args) == 1:
        inner = place.code(node.args[0].value)
        text = f"floor({inner} + 0.5)"
        yield place.candidate("rounding", 0.7, place.swap(text), imports=("from math import floor",))
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.FloorDivide):
        left, right = place.code(node.left), place.code(node.right)
        yield place.candidate("rounding", 0.3, place.swap(f"int({left} / {right})"))
        yield place.candidate("rounding", 0.25, place.swap(f"({left} + {right} - 1) // {right}"))


def shielded(place: Place) -> Iterator[Candidate]:
    """Whoever is cancelled while it awaits a task cancels the task, for all who await it."""
    node = place.node
    if isinstance(node, cst.Await) and isinstance(node.expression, (cst.Name, cst.Attribute, cst.Subscript)):
        change = place.swap(f"asyncio.shield({place.code(node.expression)})", node.expression)
        yield place.candidate("shield", 0.4, change, imports=("import asyncio",))


def reflected(place: Place) -> Iterator[Candidate]:
    """`sum` begins with `0 + x`."""
    node = place.node
    if not isinstance(node, cst.ClassDef) or not isinstance(node.body, cst.IndentedBlock):
        return
    names = {each.name.value for each in node.body.body if isinstance(each, cst.FunctionDef)}
    for each in node.body.body:
        if isinstance(each, cst.FunctionDef) and each.name.value in ("__add__", "__mul__"):
            other = each.name.value.replace("__", "__r", 1)
            if other not in names:
                start, end = place.source.whole_lines(each)
                indent = indentation(place.source.text[start:].lstrip("\n"))
                text = f"\n{indent}{other} = {each.name.value}\n"
                yield place.candidate("reflected", 0.5, Change(end, end, text), warm=False)


TRAPS: tuple[Operator, ...] = (
    chained_comparison,
    conditional_operand,
    or_in_except,
    not_called,
    shared_argument,
    lengths,
    magnitudes,
    rounding,
    shielded,
    reflected,
)
