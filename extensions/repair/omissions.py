"""Puts in what is easily left out where a value is handed on: `not` before a flag, one more or less of a number."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import libcst as cst

from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.nodes import last_name
from stackrank.env.mutation.operators.names import flags
from stackrank.env.mutation.source import NodeContext, ParsedFile


def omissions(context: NodeContext) -> Iterator[Mutation]:
    """Propose `not x` for a flag and `x + 1` for a number that is an argument, assigned or returned."""
    node = context.node
    if not isinstance(node, (cst.Name, cst.Attribute, cst.Call)) or not _is_handed_on(context):
        return
    code, name = context.code(node), last_name(node)
    if name in flags(context.source):
        yield context.replacement("left out not", 0.3, f"not {code}")
    elif name in _numbers(context.source) and not isinstance(node, cst.Call):
        for shift in (" + 1", " - 1"):
            yield context.replacement("off by one", 0.25, code + shift)


def _is_handed_on(context: NodeContext) -> bool:
    parent = context.parent
    if context.function is None or (isinstance(parent, cst.Arg) and parent.star):
        return False
    return isinstance(parent, (cst.Arg, cst.Return, cst.Assign, cst.AnnAssign)) and parent.value is context.node


@functools.lru_cache(maxsize=64)
def _numbers(source: ParsedFile) -> frozenset[str]:
    """Return the names that the file annotates as `int`, compares with whole numbers, or adds these to."""
    names = set()
    for context in source.contexts:
        node = context.node
        if isinstance(node, (cst.AnnAssign, cst.Param)) and node.annotation is not None:
            if source.code(node.annotation.annotation) == "int":
                names.add(last_name(node.target if isinstance(node, cst.AnnAssign) else node.name))
        elif isinstance(node, cst.Comparison):
            sides = [node.left, *(target.comparator for target in node.comparisons)]
            names.update(_beside_numbers(sides))
        elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Add, cst.Subtract)):
            names.update(_beside_numbers([node.left, node.right]))
        elif isinstance(node, cst.AugAssign) and isinstance(node.value, cst.Integer):
            names.add(last_name(node.target))
    return frozenset(names)


def _beside_numbers(sides: list[cst.BaseExpression]) -> Iterator[str]:
    if any(isinstance(side, cst.Integer) for side in sides):
        yield from (last_name(side) for side in sides if isinstance(side, (cst.Name, cst.Attribute)))
