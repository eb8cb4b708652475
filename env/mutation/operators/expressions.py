"""Small changes to expressions: boundaries, operators, constants, names, calls."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import libcst as cst

from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.nodes import last_name
from stackrank.env.mutation.operators.base import Operators
from stackrank.env.mutation.source import NodeContext

EXPRESSIONS = Operators()

_COMPARISONS: dict[str, tuple[tuple[str, float], ...]] = {
    "<": (("<=", 1.0), (">", 0.45)),
    "<=": (("<", 1.0), (">=", 0.4)),
    ">": ((">=", 1.0), ("<", 0.45)),
    ">=": ((">", 1.0), ("<=", 0.4)),
    "==": (("!=", 0.4), ("<=", 0.3), (">=", 0.3)),
    "!=": (("==", 0.4), ("<", 0.2), (">", 0.2)),
    "in": (("not in", 0.4),),
    "not in": (("in", 0.4),),
    "is": (("==", 0.4), ("is not", 0.35)),
    "is not": (("!=", 0.3), ("is", 0.35)),
}
_ARITHMETIC: dict[str, tuple[tuple[str, float], ...]] = {
    "+": (("-", 0.6),),
    "-": (("+", 0.6),),
    "*": (("/", 0.3), ("//", 0.2), ("+", 0.2)),
    "/": (("//", 0.7), ("*", 0.4)),
    "//": (("/", 0.6), ("%", 0.25)),
    "%": (("//", 0.3),),
    "**": (("*", 0.2),),
    "|": (("&", 0.5), ("^", 0.2)),
    "&": (("|", 0.5), ("^", 0.2)),
    "^": (("&", 0.5), ("|", 0.4)),
    "<<": ((">>", 0.4),),
    ">>": (("<<", 0.4),),
}

# Functions and methods that are easily confused, in either direction; `a>b`: only in that direction.
_CONFUSED = """
    min max; any all; floor ceil; startswith endswith; find rfind; index rindex; split rsplit; partition rpartition;
    append extend; append appendleft; pop popleft; popleft pop; union intersection; issubset issuperset;
    strip lstrip; strip rstrip; lstrip rstrip; ljust rjust; keys values; keys items; values items;
    lower>casefold; upper>casefold; isdigit>isdecimal; isnumeric>isdecimal; match fullmatch; search fullmatch;
    match search; copy>deepcopy; abspath>realpath; absolute>resolve; bisect bisect_left; bisect_right bisect_left;
    insort insort_left; notify>notify_all; seconds>total_seconds; time>monotonic; Lock>RLock; int>round; int>floor;
    round>floor; round>ceil; setdefault get; add discard; remove>discard; nlargest nsmallest; islower isupper;
    title>capitalize; quote>quote_plus; utcnow>now; permutations combinations; combinations
    combinations_with_replacement; permutations product; heappushpop heapreplace; isalpha isalnum; zip>zip_longest;
    update>difference_update; extend>extendleft; dumps>dump; list>sorted; replace>removeprefix; exists isfile;
    exists>lexists; listdir>walk; fsum>sum; sum>fsum; sleep>wait; put>put_nowait; get>get_nowait; wait>wait_for
