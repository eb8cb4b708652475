"""Known traps of values: shared, lazy, mutable, falsy, rounded. A change is likely wherever the pattern stands."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import libcst as cst

from agents.repair.source import Candidate, Change, Operator, Place, Source, indentation, last_name

_LAZY = {"filter", "map", "zip", "iter", "reversed", "enumerate", "chain", "islice"}
_DEEPCOPY = ("from copy import deepcopy",)


def copies(place: Place) -> Iterator[Candidate]:
    """Shared where it should be a copy, shallow where it should be deep, lazy where it is used twice."""
    node = place.node
    if isinstance(node, cst.Call) and len(node.args) == 1 and isinstance(node.func, cst.Name):
        if (
            node.func.value in ("dict", "list", "set", "copy")
            and not node.args[0].star
            and node.args[0].keyword is None
        ):
            inner = place.code(node.args[0].value)
            if isinstance(node.args[0].value, (cst.Name, cst.Attribute, cst.Subscript)):
                yield place.candidate("deep copy", 0.5, place.swap(f"deepcopy({inner})"), imports=_DEEPCOPY)
    elif (
        isinstance(node, cst.Call)
        and not node.args
        and last_name(node) == "copy"
        and isinstance(node.func, cst.Attribute)
    ):
        base = place.code(node.func.value)
        yield place.candidate("deep copy", 0.7, place.swap(f"deepcopy({base})"), imports=_DEEPCOPY)
    elif isinstance(node, cst.Subscript) and place.code().endswith("[:]"):
        base = place.code(node.value)
        yield place.candidate("deep copy", 0.5, place.swap(f"deepcopy({base})"), imports=_DEEPCOPY)
    value = None
    if isinstance(node, (cst.Return, cst.Yield)):
        value = node.value
        shared = isinstance(value, (cst.Attribute, cst.Subscript)) or isinstance(node, cst.Yield)
        prior = 0.3 if shared else 0.05
    elif isinstance(node, (cst.Assign, cst.AnnAssign)):
        value = node.value
        target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
        kept = isinstance(target, (cst.Attribute, cst.Subscript))
        prior = 0.35 if kept and isinstance(value, cst.Name) else 0.15 if kept else 0.08
        lazy = isinstance(value, cst.GeneratorExp) or (isinstance(value, cst.Call) and last_name(value) in _LAZY)
        if lazy and value is not None:
            yield place.candidate("lazy", 0.9 if kept else 0.6, place.swap(f"list({place.code(value)})", value))
    elif isinstance(node, cst.Call) and last_name(node) in ("append", "add", "insert", "appendleft", "setdefault"):
        value = node.args[-1].value if node.args else None
        prior = 0.25
    if isinstance(value, (cst.Name, cst.Attribute, cst.Subscript)) and not (
        isinstance(value, cst.Name) and value.value in ("None", "True", "False", "self")
    ):
        code = place.code(value)
        yield place.candidate("copy", prior, place.swap(f"list({code})", value))
        yield place.candidate("copy", prior * 0.9, place.swap(f"deepcopy({code})", value), imports=_DEEPCOPY)
    if isinstance(node, cst.Return) and isinstance(node.value, (cst.GeneratorExp, cst.Call)):
        lazy = isinstance(node.value, cst.GeneratorExp) or last_name(node.value) in _LAZY
        if lazy:
            yield place.candidate("lazy", 0.4, place.swap(f"list({place.code(node.value)})", node.value))


def repeated_list(place: Place) -> Iterator[Candidate]:
    """`[[]] * n` holds the same list n times."""
    node = place.node
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return
    if isinstance(node.left, cst.List) and len(node.left.elements) == 1:
        element = node.left.elements[0].value
        if isinstance(element, (cst.List, cst.Dict, cst.Set, cst.Call, cst.BinaryOperation)):
            text = f"[{place.code(element)} for _ in range({place.code(node.right)})]"
            yield place.candidate("repeated list", 1.5, place.swap(text))


def mutable_default(place: Place) -> Iterator[Candidate]:
    """A default that all calls share."""
    node = place.node
    if not isinstance(node, cst.FunctionDef):
        return
    for param in (*node.params.params, *node.params.kwonly_params):
        if not isinstance(param.default, (cst.List, cst.Dict)) and not (
            isinstance(param.default, cst.Call) and last_name(param.default) in ("list", "dict", "set", "deque")
        ):
            continue
        body = node.body.body if isinstance(node.body, cst.IndentedBlock) else ()
        docstring = body and place.text_of_lines(body[0]).lstrip().startswith(('"""', "'''", '"', "'"))
        first = body[1] if docstring and len(body) > 1 else body[0] if body else None
        if first is None or (docstring and len(body) == 1):
            continue
        start, _ = place.source.whole_lines(first)
        indent = indentation(place.source.text[start:])
        name = param.name.value
        default = place.code(param.default)
        guard = f"{indent}if {name} is None:\n{indent}    {name} = {default}\n"
        changes = (place.swap("None", param.default), Change(start, start, guard))
        # Kept as it is, a given object would still be shared with the caller: a copy mends both.
        body_start, body_end = place.source.whole_lines(node)
        text = place.source.text[body_start:body_end]
        for stored in (f" = {name}\n",):
            at = text.find(stored)
            if at >= 0:
                at += body_start + 3
                change = Change(at, at + len(name), f"list({name})")
                # In a running program the default has been changed already.
                yield place.candidate("mutable default", 1.6, change, warm=False)
        yield place.candidate("mutable default", 1.2, *changes, warm=False)


