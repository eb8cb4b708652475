"""Small changes to expressions: boundaries, operators, constants, names, calls."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import libcst as cst

from agents.repair.source import Candidate, Operator, Place, last_name

_COMPARISONS: dict[str, tuple[tuple[str, float], ...]] = {
    "<": (("<=", 1.0), (">", 0.25)),
    "<=": (("<", 1.0), (">=", 0.25)),
    ">": ((">=", 1.0), ("<", 0.25)),
    ">=": ((">", 1.0), ("<=", 0.25)),
    "==": (("!=", 0.25), ("<=", 0.3), (">=", 0.3)),
    "!=": (("==", 0.25), ("<", 0.2), (">", 0.2)),
    "in": (("not in", 0.25),),
    "not in": (("in", 0.25),),
    "is": (("==", 0.4), ("is not", 0.2)),
    "is not": (("!=", 0.3), ("is", 0.2)),
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

# Functions and methods that are easily taken for one another, either way; `a>b`: only in that direction.
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
for _pair in " ".join(_CONFUSED.split()).split(";"):
    _pair = _pair.strip()
    _left, _right = _pair.split(">") if ">" in _pair else _pair.split(" ")
    CONFUSED.setdefault(_left, []).append(_right)
    if ">" not in _pair:
        CONFUSED.setdefault(_right, []).append(_left)


def comparison(place: Place) -> Iterator[Candidate]:
    """`<` for `<=`, `==` for `!=`, and their like."""
    node = place.node
    if not isinstance(node, cst.Comparison):
        return
    parts = [place.code(node.left)]
    for target in node.comparisons:
        parts += [" ".join(place.code(target.operator).split()), place.code(target.comparator)]
    for position in range(1, len(parts), 2):
        for new, prior in _COMPARISONS[parts[position]]:
            text = " ".join([*parts[:position], new, *parts[position + 1 :]])
            yield place.candidate("comparison", prior, place.swap(text))
    if len(parts) == 3 and parts[1] in ("<", "<=", ">", ">="):
        for shift in (" + 1", " - 1"):
            yield place.candidate("off by one", 0.3, place.swap(" ".join(parts) + shift))


def arithmetic(place: Place) -> Iterator[Candidate]:
    """Another operator, swapped operands, a correction by one left out."""
    node = place.node
    if not isinstance(node, cst.BinaryOperation):
        return
    left, right = place.code(node.left), place.code(node.right)
    operator = place.code(node.operator).strip()
    textual = isinstance(node.left, (cst.SimpleString, cst.FormattedString, cst.List)) or isinstance(
        node.right, (cst.SimpleString, cst.FormattedString, cst.List)
    )
    if not textual:
        for new, prior in _ARITHMETIC.get(operator, ()):
            yield place.candidate("operator", prior, place.swap(f"{left} {new} {right}"))
    if operator in ("+", "-") and isinstance(node.right, cst.Integer):
        yield place.candidate("off by one", 1.0 if right == "1" else 0.4, place.swap(left))
    if operator in ("-", "/", "//", "%", "+"):
        prior = 0.3 if operator != "+" else 0.1
        yield place.candidate("swapped operands", prior, place.swap(f"{right} {operator} {left}"))
    if operator == "//":
        yield place.candidate("rounding", 0.4, place.swap(f"-(-({left}) // {right})"))


def boolean(place: Place) -> Iterator[Candidate]:
    """`and` for `or`, a condition left out, `not` left out."""
    node = place.node
    if isinstance(node, cst.BooleanOperation):
        operator = place.code(node.operator).strip()
        left, right = place.code(node.left), place.code(node.right)
        new = "or" if operator == "and" else "and"
        # `x is not None and ...`, `isinstance(x, C) and ...` guard what follows.
        guard = " is " in left or "isinstance(" in left
        yield place.candidate("and/or", 0.15 if guard else 0.9, place.swap(f"{left} {new} {right}"))
        yield place.candidate("condition left out", 0.3, place.swap(left))
        yield place.candidate("condition left out", 0.3, place.swap(right))
    if isinstance(node, cst.UnaryOperation):
        prior = 0.5 if isinstance(node.operator, cst.Not) else 0.35
        yield place.candidate("sign", prior, place.swap(place.code(node.expression)))


def condition(place: Place) -> Iterator[Candidate]:
    """The opposite of a condition."""
    if isinstance(place.node, (cst.If, cst.While, cst.IfExp, cst.CompIf, cst.Assert)):
        test = place.node.test
        if isinstance(test, (cst.UnaryOperation, cst.Comparison)) and not isinstance(test, cst.BooleanOperation):
            prior = 0.1  # their own operators do it
        else:
            prior = 0.35
        yield place.candidate("negation", prior, place.swap(f"not ({place.code(test)})", test))


def constant(place: Place) -> Iterator[Candidate]:
    """One more, one less, the other truth value."""
    node = place.node
    if isinstance(node, cst.Integer):
        value = int(node.value, 0)
        near = any(isinstance(each, (cst.SubscriptElement, cst.Arg, cst.BinaryOperation)) for each in place.above[-3:])
        prior = (0.6 if near else 0.45) if abs(value) <= 2 else 0.25
        yield place.candidate("off by one", prior, place.swap(str(value + 1)))
        yield place.candidate("off by one", prior, place.swap(str(value - 1) if value else "(-1)"))
    elif isinstance(node, cst.Name) and node.value in ("True", "False"):
        new = "False" if node.value == "True" else "True"
        yield place.candidate("truth value", 0.55, place.swap(new))


def index(place: Place) -> Iterator[Candidate]:
    """The bounds of indexes, slices and ranges moved by one or left out."""
    node = place.node
    if isinstance(node, cst.Index) and not isinstance(node.value, (cst.SimpleString, cst.Integer, cst.UnaryOperation)):
        code = place.code(node.value)
        if not isinstance(node.value, (cst.Tuple, cst.FormattedString)):
            for shift in (" - 1", " + 1"):
                yield place.candidate("off by one", 0.3, place.swap(code + shift, node.value))
    elif isinstance(node, cst.Slice):
        for bound, usual in ((node.upper, 0.5), (node.lower, 0.45)):
            if bound is None or isinstance(bound, (cst.Integer, cst.UnaryOperation)):
                continue
            for shift in (" + 1", " - 1"):
                yield place.candidate("off by one", usual, place.swap(place.code(bound) + shift, bound))
    elif isinstance(node, cst.Call) and last_name(node) == "range" and 1 <= len(node.args) <= 3:
        stop = node.args[0] if len(node.args) == 1 else node.args[1]
        bounds = [(stop.value, 0.7)] + ([(node.args[0].value, 0.5)] if len(node.args) > 1 else [])
        for bound, usual in bounds:
            for shift in (" + 1", " - 1"):
                if not isinstance(bound, cst.Integer):
                    yield place.candidate("off by one", usual, place.swap(place.code(bound) + shift, bound))
        if len(node.args) == 1:
            yield place.candidate("off by one", 0.4, place.swap(f"range(1, {place.code(stop.value)} + 1)"))


def confused(place: Place) -> Iterator[Candidate]:
    """A function or method that is easily taken for another."""
    node = place.node
    if not isinstance(node, cst.Call):
        if isinstance(node, cst.Attribute) and node.attr.value == "seconds":
            yield place.candidate("confused", 0.9, place.swap(f"{place.code(node.value)}.total_seconds()"))
        return
    name = last_name(node.func)
    for new in CONFUSED.get(name, ()):
        if isinstance(node.func, cst.Attribute):
            change = place.swap(new, node.func.attr)
        elif isinstance(node.func, cst.Name):
            change = place.swap(new, node.func)
        else:
            continue
        imports: tuple[str, ...] = ()
        if isinstance(node.func, cst.Name) and new in ("floor", "ceil", "fsum"):
            imports = (f"from math import {new}",)
        elif isinstance(node.func, cst.Name) and new in ("zip_longest", "combinations_with_replacement"):
            imports = (f"from itertools import {new}",)
        prior = {"removeprefix": 0.1, "casefold": 0.6, "realpath": 0.6, "sorted": 0.3}.get(new, 0.45)
        yield place.candidate("confused", prior, change, imports=imports)


def arguments(place: Place) -> Iterator[Candidate]:
    """Arguments swapped, left out, added."""
    node = place.node
    if not isinstance(node, cst.Call):
        return
    name = last_name(node.func)
    plain = [arg for arg in node.args if arg.keyword is None and not arg.star]
    for one, other in itertools.pairwise(plain):
        swapped = (place.swap(place.code(other.value), one.value), place.swap(place.code(one.value), other.value))
        yield place.candidate("swapped arguments", 0.35, *swapped)
    if name in ("sorted", "sort"):
        keywords = {arg.keyword.value for arg in node.args if arg.keyword is not None}
        if "reverse" not in keywords:
            inner = ", ".join([*(place.code(arg).rstrip(", ") for arg in node.args), "reverse=True"])
            yield place.candidate("order", 0.4, place.swap(f"{place.code(node.func)}({inner})"))
    if len(node.args) > 1 and node.args[-1].keyword is not None:
        kept = ", ".join(place.code(arg).strip().rstrip(",") for arg in node.args[:-1])
        yield place.candidate("argument left out", 0.3, place.swap(f"{place.code(node.func)}({kept})"))
    if name == "enumerate" and len(node.args) == 1:
        yield place.candidate("off by one", 0.35, place.swap(f"enumerate({place.code(node.args[0].value)}, 1)"))
    if name == "split" and not node.args:
        yield place.candidate("white space", 0.2, place.swap(f'{place.code(node.func)}(" ")'))
    if name == "split" and len(plain) == 1 and place.code(plain[0].value) in ("' '", '" "'):
        yield place.candidate("white space", 0.9, place.swap(f"{place.code(node.func)}()"))
    if name == "split" and len(plain) == 1:
        inner = place.code(plain[0].value)
        yield place.candidate("split once", 0.4, place.swap(f"{place.code(node.func)}({inner}, 1)"))
    if name == "pop" and not node.args:
        yield place.candidate("other end", 0.35, place.swap(f"{place.code(node.func)}(0)"))
    if name == "pop" and len(plain) == 1 and place.code(plain[0].value) == "0":
        yield place.candidate("other end", 0.35, place.swap(f"{place.code(node.func)}()"))


def lookup(place: Place) -> Iterator[Candidate]:
    """`d.get(k)` for `d[k]` and the like."""
    node = place.node
    storing = isinstance(place.parent, (cst.AssignTarget, cst.AugAssign, cst.Del, cst.AnnAssign))
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and not storing:
        inner = node.slice[0].slice
        if isinstance(inner, cst.Index):
            base, key = place.code(node.value), place.code(inner.value)
            yield place.candidate("lookup", 0.15, place.swap(f"{base}.get({key})"))
            if isinstance(inner.value, cst.Integer) and key == "0":
                yield place.candidate("other end", 0.35, place.swap(f"{base}[-1]"))
            if key == "-1":
                yield place.candidate("other end", 0.35, place.swap(f"{base}[0]"))


def branches(place: Place) -> Iterator[Candidate]:
    """The other branch; a filter left out."""
    node = place.node
    if isinstance(node, cst.IfExp):
        body, test, orelse = (place.code(each) for each in (node.body, node.test, node.orelse))
        yield place.candidate("branches", 0.2, place.swap(f"{orelse} if {test} else {body}"))
        yield place.candidate("branches", 0.15, place.swap(body))
        yield place.candidate("branches", 0.15, place.swap(orelse))
    elif isinstance(node, cst.CompIf):
        start, end = place.source.span(node)
        change = place.swap("")
        assert (change.start, change.end) == (start, end)
        yield place.candidate("filter", 0.2, change)


EXPRESSIONS: tuple[Operator, ...] = (
    comparison,
    arithmetic,
    boolean,
    condition,
    constant,
    index,
    confused,
    arguments,
    lookup,
    branches,
)
