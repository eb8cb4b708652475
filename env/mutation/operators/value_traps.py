"""Known traps of values: shared, lazy, mutable, falsy, rounded. Wherever the pattern occurs, a fault is likely."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import libcst as cst

from stackrank.env.mutation.edits import Edit
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.nodes import last_name
from stackrank.env.mutation.operators.base import Operators
from stackrank.env.mutation.operators.names import flags
from stackrank.env.mutation.source import NodeContext, ParsedFile

VALUE_TRAPS = Operators()

_LAZY = {"filter", "map", "zip", "iter", "reversed", "enumerate", "chain", "islice"}
_STORED = (cst.Name, cst.Attribute, cst.Subscript)
_DEEPCOPY = ("from copy import deepcopy",)


def _is_lazy(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.GeneratorExp) or (isinstance(node, cst.Call) and last_name(node) in _LAZY)


def _shared(context: NodeContext, value: cst.CSTNode | None, prior: float) -> Iterator[Mutation]:
    """Propose a copy of a value."""
    if isinstance(value, _STORED) and getattr(value, "value", None) not in ("None", "True", "False", "self"):
        code = context.code(value)
        yield context.replacement("copy", prior, f"list({code})", value)
        yield context.replacement("copy", prior * 0.9, f"deepcopy({code})", value, imports=_DEEPCOPY)


@VALUE_TRAPS.on(cst.Call)
def shallow_copy(node: cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose a deep copy for a shallow one, and a copy of a value that is stored in a collection."""
    copied: cst.BaseExpression | None = None
    prior = 0.5
    if isinstance(node.func, cst.Name) and len(node.args) == 1:
        is_positional = not node.args[0].star and node.args[0].keyword is None
        if (
            node.func.value in ("dict", "list", "set", "copy")
            and is_positional
            and isinstance(node.args[0].value, _STORED)
        ):
            copied = node.args[0].value
    elif isinstance(node.func, cst.Attribute) and node.func.attr.value == "copy" and not node.args:
        copied, prior = node.func.value, 0.7
    if copied is not None:
        yield context.replacement("deep copy", prior, f"deepcopy({context.code(copied)})", imports=_DEEPCOPY)
    if last_name(node) in ("append", "add", "insert", "appendleft", "setdefault") and node.args:
        yield from _shared(context, node.args[-1].value, 0.25)


@VALUE_TRAPS.on(cst.Subscript)
def shallow_slice(node: cst.Subscript, context: NodeContext) -> Iterator[Mutation]:
    """Propose a deep copy for `x[:]`, which is shallow."""
    if context.code().endswith("[:]"):
        yield context.replacement("deep copy", 0.5, f"deepcopy({context.code(node.value)})", imports=_DEEPCOPY)


@VALUE_TRAPS.on(cst.Return, cst.Yield)
def shared_result(node: cst.Return | cst.Yield, context: NodeContext) -> Iterator[Mutation]:
    """Propose to return a copy, or a list in place of a lazy value that may be used twice."""
    value, returned = node.value, isinstance(node, cst.Return)
    yield from _shared(context, value, 0.05 if returned and isinstance(value, cst.Name) else 0.3)
    if returned and value is not None and _is_lazy(value):
        yield context.replacement("lazy", 0.4, f"list({context.code(value)})", value)


@VALUE_TRAPS.on(cst.Assign, cst.AnnAssign)
def shared_value(node: cst.Assign | cst.AnnAssign, context: NodeContext) -> Iterator[Mutation]:
    """Propose to assign a copy, or a list in place of a lazy value that may be used twice."""
    value = node.value
    target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
    is_stored = isinstance(target, (cst.Attribute, cst.Subscript))
    if value is not None and _is_lazy(value):
        yield context.replacement("lazy", 0.9 if is_stored else 0.6, f"list({context.code(value)})", value)
    yield from _shared(
        context, value, 0.35 if is_stored and isinstance(value, cst.Name) else 0.15 if is_stored else 0.08
    )


@VALUE_TRAPS.on(cst.BinaryOperation)
def repeated_list(node: cst.BinaryOperation, context: NodeContext) -> Iterator[Mutation]:
    """Propose separate elements, because `[[]] * n` holds the same list n times."""
    if isinstance(node.operator, cst.Multiply) and isinstance(node.left, cst.List) and len(node.left.elements) == 1:
        element = node.left.elements[0].value
        if isinstance(element, (cst.List, cst.Dict, cst.Set, cst.Call, cst.BinaryOperation)):
            text = f"[{context.code(element)} for _ in range({context.code(node.right)})]"
            yield context.replacement("repeated list", 1.5, text)


