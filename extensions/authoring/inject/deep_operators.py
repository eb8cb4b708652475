"""Mistakes that show elsewhere: in a later call, in other code that holds the same object, in the order of things.

A reader of the changed line sees nothing odd. Whether such a bug is hard to find is measured, not assumed (`deep`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m

from stackrank.env.mutation.source import NodeContext
from stackrank.extensions.authoring.inject.functions import function_name
from stackrank.extensions.authoring.inject.operators import OPERATORS, Operator, Replacement, operator

_ALSO = (
    "shared-copy", "stale-state", "mutable-default", "moved-statement", "boundary", "off-by-one", "wrong-constant",
    "dropped-argument", "swallowed-exception", "wrong-jump",
)  # fmt: skip
"""The ordinary mistakes that may be deep as well."""
_OTHER_END = {"appendleft": "append", "extendleft": "extend", "popleft": "pop", "setdefault": "get"}
_EMPTY = m.List([]) | m.Dict([]) | m.Name("None") | m.Integer("0") | m.Name("False") | m.Call(args=[])
_OWN = m.Attribute(value=m.Name("self") | m.Name("cls"))
_LOOKED_UP = ("get", "pop", "setdefault", "add", "discard")

DEEP: list[Operator] = []
_operator = functools.partial(operator, into=DEEP)


@_operator("state", cst.SimpleStatementLine)
def forgotten_reset(node: cst.SimpleStatementLine, context: NodeContext) -> Iterator[Replacement]:
    """Keep the state of an earlier call: do not empty an attribute again."""
    reset = m.Assign(targets=[m.AssignTarget(_OWN)], value=_EMPTY)
    if function_name(context) != "__init__" and m.matches(node, m.SimpleStatementLine([reset])):
        yield node.with_changes(body=[cst.Pass()])


@_operator("state", cst.Tuple)
def key_without_a_part(node: cst.Tuple, context: NodeContext) -> Iterator[Replacement]:
    """Leave one part out of a key that has several."""
    parent = context.parent
    call = context.ancestors[-2]
    looked_up = isinstance(parent, cst.Index) or (
        isinstance(parent, cst.Arg)
        and isinstance(call, cst.Call)
        and isinstance(call.func, cst.Attribute)
        and call.func.attr.value in _LOOKED_UP
        and call.args[0] is parent
    )
    is_key = isinstance(parent, cst.Assign) and any("key" in _name(element.target) for element in parent.targets)
    if (looked_up or is_key or _makes_key(context)) and len(node.elements) > 1:
        for left_out in range(len(node.elements)):
            elements = [element for number, element in enumerate(node.elements) if number != left_out]
            # Keep one comma, so that a single element is still a tuple.
            last = elements[-1].with_changes(comma=cst.Comma() if len(elements) == 1 else cst.MaybeSentinel.DEFAULT)
            yield node.with_changes(elements=[*elements[:-1], last])


def _name(node: cst.CSTNode) -> str:
    name = node.attr if isinstance(node, cst.Attribute) else node
    return name.value.lower() if isinstance(name, cst.Name) else ""


def _makes_key(context: NodeContext) -> bool:
    return isinstance(context.parent, cst.Return) and any(
        part in function_name(context) for part in ("key", "hash", "signature")
    )


@_operator("state", cst.BinaryOperation)
def key_without_an_addend(node: cst.BinaryOperation, context: NodeContext) -> Iterator[Replacement]:
    """Leave the last part out of a key that is a sum of parts."""
    parent = context.parent
    is_key = isinstance(parent, cst.Assign | cst.AugAssign) and any(
        "key" in _name(target.target) for target in (parent.targets if isinstance(parent, cst.Assign) else [parent])
    )
    if isinstance(node.operator, cst.Add) and (is_key or _makes_key(context)):
        yield node.left


@_operator("iteration", cst.Call)
def other_order(node: cst.Call, context: NodeContext) -> Iterator[Replacement]:
    """Use the other end of a list or queue, do not reverse an order, or sort without the key."""
    if isinstance(node.func, cst.Name) and node.func.value == "reversed" and len(node.args) == 1:
        yield node.args[0].value
    if isinstance(node.func, cst.Name) and node.func.value == "sorted" and len(node.args) > 1:
        yield node.with_changes(args=[node.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)])
    if not isinstance(node.func, cst.Attribute):
        return
    name = node.func.attr.value
    if name == "insert" and m.matches(node, m.Call(args=[m.Arg(m.Integer("0")), m.Arg()])):
        last = node.args[1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        yield node.with_changes(func=node.func.with_changes(attr=cst.Name("append")), args=[last])
    elif name == "append" and isinstance(node.func.value, cst.Attribute):
        first = cst.Arg(cst.Integer("0"), comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        yield node.with_changes(func=node.func.with_changes(attr=cst.Name("insert")), args=[first, *node.args])
    elif name == "pop" and m.matches(node, m.Call(args=[m.Arg(m.Integer("0"))])):
        yield node.with_changes(args=[])
    elif name in _OTHER_END:
        yield node.with_changes(func=node.func.with_changes(attr=cst.Name(_OTHER_END[name])))


@_operator("iteration", cst.For)
def changed_while_iterating(node: cst.For, context: NodeContext) -> Iterator[Replacement]:
    """Loop over an object itself, which may change meanwhile, and not over a copy."""
    copied = node.iter
    if m.matches(copied, m.Call(func=m.Name("list") | m.Name("tuple"), args=[m.Arg(m.Call() | m.Attribute())])):
        assert isinstance(copied, cst.Call)
        yield node.with_changes(iter=copied.args[0].value)


@_operator("exceptions", cst.Try)
def not_restored(node: cst.Try, context: NodeContext) -> Iterator[Replacement]:
    """Run the code of a `finally` only if nothing is raised."""
    if node.finalbody is not None and not node.handlers and node.orelse is None:
        body, final = node.body.body, node.finalbody.body.body
        returning = m.SimpleStatementLine([m.Return()])
        if isinstance(node.body, cst.IndentedBlock) and not any(m.findall(statement, m.Return()) for statement in body):
            yield cst.FlattenSentinel([*body, *final])
        elif m.matches(body[-1], returning):
            yield cst.FlattenSentinel([*body[:-1], *final, body[-1]])


@_operator("logic", cst.Comparison)
def empty_for_none(node: cst.Comparison, context: NodeContext) -> Iterator[Replacement]:
    """Take an empty value or zero for a missing one."""
    if len(node.comparisons) != 1 or not m.matches(node.comparisons[0].comparator, m.Name("None")):
        return
    if isinstance(node.comparisons[0].operator, cst.IsNot):
        yield node.left
    elif isinstance(node.comparisons[0].operator, cst.Is):
        yield cst.UnaryOperation(cst.Not(), node.left)


@_operator("numbers", cst.Call)
def lost_precision(node: cst.Call, context: NodeContext) -> Iterator[Replacement]:
    """Cut off a number that should be rounded, or take `seconds` of a time span for its total."""
    if isinstance(node.func, cst.Name) and node.func.value == "round":
        yield node.with_changes(func=cst.Name("int"), args=[node.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)])
    elif isinstance(node.func, cst.Attribute) and node.func.attr.value == "total_seconds":
        yield node.func.with_changes(attr=cst.Name("seconds"))


@_operator("state", cst.Call)
def shared_for_copied(node: cst.Call, context: NodeContext) -> Iterator[Replacement]:
    """Share an item or a result instead of copying it, or copy only shallowly."""
    if not isinstance(node.func, cst.Name) or len(node.args) != 1:
        return
    arg = node.args[0].value
    if node.func.value == "deepcopy":
        yield node.with_changes(func=cst.Name("copy"))
    elif node.func.value in ("list", "dict", "set") and isinstance(arg, cst.Subscript | cst.Call):
        yield arg


DEEP += [operator for operator in OPERATORS if operator.name in _ALSO]
