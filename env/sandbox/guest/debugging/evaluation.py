"""Evaluates code in a frame, so that code nested in it (comprehensions, lambdas, functions) sees the locals too."""

from __future__ import annotations

import types
from typing import Any, Dict, MutableMapping

from ..core.files import Refused


def run(source: str, mode: str, outer: Dict[str, Any], names: MutableMapping[str, Any]) -> Any:
    """Run source code in a mode of `compile` with these globals and locals. Returns the value of an expression."""
    return evaluate(compile(source, "<stdin>", mode), outer, names)


def evaluate(code: types.CodeType, outer: Dict[str, Any], names: MutableMapping[str, Any]) -> Any:
    """Do the same with compiled code.

    Python looks up the names of nested code in the globals only, so `p [x for x in rows if x > least]` would raise a
    NameError. Names that the code declares `global` go into `outer`.
    """
    if outer is names or not any(isinstance(constant, types.CodeType) for constant in code.co_consts):
        return eval(code, outer, names)
    scope = {**outer, **names}
    old_scope = dict(scope)
    try:
        return eval(code, scope, names)
    finally:
        for name, value in scope.items():
            if name not in old_scope or old_scope[name] is not value:
                outer[name] = value
        scope.update(names)  # so that a function defined here can call itself


def compiled(text: str) -> types.CodeType:
    """Compile an expression. Raises Refused."""
    try:
        return compile(text.strip(), "<expression>", "eval", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused("%r is not a Python expression: %s" % (text, error.args[0] if error.args else error)) from None