@VALUE_TRAPS.on(cst.FunctionDef)
def mutable_default(node: cst.FunctionDef, context: NodeContext) -> Iterator[Mutation]:
    """Propose a fresh value for a default that all calls share."""
    body = list(node.body.body) if isinstance(node.body, cst.IndentedBlock) else []
    if body and context.source_lines(body[0]).lstrip().startswith(('"', "'")):
        del body[0]
    if not body:
        return
    start, indent = context.line_start(body[0])
    for param in (*node.params.params, *node.params.kwonly_params):
        if not isinstance(param.default, (cst.List, cst.Dict)) and not (
            isinstance(param.default, cst.Call) and last_name(param.default) in ("list", "dict", "set", "deque")
        ):
            continue
        name = param.name.value
        guard = f"{indent}if {name} is None:\n{indent}    {name} = {context.code(param.default)}\n"
        # A copy is safer: otherwise an object that the caller passes would still be shared with the caller.
        at = context.source_lines().find(f" = {name}\n")
        # In a running program the default has already been changed.
        if at >= 0:
            at += context.line_start()[0] + len(" = ")
            copied = Edit(at, at + len(name), f"list({name})")
            yield context.mutation("mutable default", 1.6, copied, is_hot_swappable=False)
        changes = (context.replace_node("None", param.default), Edit(start, start, guard))
        yield context.mutation("mutable default", 1.2, *changes, is_hot_swappable=False)


@VALUE_TRAPS.on(cst.Assign, cst.AnnAssign)
def class_attribute(node: cst.Assign | cst.AnnAssign, context: NodeContext) -> Iterator[Mutation]:
    """Propose an attribute per instance for a list or dict in the class body, which all instances share."""
    class_ = context.enclosing_class
    if class_ is None or context.function is not None:
        return
    target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
    if not isinstance(target, cst.Name) or not isinstance(node.value, (cst.List, cst.Dict)) or not class_.body.body:
        return
    for statement in class_.body.body:
        if isinstance(statement, cst.FunctionDef) and statement.name.value == "__init__":
            start, indent = context.line_start(statement.body.body[0])
            text = f"{indent}self.{target.value} = {context.code(node.value)}\n"
            yield context.mutation("class attribute", 1.2, Edit(start, start, text))


@VALUE_TRAPS.on(cst.NamedExpr)
def walrus(node: cst.NamedExpr, context: NodeContext) -> Iterator[Mutation]:
    """Propose brackets, because `x := a > 0` binds the comparison, not `a`."""
    if isinstance(node.value, cst.Comparison):
        comparison = "".join(context.code(target) for target in node.value.comparisons)
        text = f"({context.code(node.target)} := {context.code(node.value.left)}){comparison}"
        yield context.replacement("precedence", 1.8, text)


@VALUE_TRAPS.on(cst.BooleanOperation)
def default_value(node: cst.BooleanOperation, context: NodeContext) -> Iterator[Mutation]:
    """Propose a test for None, as `a or b` also takes b for 0, "" and []; or brackets, as `and` binds more tightly."""
    if not isinstance(node.operator, cst.Or):
        return
    value, default = context.code(node.left), node.right
    if isinstance(default, cst.BooleanOperation) and isinstance(default.operator, cst.And) and not default.lpar:
        text = f"({value} or {context.code(default.left)}) and {context.code(default.right)}"
        yield context.replacement("precedence", 0.5, text)
    if not isinstance(context.parent, (cst.If, cst.While, cst.BooleanOperation)):
        yield context.replacement("falsy", 0.4, f"{value} if {value} is not None else {context.code(default)}")


@VALUE_TRAPS.on(cst.BinaryOperation)
def sum_of_products(node: cst.BinaryOperation, context: NodeContext) -> Iterator[Mutation]:
    """Propose `(a + b) * c` for `a + b * c`."""
    if not isinstance(node.operator, (cst.Add, cst.Subtract)):
        return
    for side, addend in ((node.right, node.left), (node.left, node.right)):
        if not isinstance(side, cst.BinaryOperation) or side.lpar:
            continue
        if isinstance(side.operator, (cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo)):
            sign, inner = context.code(node.operator).strip(), context.code(side.operator).strip()
            first, second, added = context.code(side.left), context.code(side.right), context.code(addend)
            left_grouped, right_grouped = (
                f"({added} {sign} {first}) {inner} {second}",
                f"{first} {inner} ({second} {sign} {added})",
            )
            yield context.replacement("precedence", 0.35, left_grouped if side is node.right else right_grouped)


@VALUE_TRAPS.on(cst.If, cst.IfExp, cst.While, cst.CompIf)
def falsy_condition(node: cst.If | cst.IfExp | cst.While | cst.CompIf, context: NodeContext) -> Iterator[Mutation]:
    """Propose `if x is not None` for `if x`, and `if x is None` for `if not x`."""
    test, new = node.test, "is not None"
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, new = test.expression, "is None"
    never_none = _never_none(context.source) | flags(context.source)
    if isinstance(test, (*_STORED, cst.Call)) and last_name(test) not in never_none:
        yield context.replacement("falsy", 0.3, f"{context.code(test)} {new}", node.test)


