"""The function around a node, and the names that it binds."""

from __future__ import annotations

import functools

import libcst as cst

from stackrank.env.mutation.source import NodeContext


def enclosing_function(context: NodeContext) -> cst.FunctionDef | None:
    """Return the innermost function that contains a node, in its header or its body; the node itself if it is one."""
    path = (*context.ancestors, context.node)
    return next((node for node in reversed(path) if type(node) is cst.FunctionDef), None)


def function_name(context: NodeContext) -> str:
    """Return the name of the innermost function around a node; empty at module level."""
    function = enclosing_function(context)
    return function.name.value if function is not None else ""


@functools.lru_cache(maxsize=512)
def local_names(function: cst.FunctionDef) -> tuple[str, ...]:
    """Return the parameters of a function, then the names to which it assigns."""
    params = function.params
    names = [param.name.value for param in (*params.posonly_params, *params.params, *params.kwonly_params)]

    class Assignments(cst.CSTVisitor):
        def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
            return node is function

        def visit_ClassDef(self, node: cst.ClassDef) -> bool:
            return False

        def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
            if isinstance(node.target, cst.Name):
                names.append(node.target.value)

        def visit_For(self, node: cst.For) -> None:
            if isinstance(node.target, cst.Name):
                names.append(node.target.value)

    function.visit(Assignments())
    return tuple(dict.fromkeys(names))
