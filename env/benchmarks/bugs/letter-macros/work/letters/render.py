# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Rendering templates."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Mapping, Sequence

from .errors import TemplateError
from .nodes import Call, Let, Loop, Macro, Node, Text, Value
from .parse import parse
from .scope import Scope


@dataclass
class _Bound:
    """A macro and the scope it was written in."""

    macro: Macro
    scope: Scope


def render(source: str, values: Mapping[str, Any]) -> str:
    """Fill in a template.

    Names are looked up where they are written: the body of a macro SHALL see its parameters and the names of the
    place that defines it, never those of the place that calls it. Names set in a loop or a macro end with it.
    """
    out: List[str] = []
    _render(parse(source), Scope([dict(values)]), out)
    return "".join(out)


def _evaluate(word: str, scope: Scope) -> Any:
    if word.isdigit():
        return int(word)
    if word[0] == word[-1] == "'":
        return word[1:-1]
    value = scope.find(word.split(".")[0])
    for key in word.split(".")[1:]:
        value = value[key]
    return value


def _render(nodes: Sequence[Node], scope: Scope, out: List[str]) -> None:
    for node in nodes:
        if isinstance(node, Text):
            out.append(node.text)
        elif isinstance(node, Value):
            out.append(str(_evaluate(node.name, scope)))
        elif isinstance(node, Let):
            scope.set(node.name, _evaluate(node.value, scope))
        elif isinstance(node, Loop):
            for item in _evaluate(node.items, scope):
                with scope.inner({node.name: item}):
                    _render(node.body, scope, out)
        elif isinstance(node, Macro):
            scope.set(node.name, _Bound(node, scope.here()))
        elif isinstance(node, Call):
            _call(node, scope, out)


def _call(node: Call, scope: Scope, out: List[str]) -> None:
    bound = _evaluate(node.name, scope)
    if not isinstance(bound, _Bound):
        raise TemplateError(f"{node.name} is no macro")
    if len(node.values) != len(bound.macro.parameters):
        raise TemplateError(f"{node.name} takes {len(bound.macro.parameters)} values")
    values = [_evaluate(word, scope) for word in node.values]
    with bound.scope.inner(dict(zip(bound.macro.parameters, values))):
        _render(bound.macro.body, bound.scope, out)
