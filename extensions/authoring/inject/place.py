"""Where a node stands: what operators ask about its surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import libcst as cst
from libcst.metadata import ExpressionContext, ExpressionContextProvider, MetadataWrapper


@dataclass(frozen=True)
class Place:
    """What surrounds a node."""

    function: cst.FunctionDef
    parents: Mapping[cst.CSTNode, cst.CSTNode]
    """The parents of the nodes visited so far. They include those of the node and of all nodes above it."""
    module: MetadataWrapper

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The parameters of the function, then the names to which it assigns."""
        return _locals(self.function)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the node above."""
        return self.parents.get(node)

    def is_read(self, node: cst.CSTNode) -> bool:
        """Whether the program reads a name here, and neither assigns nor deletes it."""
        # Worked out for the module when the first operator asks, since few operators do.
        return self.module.resolve(ExpressionContextProvider).get(node) is ExpressionContext.LOAD


def _locals(function: cst.FunctionDef) -> tuple[str, ...]:
    """Return the parameters of a function, then the names to which it assigns."""
    params = function.params
    found = [each.name.value for each in (*params.posonly_params, *params.params, *params.kwonly_params)]

    class Assigned(cst.CSTVisitor):
        def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
            return node is function

        def visit_ClassDef(self, node: cst.ClassDef) -> bool:
            return False

        def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
            if isinstance(node.target, cst.Name):
                found.append(node.target.value)

        def visit_For(self, node: cst.For) -> None:
            if isinstance(node.target, cst.Name):
                found.append(node.target.value)

    function.visit(Assigned())
    return tuple(dict.fromkeys(found))
