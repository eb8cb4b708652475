"""Names in concrete syntax trees."""

from __future__ import annotations

import libcst as cst


def names_in(node: cst.CSTNode) -> set[str]:
    """Return every name and attribute name below a node."""
    if isinstance(node, cst.Name):
        return {node.value}
    return set().union(*map(names_in, node.children))


def attribute_of(node: cst.CSTNode) -> str:
    """Return `base` of `base.name`; empty for anything else."""
    return node.value.value if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) else ""


def last_name(node: cst.CSTNode) -> str:
    """Return `name` of `name`, `a.b.name`, `name(...)`; empty for anything else."""
    if isinstance(node, cst.Call):
        node = node.func
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""