def class_attribute(place: Place) -> Iterator[Candidate]:
    """A list or dict in the class body, which all instances share."""
    node, class_ = place.node, place.class_
    if not isinstance(node, (cst.Assign, cst.AnnAssign)) or class_ is None or place.function is not None:
        return
    target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
    if not isinstance(target, cst.Name) or not isinstance(node.value, (cst.List, cst.Dict)) or not class_.body.body:
        return
    for each in class_.body.body:
        if isinstance(each, cst.FunctionDef) and each.name.value == "__init__":
            first = each.body.body[0]
            start, _ = place.source.whole_lines(first)
            indent = indentation(place.source.text[start:])
            text = f"{indent}self.{target.value} = {place.code(node.value)}\n"
            yield place.candidate("class attribute", 1.2, Change(start, start, text))


def walrus(place: Place) -> Iterator[Candidate]:
    """`x := a > 0` binds the comparison, not `a`."""
    node = place.node
    if isinstance(node, cst.NamedExpr) and isinstance(node.value, cst.Comparison):
        comparison = node.value
        rest = "".join(place.code(target) for target in comparison.comparisons)
        text = f"({place.code(node.target)} := {place.code(comparison.left)}){rest}"
        yield place.candidate("precedence", 1.8, place.swap(text))
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or):
        right = node.right
        if isinstance(right, cst.BooleanOperation) and isinstance(right.operator, cst.And) and not right.lpar:
            text = f"({place.code(node.left)} or {place.code(right.left)}) and {place.code(right.right)}"
            yield place.candidate("precedence", 0.5, place.swap(text))
        # 0, "" and [] count as missing too.
        if not isinstance(place.parent, (cst.If, cst.While, cst.BooleanOperation)):
            left = place.code(node.left)
            text = f"{left} if {left} is not None else {place.code(right)}"
            yield place.candidate("falsy", 0.4, place.swap(text))
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Add, cst.Subtract)):
        for side, other, first in ((node.right, node.left, False), (node.left, node.right, True)):
            if not isinstance(side, cst.BinaryOperation) or side.lpar:
                continue
            if isinstance(side.operator, (cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo)):
                sign, inner = place.code(node.operator).strip(), place.code(side.operator).strip()
                one, two, third = place.code(side.left), place.code(side.right), place.code(other)
                later, earlier = f"{one} {inner} ({two} {sign} {third})", f"({third} {sign} {one}) {inner} {two}"
                text = later if first else earlier
                yield place.candidate("precedence", 0.35, place.swap(text))


