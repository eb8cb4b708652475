"""Known traps of control flow: scopes, closures, coroutines, exceptions, protocols."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Iterator

import libcst as cst

from stackrank.extensions.repair.names import variables
from stackrank.extensions.repair.source import (
    Candidate,
    Change,
    Operators,
    Place,
    indentation,
    last_name,
    names_in,
    reindent,
)

FLOW = Operators()

_FLAT = ("create_task", "ensure_future", "gather", "wait_for", "shield")
"""Functions that take a coroutine without `await`."""


@FLOW.on(cst.Call)
def missing_await(node: cst.Call, place: Place) -> Iterator[Candidate]:
    """Propose to await a call of a coroutine function of this program."""
    function = place.function
    if function is None or function.asynchronous is None:
        return
    if isinstance(place.parent, cst.Await) or last_name(node) not in place.source.coroutines:
        return
    wrapped = any(isinstance(each, cst.Call) and last_name(each) in _FLAT for each in place.above[-3:])
    await_ = f"await {place.code()}"
    atom = isinstance(place.parent, (cst.Attribute, cst.Subscript, cst.Call, cst.Await))
    prior = 0.2 if wrapped else 2.5
    yield place.swapped("await", prior, f"({await_})" if atom else await_)


@FLOW.on(cst.FunctionDef)
def scope(node: cst.FunctionDef, place: Place) -> Iterator[Candidate]:
    """Propose `nonlocal` or `global` for a variable of an outer scope that the function means to set."""
    if not isinstance(node.body, cst.IndentedBlock):
        return
    outer = [each for each in place.above if isinstance(each, cst.FunctionDef)]
    own = {param.name.value for param in (*node.params.params, *node.params.kwonly_params, *node.params.posonly_params)}
    declared: set[str] = set()
    existing: cst.Nonlocal | cst.Global | None = None
    for line in node.body.body:
        for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(small, (cst.Nonlocal, cst.Global)):
                declared |= {item.name.value for item in small.names}
                existing = small
    assigned = [name for name in variables(node) if name not in own | declared]
    if outer:
        known = {name for each in outer for name in variables(each) if each is not node}
        word = "nonlocal"
    else:
        known = _module_names(place.above[0]) if place.above and isinstance(place.above[0], cst.Module) else set()
        word = "global"
    body = list(node.body.body)
    text = place.text_of_lines(body[0]).lstrip()
    after = 1 if text.startswith(('"""', "'''")) and len(body) > 1 else 0
    start, indent = place.head(body[after])
    for name in assigned:
        if name in known:
            if isinstance(existing, cst.Nonlocal) and word == "nonlocal":
                change = place.swap(f"{place.code(existing).rstrip()}, {name}", existing)
            else:
                change = Change(start, start, f"{indent}{word} {name}\n")
            yield place.candidate("scope", 1.5 if outer else 0.8, change, warm=bool(outer))


@functools.lru_cache(maxsize=64)
def _module_names(module: cst.Module) -> set[str]:
    found: set[str] = set()
    for line in module.body:
        for small in getattr(line, "body", ()) if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(small, cst.Assign):
                found |= {target.target.value for target in small.targets if isinstance(target.target, cst.Name)}
            elif isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name):
                found.add(small.target.value)
    return found


@FLOW.on(cst.Lambda)
def late_binding(node: cst.Lambda, place: Place) -> Iterator[Candidate]:
    """Propose to bind the loop variable, because a lambda in a loop sees its last value."""
    loop = place.loop
    targets: set[str] = names_in(loop.target) if isinstance(loop, cst.For) else set()
    for each in place.above:
        if isinstance(each, (cst.ListComp, cst.DictComp, cst.SetComp, cst.GeneratorExp)):
            targets |= names_in(each.for_in.target)
    used = sorted(names_in(node.body) & targets)
    if used:
        params = place.code(node.params)
        bound = ", ".join(([params] if params else []) + [f"{name}={name}" for name in used])
        yield place.swapped("late binding", 1.3, f"lambda {bound}: {place.code(node.body)}")


@FLOW.on(cst.Try)
def handlers(node: cst.Try, place: Place) -> Iterator[Candidate]:
    """Propose another place for `except` clauses that others hide, `finally` for `else`, or a wider exception."""
    spans = [place.source.whole_lines(handler) for handler in node.handlers]
    text = place.source.text
    for late in range(1, len(node.handlers)):
        for early in range(late):
            if _hides(node.handlers[early], node.handlers[late]):
                changes = (
                    Change(spans[early][0], spans[early][0], text[slice(*spans[late])]),
                    Change(*spans[late], ""),
                )
                yield place.candidate("hidden handler", 2.0, *changes)
                break
    if node.orelse is not None and node.finalbody is None:
        start, _ = place.source.span(node.orelse)
        at = text.find("else", start, start + 8)
        if at >= 0:
            yield place.candidate("finally", 0.4, Change(at, at + 4, "finally"))
    for handler in node.handlers:
        if isinstance(handler.type, cst.Name) and handler.type.value == "Exception":
            yield place.swapped("exception kind", 0.2, "BaseException", handler.type)


def _hides(early: cst.ExceptHandler, late: cst.ExceptHandler) -> bool:
    ours, theirs = _kinds(early), _kinds(late)
    return any(issubclass(each, ours) for each in theirs) if ours else False


def _kinds(handler: cst.ExceptHandler) -> tuple[type[BaseException], ...]:
    if handler.type is None:
        return (BaseException,)
    found = (getattr(builtins, name, None) for name in sorted(names_in(handler.type)))
    return tuple(each for each in found if isinstance(each, type) and issubclass(each, BaseException))


@FLOW.on(cst.Return)
def swallowing(node: cst.Return, place: Place) -> Iterator[Candidate]:
    """Propose not to return a value from `__exit__`, because it decides whether an exception propagates."""
    leaving = place.function is not None and place.function.name.value in ("__exit__", "__aexit__")
    if leaving and isinstance(node.value, (cst.Call, cst.Await)):
        yield place.swapped("swallowed exception", 1.6, place.code(node.value))


@FLOW.on(cst.SimpleStatementLine)
def protocols(node: cst.SimpleStatementLine, place: Place) -> Iterator[Candidate]:
    """Propose the particular exception that a special method has to raise."""
    if place.function is None or not isinstance(place.parent, cst.IndentedBlock):
        return
    name = place.function.name.value
    raised = {"__getattr__": "AttributeError", "__next__": "StopIteration", "__missing__": "KeyError"}.get(name)
    if raised and isinstance(node.body[0], (cst.Return, cst.Assign)):
        text = place.text_of_lines()
        indent = indentation(text)
        inner = reindent(text, indent, indent + "    ")
        handler = f"{indent}except LookupError as error:\n{indent}    raise {raised}(str(error)) from error\n"
        guarded = f"{indent}try:\n{inner}{handler}"
        yield place.candidate("protocol", 0.9, place.lines(guarded))