@functools.lru_cache(maxsize=64)
def _never_none(source: ParsedFile) -> frozenset[str]:
    """Return the names that the file annotates, but never with a type that allows None."""
    never_none: dict[str, bool] = {}
    for context in source.contexts:
        if isinstance(context.node, (cst.AnnAssign, cst.Param)) and context.node.annotation is not None:
            target = context.node.target if isinstance(context.node, cst.AnnAssign) else context.node.name
            kind = source.code(context.node.annotation.annotation)
            may_be = any(word in kind for word in ("None", "Optional", "Any", "Union", "object")) or len(kind) == 1
            default = getattr(context.node, "default", None)
            may_be = may_be or (isinstance(default, cst.Name) and default.value == "None")
            never_none[last_name(target)] = never_none.get(last_name(target), True) and not may_be
    return frozenset(name for name, never in never_none.items() if never)


@VALUE_TRAPS.on(cst.Comparison)
def literal_identity(node: cst.Comparison, context: NodeContext) -> Iterator[Mutation]:
    """Propose `==` for `is` with a number or a text."""
    if len(node.comparisons) == 1:
        target = node.comparisons[0]
        if isinstance(target.operator, (cst.Is, cst.IsNot)) and not (
            isinstance(target.comparator, cst.Name) and target.comparator.value in ("None", "True", "False")
        ):
            operator = "==" if isinstance(target.operator, cst.Is) else "!="
            text = f"{context.code(node.left)} {operator} {context.code(target.comparator)}"
            yield context.replacement("identity", 1.0, text)


@VALUE_TRAPS.on(cst.SimpleString)
def encoding(node: cst.SimpleString, context: NodeContext) -> Iterator[Mutation]:
    """Propose another encoding of text."""
    value = node.raw_value.lower().replace("_", "-")
    if not isinstance(context.parent, cst.Arg):
        return
    if value in ("utf-8", "utf8"):
        if not any(
            isinstance(ancestor, cst.Call) and last_name(ancestor) == "encode" for ancestor in context.ancestors[-2:]
        ):
            yield context.replacement("encoding", 0.5, '"utf-8-sig"')
    elif value in ("ascii", "latin-1", "iso-8859-1"):
        yield context.replacement("encoding", 0.4, '"utf-8"')


@VALUE_TRAPS.on(cst.Call)
def misleading_call(node: cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose replacements for library calls that do not do what they seem to."""
    name, args = last_name(node), node.args
    first = context.code(args[0].value) if args else ""
    is_literal = isinstance(args[0].value, (cst.SimpleString, cst.Integer)) if args else True
    if name == "Decimal" and len(args) == 1 and not is_literal and not first.startswith(("str(", "repr(")):
        yield context.replacement("binary float", 1.2, f"{context.code(node.func)}(str({first}))")
    if name in ("lstrip", "rstrip", "strip") and len(args) == 1 and isinstance(node.func, cst.Attribute):
        literal = args[0].value
        if (isinstance(literal, cst.SimpleString) and len(literal.raw_value) > 1) or isinstance(literal, cst.Name):
            better = "removesuffix" if name == "rstrip" else "removeprefix"
            yield context.replacement("strip", 1.0, better, node.func.attr)
    if name == "int" and len(args) == 1 and isinstance(args[0].value, cst.BinaryOperation):
        inner = args[0].value
        if isinstance(inner.operator, cst.Divide):
            yield context.replacement("rounding", 0.7, f"({context.code(inner.left)} // {context.code(inner.right)})")
        yield context.replacement("rounding", 0.5, f"round({first})")
    if name == "fromkeys" and len(args) == 2 and isinstance(args[1].value, (cst.List, cst.Dict)):
        text = f"{{key: {context.code(args[1].value)} for key in {first}}}"
        yield context.replacement("repeated list", 1.5, text)
    if name in ("sub", "subn") and len(args) == 4 and args[3].keyword is None:
        yield context.replacement("swapped arguments", 1.0, f"flags={context.code(args[3].value)}", args[3])


@VALUE_TRAPS.on(cst.Call)
def in_place_result(node: cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose `sorted(y)` for `y.sort()` in an expression, where it is None."""
    if not isinstance(node.func, cst.Attribute) or isinstance(context.parent, cst.Expr):
        return
    better = {"sort": "sorted", "reverse": "reversed"}.get(last_name(node))
    if better:
        args = ", ".join([context.code(node.func.value), *(context.code(arg).rstrip(", ") for arg in node.args)])
        yield context.replacement("in place", 1.5, f"{better}({args})")


@VALUE_TRAPS.on(cst.Decorator)
def dataclass_order(node: cst.Decorator, context: NodeContext) -> Iterator[Mutation]:
    """Propose an order for instances, which may be compared but have none."""
    if last_name(node.decorator) != "dataclass":
        return
    if isinstance(node.decorator, cst.Call):
        if any(arg.keyword is not None and arg.keyword.value == "order" for arg in node.decorator.args):
            return
        inner = ", ".join([*(context.code(arg).rstrip(", ") for arg in node.decorator.args), "order=True"])
        text = f"{context.code(node.decorator.func)}({inner})"
    else:
        text = f"{context.code(node.decorator)}(order=True)"
    yield context.mutation("no order", 0.3, context.replace_node(text, node.decorator), is_hot_swappable=False)
