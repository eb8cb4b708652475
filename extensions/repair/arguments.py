"""Puts in arguments that a call lacks, and exchanges values that stand side by side."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

import libcst as cst

from stackrank.env.mutation.edits import Edit
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.nodes import last_name
from stackrank.env.mutation.operators.names import variables
from stackrank.env.mutation.source import NodeContext, ParsedFile

_TAKES_DEFAULT = {"get": 2, "getattr": 3, "next": 2, "pop": 2}
"""Functions that take a default -> its place among their arguments."""
_DEFAULTS = ("None", "0", '""', "[]", "{}", "False", "-1")
"""What is most often a default."""
_LITERALS = (cst.Integer, cst.Float, cst.SimpleString, cst.List, cst.Dict, cst.Tuple, cst.UnaryOperation)
_UNORDERED = {"isinstance", "issubclass", "startswith", "endswith"}
"""Functions that take tuples of alternatives, whose order does not matter."""
MOST = 4
"""The most arguments that are tried for one call, and the most pairs that are exchanged in one place."""


def lacking_arguments(context: NodeContext) -> Iterator[Mutation]:
    """Propose a default, or an argument for an optional parameter of the same name, for a call that lacks it."""
    node = context.node
    if (
        not isinstance(node, cst.Call)
        or context.function is None
        or not node.args
        or any(arg.star for arg in node.args)
    ):
        return
    number, last = len(node.args), node.args[-1]
    start, end = context.source.span(last)
    is_method = isinstance(node.func, cst.Attribute) or last_name(node) in ("getattr", "next")
    is_position = isinstance(node.args[0].value, cst.Integer)  # in a list
    if is_method and _TAKES_DEFAULT.get(last_name(node)) == number + 1 and not is_position:
        bare = isinstance(last.value, cst.GeneratorExp) and not last.value.lpar
        for rank, default in enumerate(_defaults(context)[:MOST]):
            edits = (
                (Edit(start, start, "("), Edit(end, end, f"), {default}"))
                if bare
                else (Edit(end, end, f", {default}"),)
            )
            yield context.mutation("default", 0.3 * 0.85**rank, *edits)
    available = {*variables(context.function)}
    given = {arg.keyword.value for arg in node.args if arg.keyword is not None}
    params = _optional_params(context.source).get(last_name(node), ())[number - len(given) :]
    passed = [name for name, is_optional in params if is_optional and name in available - given]
    for name in passed[:MOST]:
        yield context.mutation("argument", 0.5, Edit(end, end, f", {name}={name}"))


def exchanges(context: NodeContext) -> Iterator[Mutation]:
    """Propose to exchange neighbours: elements of a tuple, values of keyword arguments."""
    node, parent = context.node, context.parent
    values: list[cst.BaseExpression] = []
    if isinstance(node, cst.Tuple) and not isinstance(parent, (cst.ExceptHandler, cst.ComparisonTarget)):
        in_alternatives = isinstance(parent, cst.Arg) and last_name(context.ancestors[-2]) in _UNORDERED
        has_star = any(isinstance(element, cst.StarredElement) for element in node.elements)
        values = [] if in_alternatives or has_star else [element.value for element in node.elements]
    elif isinstance(node, cst.Call):
        values = [arg.value for arg in node.args if arg.keyword is not None]
    for first, second in itertools.islice(itertools.pairwise(values), MOST):
        first_code, second_code = context.code(first), context.code(second)
        if first_code != second_code and "\n" not in first_code + second_code:
            edits = (_whole(context, first, second_code), _whole(context, second, first_code))
            yield context.mutation("swapped elements", 0.25, *edits)


def _whole(context: NodeContext, node: cst.BaseExpression, new: str) -> Edit:
    """Return the edit that replaces an expression and its brackets."""
    start = context.source.span(node)[0] - sum(len(context.code(bracket)) for bracket in node.lpar)
    return Edit(start, start + len(context.code(node)), new)


def _defaults(context: NodeContext) -> Sequence[str]:
    """Return defaults for a call: those that the file gives to the same function, then usual ones that make sense."""
    own = _own_defaults(context.source).get(last_name(context.node), ())
    usual = [default for default in _DEFAULTS if default != "None" or last_name(context.node) != "get"]
    if isinstance(context.parent, cst.Comparison):  # with None: a default that is not
        usual = sorted(usual, key=lambda default: default not in ("-1", "0", "None"))
    return list(dict.fromkeys([*own, *usual]))


@functools.lru_cache(maxsize=64)
def _own_defaults(source: ParsedFile) -> dict[str, list[str]]:
    """Return function that takes a default -> the literals that the file gives as one."""
    defaults: dict[str, list[str]] = {}
    for context in source.contexts:
        node = context.node
        if isinstance(node, cst.Call) and _TAKES_DEFAULT.get(last_name(node)) == len(node.args):
            value = node.args[-1].value
            code = source.code(value)
            if (isinstance(value, _LITERALS) or code in _DEFAULTS) and code not in defaults.get(last_name(node), ()):
                defaults.setdefault(last_name(node), []).append(code)
    return defaults


@functools.lru_cache(maxsize=64)
def _optional_params(source: ParsedFile) -> dict[str, list[tuple[str, bool]]]:
    """Return function, or class, of the file -> its parameters after `self`, and whether each is optional.

    Those of which there are several are left out.
    """
    params_by_name: dict[str, list[tuple[str, bool]]] = {}
    several: set[str] = set()
    for context in source.contexts:
        node = context.node
        if isinstance(node, cst.FunctionDef):
            is_init = node.name.value == "__init__" and context.enclosing_class is not None
            name = context.enclosing_class.name.value if is_init and context.enclosing_class else node.name.value
            listed = [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]
            params = [(param.name.value, param.default is not None) for param in listed]
            several |= {name} & {*params_by_name}
            params_by_name[name] = [param for param in params if param[0] not in ("self", "cls")]
    return {name: params for name, params in params_by_name.items() if name not in several}
