"""Known traps of control flow: scopes, closures, coroutines, exceptions, protocols."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Iterator

import libcst as cst

from stackrank.env.mutation.edits import Edit, indentation, reindent
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.nodes import last_name, names_in
from stackrank.env.mutation.operators.base import Operators
from stackrank.env.mutation.operators.names import variables
from stackrank.env.mutation.source import NodeContext

FLOW_TRAPS = Operators()

_FLAT = ("create_task", "ensure_future", "gather", "wait_for", "shield")
"""Functions that take a coroutine without `await`."""


@FLOW_TRAPS.on(cst.Call)
def missing_await(node: cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose to await a call of a coroutine function of this program."""
    function = context.function
    if function is None or function.asynchronous is None:
        return
    if isinstance(context.parent, cst.Await) or last_name(node) not in context.source.coroutines:
        return
    wrapped = any(
        isinstance(ancestor, cst.Call) and last_name(ancestor) in _FLAT for ancestor in context.ancestors[-3:]
    )
    await_ = f"await {context.code()}"
    atom = isinstance(context.parent, (cst.Attribute, cst.Subscript, cst.Call, cst.Await))
    prior = 0.2 if wrapped else 2.5
    yield context.replacement("await", prior, f"({await_})" if atom else await_)


@FLOW_TRAPS.on(cst.FunctionDef)
def scope(node: cst.FunctionDef, context: NodeContext) -> Iterator[Mutation]:
    """Propose `nonlocal` or `global` for a variable of an outer scope that the function means to set."""
    if not isinstance(node.body, cst.IndentedBlock):
        return
    outer = [function for function in context.ancestors if isinstance(function, cst.FunctionDef)]
    parameters = {
        param.name.value for param in (*node.params.params, *node.params.kwonly_params, *node.params.posonly_params)
    }
    declared: set[str] = set()
    existing: cst.Nonlocal | cst.Global | None = None
    for line in node.body.body:
        for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(small, (cst.Nonlocal, cst.Global)):
                declared |= {item.name.value for item in small.names}
                existing = small
    assigned = [name for name in variables(node) if name not in parameters | declared]
    if outer:
        outer_names = {name for function in outer for name in variables(function) if function is not node}
        word = "nonlocal"
    else:
        outer_names = (
            _module_names(context.ancestors[0])
            if context.ancestors and isinstance(context.ancestors[0], cst.Module)
            else set()
        )
        word = "global"
    body = list(node.body.body)
    text = context.source_lines(body[0]).lstrip()
    docstrings = 1 if text.startswith(('"""', "'''")) and len(body) > 1 else 0
    start, indent = context.line_start(body[docstrings])
    for name in assigned:
        if name in outer_names:
            if isinstance(existing, cst.Nonlocal) and word == "nonlocal":
                edit = context.replace_node(f"{context.code(existing).rstrip()}, {name}", existing)
            else:
                edit = Edit(start, start, f"{indent}{word} {name}\n")
            yield context.mutation("scope", 1.5 if outer else 0.8, edit, is_hot_swappable=bool(outer))


@functools.lru_cache(maxsize=64)
def _module_names(module: cst.Module) -> set[str]:
    names: set[str] = set()
    for line in module.body:
        for small in getattr(line, "body", ()) if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(small, cst.Assign):
                names |= {target.target.value for target in small.targets if isinstance(target.target, cst.Name)}
            elif isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name):
                names.add(small.target.value)
    return names


@FLOW_TRAPS.on(cst.Lambda)
def late_binding(node: cst.Lambda, context: NodeContext) -> Iterator[Mutation]:
    """Propose to bind the loop variable, because a lambda in a loop sees its last value."""
    loop = context.loop
    targets: set[str] = names_in(loop.target) if isinstance(loop, cst.For) else set()
    for ancestor in context.ancestors:
        if isinstance(ancestor, (cst.ListComp, cst.DictComp, cst.SetComp, cst.GeneratorExp)):
            targets |= names_in(ancestor.for_in.target)
    captured = sorted(names_in(node.body) & targets)
    if captured:
        params = context.code(node.params)
        bound = ", ".join(([params] if params else []) + [f"{name}={name}" for name in captured])
        yield context.replacement("late binding", 1.3, f"lambda {bound}: {context.code(node.body)}")


@FLOW_TRAPS.on(cst.Try)
def handlers(node: cst.Try, context: NodeContext) -> Iterator[Mutation]:
    """Propose another place for `except` clauses that others hide, `finally` for `else`, or a wider exception."""
    spans = [context.source.whole_lines(handler) for handler in node.handlers]
    text = context.source.text
    for late in range(1, len(node.handlers)):
        for early in range(late):
            if _hides(node.handlers[early], node.handlers[late]):
                changes = (
                    Edit(spans[early][0], spans[early][0], text[slice(*spans[late])]),
                    Edit(*spans[late], ""),
                )
                yield context.mutation("hidden handler", 2.0, *changes)
                break
    if node.orelse is not None and node.finalbody is None:
        start, _ = context.source.span(node.orelse)
        at = text.find("else", start, start + 8)
        if at >= 0:
            yield context.mutation("finally", 0.4, Edit(at, at + 4, "finally"))
    for handler in node.handlers:
        if isinstance(handler.type, cst.Name) and handler.type.value == "Exception":
            yield context.replacement("exception kind", 0.2, "BaseException", handler.type)


def _hides(early: cst.ExceptHandler, late: cst.ExceptHandler) -> bool:
    ours, theirs = _kinds(early), _kinds(late)
    return any(issubclass(kind, ours) for kind in theirs) if ours else False


def _kinds(handler: cst.ExceptHandler) -> tuple[type[BaseException], ...]:
    if handler.type is None:
        return (BaseException,)
    builtin_names = (getattr(builtins, name, None) for name in sorted(names_in(handler.type)))
    return tuple(kind for kind in builtin_names if isinstance(kind, type) and issubclass(kind, BaseException))


@FLOW_TRAPS.on(cst.Return)
def swallowing(node: cst.Return, context: NodeContext) -> Iterator[Mutation]:
    """Propose not to return a value from `__exit__`, because it decides whether an exception propagates."""
    leaving = context.function is not None and context.function.name.value in ("__exit__", "__aexit__")
    if leaving and isinstance(node.value, (cst.Call, cst.Await)):
        yield context.replacement("swallowed exception", 1.6, context.code(node.value))


@FLOW_TRAPS.on(cst.SimpleStatementLine)
def protocols(node: cst.SimpleStatementLine, context: NodeContext) -> Iterator[Mutation]:
    """Propose the particular exception that a special method has to raise."""
    if context.function is None or not isinstance(context.parent, cst.IndentedBlock):
        return
    name = context.function.name.value
    raised = {"__getattr__": "AttributeError", "__next__": "StopIteration", "__missing__": "KeyError"}.get(name)
    if raised and isinstance(node.body[0], (cst.Return, cst.Assign)):
        text = context.source_lines()
        indent = indentation(text)
        inner = reindent(text, indent, indent + "    ")
        handler = f"{indent}except LookupError as error:\n{indent}    raise {raised}(str(error)) from error\n"
        guarded = f"{indent}try:\n{inner}{handler}"
        yield context.mutation("protocol", 0.9, context.replace_lines(guarded))