def falsy_condition(place: Place) -> Iterator[Candidate]:
    """`if x` that should be `if x is not None`, and the reverse."""
    node = place.node
    if not isinstance(node, (cst.If, cst.IfExp, cst.While, cst.CompIf)):
        return
    test = node.test
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = test.expression
        plain = isinstance(inner, (cst.Name, cst.Attribute, cst.Subscript, cst.Call))
        if plain and last_name(inner) not in _never_none(place.source):
            yield place.candidate("falsy", 0.3, place.swap(f"{place.code(inner)} is None", test))
    elif isinstance(test, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
        if last_name(test) in _never_none(place.source):
            return
        yield place.candidate("falsy", 0.3, place.swap(f"{place.code(test)} is not None", test))


@functools.lru_cache(maxsize=64)
def _never_none(source: Source) -> frozenset[str]:
    """Names that the file annotates, never with a type that takes None in."""
    found: dict[str, bool] = {}
    for place in source.places:
        if isinstance(place.node, (cst.AnnAssign, cst.Param)) and place.node.annotation is not None:
            target = place.node.target if isinstance(place.node, cst.AnnAssign) else place.node.name
            kind = source.code(place.node.annotation.annotation)
            may_be = any(word in kind for word in ("None", "Optional", "Any", "Union", "object")) or len(kind) == 1
            default = getattr(place.node, "default", None)
            may_be = may_be or (isinstance(default, cst.Name) and default.value == "None")
            found[last_name(target)] = found.get(last_name(target), True) and not may_be
    return frozenset(name for name, never in found.items() if never)


def literal_identity(place: Place) -> Iterator[Candidate]:
    """`is` with a number or a text."""
    node = place.node
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        target = node.comparisons[0]
        if isinstance(target.operator, (cst.Is, cst.IsNot)) and not (
            isinstance(target.comparator, cst.Name) and target.comparator.value in ("None", "True", "False")
        ):
            operator = "==" if isinstance(target.operator, cst.Is) else "!="
            text = f"{place.code(node.left)} {operator} {place.code(target.comparator)}"
            yield place.candidate("identity", 1.0, place.swap(text))


def text_and_numbers(place: Place) -> Iterator[Candidate]:
    """Calls of the library that do not do what they seem to."""
    node = place.node
    if isinstance(node, cst.SimpleString) and isinstance(place.parent, cst.Arg):
        value = node.raw_value.lower().replace("_", "-")
        if value in ("utf-8", "utf8") and not any(
            isinstance(each, cst.Call) and last_name(each) == "encode" for each in place.above[-2:]
        ):
            yield place.candidate("encoding", 0.5, place.swap('"utf-8-sig"'))
        elif value in ("ascii", "latin-1", "iso-8859-1"):
            yield place.candidate("encoding", 0.4, place.swap('"utf-8"'))
    if not isinstance(node, cst.Call):
        return
    name, args = last_name(node), node.args
    first = place.code(args[0].value) if args else ""
    written = isinstance(args[0].value, (cst.SimpleString, cst.Integer)) if args else True
    if name == "Decimal" and len(args) == 1 and not written and not first.startswith(("str(", "repr(")):
        yield place.candidate("binary float", 1.2, place.swap(f"{place.code(node.func)}(str({first}))"))
    if name in ("lstrip", "rstrip", "strip") and len(args) == 1 and isinstance(node.func, cst.Attribute):
        literal = args[0].value
        if (isinstance(literal, cst.SimpleString) and len(literal.raw_value) > 1) or isinstance(literal, cst.Name):
            better = "removesuffix" if name == "rstrip" else "removeprefix"
            yield place.candidate("strip", 1.0, place.swap(better, node.func.attr))
    if name == "int" and len(args) == 1 and isinstance(args[0].value, cst.BinaryOperation):
        inner = args[0].value
        if isinstance(inner.operator, cst.Divide):
            yield place.candidate(
                "rounding", 0.7, place.swap(f"({place.code(inner.left)} // {place.code(inner.right)})")
            )
        yield place.candidate("rounding", 0.5, place.swap(f"round({first})"))
    if name in ("fromkeys",) and len(args) == 2 and isinstance(args[1].value, (cst.List, cst.Dict)):
        text = f"{{key: {place.code(args[1].value)} for key in {first}}}"
        yield place.candidate("repeated list", 1.5, place.swap(text))
    if name in ("sub", "subn") and len(args) == 4 and args[3].keyword is None:
        yield place.candidate("swapped arguments", 1.0, place.swap(f"flags={place.code(args[3].value)}", args[3]))


def in_place_result(place: Place) -> Iterator[Candidate]:
    """`x = y.sort()` is None."""
    node = place.node
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or isinstance(place.parent, cst.Expr):
        return
    better = {"sort": "sorted", "reverse": "reversed"}.get(last_name(node))
    if better:
        args = ", ".join([place.code(node.func.value), *(place.code(arg).rstrip(", ") for arg in node.args)])
        yield place.candidate("in place", 1.5, place.swap(f"{better}({args})"))


def dataclass_order(place: Place) -> Iterator[Candidate]:
    """Instances that are compared but have no order."""
    node = place.node
    if not isinstance(node, cst.Decorator) or last_name(node.decorator) != "dataclass":
        return
    if isinstance(node.decorator, cst.Call):
        if any(arg.keyword is not None and arg.keyword.value == "order" for arg in node.decorator.args):
            return
        inner = ", ".join([*(place.code(arg).rstrip(", ") for arg in node.decorator.args), "order=True"])
        text = f"{place.code(node.decorator.func)}({inner})"
    else:
        text = f"{place.code(node.decorator)}(order=True)"
    yield place.candidate("no order", 0.3, place.swap(text, node.decorator), warm=False)


PITFALLS: tuple[Operator, ...] = (
    copies,
    repeated_list,
    mutable_default,
    class_attribute,
    walrus,
    falsy_condition,
    literal_identity,
    text_and_numbers,
    in_place_result,
    dataclass_order,
)