"""
CONFUSED: dict[str, list[str]] = {}
for _name, _direction, _similar in re.findall(r"(\w+)(>|\s+)(\w+)", _CONFUSED):
    CONFUSED.setdefault(_name, []).append(_similar)
    if _direction != ">":
        CONFUSED.setdefault(_similar, []).append(_name)
_MODULES = {
    **dict.fromkeys(("floor", "ceil", "fsum"), "math"),
    **dict.fromkeys(("zip_longest", "combinations_with_replacement"), "itertools"),
}
"""Functions that have to be imported -> the module they come from."""


@EXPRESSIONS.on(cst.Comparison)
def comparison(node: cst.Comparison, context: NodeContext) -> Iterator[Mutation]:
    """Propose `<` for `<=`, `==` for `!=` and the like."""
    parts = [context.code(node.left)]
    for target in node.comparisons:
        parts += [" ".join(context.code(target.operator).split()), context.code(target.comparator)]
    for position in range(1, len(parts), 2):
        for new, prior in _COMPARISONS[parts[position]]:
            text = " ".join([*parts[:position], new, *parts[position + 1 :]])
            yield context.replacement("comparison", prior, text)
    if len(parts) == 3 and parts[1] in ("<", "<=", ">", ">="):
        for shift in (" + 1", " - 1"):
            yield context.replacement("off by one", 0.3, " ".join(parts) + shift)


@EXPRESSIONS.on(cst.BinaryOperation)
def arithmetic(node: cst.BinaryOperation, context: NodeContext) -> Iterator[Mutation]:
    """Propose another operator, swapped operands, or no correction by one."""
    first, second = context.code(node.left), context.code(node.right)
    operator = context.code(node.operator).strip()
    textual = (cst.SimpleString, cst.FormattedString, cst.List)
    if not isinstance(node.left, textual) and not isinstance(node.right, textual):
        for new, prior in _ARITHMETIC.get(operator, ()):
            yield context.replacement("operator", prior, f"{first} {new} {second}")
    if operator in ("+", "-") and isinstance(node.right, cst.Integer):
        yield context.replacement("off by one", 1.0 if second == "1" else 0.4, first)
    if operator in ("-", "/", "//", "%", "+"):
        prior = 0.3 if operator != "+" else 0.1
        yield context.replacement("swapped operands", prior, f"{second} {operator} {first}")
    if operator == "//":
        yield context.replacement("rounding", 0.4, f"-(-({first}) // {second})")


@EXPRESSIONS.on(cst.BooleanOperation)
def boolean(node: cst.BooleanOperation, context: NodeContext) -> Iterator[Mutation]:
    """Propose `and` for `or` and the reverse, or leave out a condition."""
    first, second = context.code(node.left), context.code(node.right)
    new = "or" if isinstance(node.operator, cst.And) else "and"
    # `x is not None and ...`, `isinstance(x, C) and ...` guard what follows.
    guard = " is " in first or "isinstance(" in first
    yield context.replacement("and/or", 0.15 if guard else 0.9, f"{first} {new} {second}")
    yield context.replacement("condition left out", 0.3, first)
    yield context.replacement("condition left out", 0.3, second)


@EXPRESSIONS.on(cst.UnaryOperation)
def unary(node: cst.UnaryOperation, context: NodeContext) -> Iterator[Mutation]:
    """Propose to leave out `not` or a sign."""
    prior = 0.5 if isinstance(node.operator, cst.Not) else 0.35
    yield context.replacement("sign", prior, context.code(node.expression))


@EXPRESSIONS.on(cst.If, cst.While, cst.IfExp, cst.CompIf, cst.Assert)
def condition(
    node: cst.If | cst.While | cst.IfExp | cst.CompIf | cst.Assert, context: NodeContext
) -> Iterator[Mutation]:
    """Propose the opposite of a condition."""
    has_operators = isinstance(node.test, (cst.UnaryOperation, cst.Comparison))  # these have operators of their own
    yield context.replacement("negation", 0.1 if has_operators else 0.35, f"not ({context.code(node.test)})", node.test)


@EXPRESSIONS.on(cst.Integer)
def number(node: cst.Integer, context: NodeContext) -> Iterator[Mutation]:
    """Propose one more or one less."""
    value = node.evaluated_value
    is_index = any(
        isinstance(ancestor, (cst.SubscriptElement, cst.Arg, cst.BinaryOperation))
        for ancestor in context.ancestors[-3:]
    )
    prior = (0.6 if is_index else 0.45) if abs(value) <= 2 else 0.25
    yield context.replacement("off by one", prior, str(value + 1))
    yield context.replacement("off by one", prior, str(value - 1) if value else "(-1)")


@EXPRESSIONS.on(cst.Name)
def truth(node: cst.Name, context: NodeContext) -> Iterator[Mutation]:
    """Propose the other truth value."""
    if node.value in ("True", "False"):
        yield context.replacement("truth value", 0.55, "False" if node.value == "True" else "True")


def _shifted(context: NodeContext, bound: cst.BaseExpression, prior: float, *shifts: str) -> Iterator[Mutation]:
    for shift in shifts or (" + 1", " - 1"):
        yield context.replacement("off by one", prior, context.code(bound) + shift, bound)


@EXPRESSIONS.on(cst.Index)
def index(node: cst.Index, context: NodeContext) -> Iterator[Mutation]:
    """Propose an index moved by one."""
    if not isinstance(node.value, (cst.SimpleString, cst.FormattedString, cst.Tuple, cst.Integer, cst.UnaryOperation)):
        yield from _shifted(context, node.value, 0.3, " - 1", " + 1")


@EXPRESSIONS.on(cst.Slice)
def slice_(node: cst.Slice, context: NodeContext) -> Iterator[Mutation]:
    """Propose the bounds of a slice moved by one."""
    for bound, prior in ((node.upper, 0.5), (node.lower, 0.45)):
        if bound is not None and not isinstance(bound, (cst.Integer, cst.UnaryOperation)):
            yield from _shifted(context, bound, prior)


@EXPRESSIONS.on(cst.Call)
def range_(node: cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose the bounds of a range moved by one."""
    values = [arg.value for arg in node.args]
    if last_name(node) != "range" or not 1 <= len(values) <= 3:
        return
    for bound, prior in [(values[0], 0.7)] if len(values) == 1 else [(values[1], 0.7), (values[0], 0.5)]:
        if not isinstance(bound, cst.Integer):
            yield from _shifted(context, bound, prior)
    if len(values) == 1:
        yield context.replacement("off by one", 0.4, f"range(1, {context.code(values[0])} + 1)")


@EXPRESSIONS.on(cst.Attribute)
def seconds(node: cst.Attribute, context: NodeContext) -> Iterator[Mutation]:
    """Propose `total_seconds()`, because `seconds` of a time span leaves out its days."""
    if node.attr.value == "seconds":
        yield context.replacement("confused", 0.9, f"{context.code(node.value)}.total_seconds()")


@EXPRESSIONS.on(cst.Call)
def confused(node: cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose a function or method that is easily confused with the one called."""
    is_function = isinstance(node.func, cst.Name)
    for new in CONFUSED.get(last_name(node), ()):
        prior = {"removeprefix": 0.1, "casefold": 0.6, "realpath": 0.6, "sorted": 0.3}.get(new, 0.45)
        imports = (f"from {_MODULES[new]} import {new}",) if is_function and new in _MODULES else ()
        target = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        yield context.replacement("confused", prior, new, target, imports=imports)


@EXPRESSIONS.on(cst.Call)
def arguments(node: cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose to swap, leave out or add arguments."""
    name, func = last_name(node.func), context.code(node.func)
    positional = [arg for arg in node.args if arg.keyword is None and not arg.star]
    values = [context.code(arg.value) for arg in positional]
    for (first, first_code), (second, second_code) in itertools.pairwise(zip(positional, values, strict=True)):
        yield context.mutation(
            "swapped arguments",
            0.35,
            context.replace_node(second_code, first.value),
            context.replace_node(first_code, second.value),
        )
    if name in ("sorted", "sort"):
        keywords = {arg.keyword.value for arg in node.args if arg.keyword is not None}
        if "reverse" not in keywords:
            inner = ", ".join([*(context.code(arg).rstrip(", ") for arg in node.args), "reverse=True"])
            yield context.replacement("order", 0.4, f"{func}({inner})")
    if len(node.args) > 1 and node.args[-1].keyword is not None:
        shorter = ", ".join(context.code(arg).strip().rstrip(",") for arg in node.args[:-1])
        yield context.replacement("argument left out", 0.3, f"{func}({shorter})")
    if name == "enumerate" and len(node.args) == 1:
        yield context.replacement("off by one", 0.35, f"enumerate({context.code(node.args[0].value)}, 1)")
    if name == "split" and not node.args:
        yield context.replacement("white space", 0.2, f'{func}(" ")')
    if name == "split" and len(positional) == 1:
        if values[0] in ("' '", '" "'):
            yield context.replacement("white space", 0.9, f"{func}()")
        yield context.replacement("split once", 0.4, f"{func}({values[0]}, 1)")
    if name == "pop" and not node.args:
        yield context.replacement("other end", 0.35, f"{func}(0)")
    if name == "pop" and values == ["0"]:
        yield context.replacement("other end", 0.35, f"{func}()")


@EXPRESSIONS.on(cst.Subscript)
def lookup(node: cst.Subscript, context: NodeContext) -> Iterator[Mutation]:
    """Propose `d.get(k)` for `d[k]`, or the element at the other end."""
    inner = node.slice[0].slice
    storing = isinstance(context.parent, (cst.AssignTarget, cst.AugAssign, cst.Del, cst.AnnAssign))
    if storing or len(node.slice) != 1 or not isinstance(inner, cst.Index):
        return
    base, key = context.code(node.value), context.code(inner.value)
    yield context.replacement("lookup", 0.15, f"{base}.get({key})")
    if opposite := {"0": "-1", "-1": "0"}.get(key):
        yield context.replacement("other end", 0.35, f"{base}[{opposite}]")


@EXPRESSIONS.on(cst.IfExp)
def branches(node: cst.IfExp, context: NodeContext) -> Iterator[Mutation]:
    """Propose swapped branches, or only one of them."""
    body, test, orelse = (context.code(part) for part in (node.body, node.test, node.orelse))
    yield context.replacement("branches", 0.2, f"{orelse} if {test} else {body}")
    yield context.replacement("branches", 0.15, body)
    yield context.replacement("branches", 0.15, orelse)


@EXPRESSIONS.on(cst.CompIf)
def unfiltered(node: cst.CompIf, context: NodeContext) -> Iterator[Mutation]:
    """Propose to leave out a filter."""
    yield context.replacement("filter", 0.2, "")
