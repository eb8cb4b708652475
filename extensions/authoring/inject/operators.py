"""Mistakes of programmers, as changes of a syntax tree: each operator proposes replacements for one node."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import libcst as cst
import libcst.matchers as m

from stackrank.env.mutation.source import NodeContext
from stackrank.extensions.authoring.inject.functions import enclosing_function, local_names

Replacement = cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[Any]


Propose = Callable[[Any, NodeContext], Iterator[Replacement]]


@dataclass(frozen=True)
class Operator:
    """One kind of mistake."""

    name: str
    category: str
    """As in our own suite: runtime, logic, state, iteration, exceptions, concurrency, text, numbers."""
    kinds: tuple[type[cst.CSTNode], ...]
    propose: Propose


OPERATORS: list[Operator] = []


def operator(
    category: str, *kinds: type[cst.CSTNode], into: list[Operator] = OPERATORS
) -> Callable[[Propose], Propose]:
    """Register a function as the operator with its name."""

    def register(propose: Propose) -> Propose:
        into.append(Operator(propose.__name__.replace("_", "-"), category, kinds, propose))
        return propose

    return register


def _same_place(new: Any, old: Any) -> Any:
    return new(whitespace_before=old.whitespace_before, whitespace_after=old.whitespace_after)


_BOUNDARIES: dict[type[cst.CSTNode], type[cst.CSTNode]] = {
    cst.LessThan: cst.LessThanEqual, cst.LessThanEqual: cst.LessThan,
    cst.GreaterThan: cst.GreaterThanEqual, cst.GreaterThanEqual: cst.GreaterThan,
}  # fmt: skip
_COMPARISONS: dict[type[cst.CSTNode], type[cst.CSTNode]] = {
    cst.Equal: cst.NotEqual, cst.NotEqual: cst.Equal, cst.In: cst.NotIn, cst.NotIn: cst.In,
    cst.Is: cst.IsNot, cst.IsNot: cst.Is,
}  # fmt: skip
_ARITHMETIC: dict[type[cst.CSTNode], type[cst.CSTNode]] = {
    cst.Add: cst.Subtract, cst.Subtract: cst.Add, cst.Multiply: cst.FloorDivide, cst.FloorDivide: cst.Divide,
    cst.Divide: cst.FloorDivide, cst.Modulo: cst.FloorDivide, cst.LeftShift: cst.RightShift,
    cst.BitAnd: cst.BitOr, cst.BitOr: cst.BitAnd,
}  # fmt: skip
_ASSIGNMENTS: dict[type[cst.CSTNode], type[cst.CSTNode]] = {
    cst.AddAssign: cst.SubtractAssign, cst.SubtractAssign: cst.AddAssign, cst.MultiplyAssign: cst.AddAssign,
}  # fmt: skip
_METHODS = {
    "lower": "upper", "upper": "lower", "strip": "lstrip", "lstrip": "strip", "rstrip": "strip",
    "startswith": "endswith", "endswith": "startswith", "split": "rsplit", "rsplit": "split",
    "partition": "rpartition", "rpartition": "partition", "find": "rfind", "rfind": "find",
}  # fmt: skip
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "floor": "ceil", "ceil": "floor"}
_ERRORS = {"KeyError": "IndexError", "IndexError": "KeyError", "TypeError": "ValueError", "ValueError": "TypeError",
           "AttributeError": "KeyError", "StopIteration": "IndexError"}  # fmt: skip

# Names that suggest that a variable is a number.
_COUNTS = re.compile(r"^[ijkn]$|i(nde)?x|pos|num|count|start|stop|end|first|last|low|high|mid|offset|row|col", re.I)


@operator("iteration", cst.ComparisonTarget)
def boundary(node: cst.ComparisonTarget, context: NodeContext) -> Iterator[Replacement]:
    """Use `<` for `<=` and the like."""
    if new := _BOUNDARIES.get(type(node.operator)):
        yield node.with_changes(operator=_same_place(new, node.operator))


@operator("logic", cst.ComparisonTarget)
def wrong_comparison(node: cst.ComparisonTarget, context: NodeContext) -> Iterator[Replacement]:
    """Use `==` for `!=`, `in` for `not in`, and the reverse."""
    if new := _COMPARISONS.get(type(node.operator)):
        yield node.with_changes(operator=_same_place(new, node.operator))


@operator("numbers", cst.BinaryOperation)
def wrong_operator(node: cst.BinaryOperation, context: NodeContext) -> Iterator[Replacement]:
    """Use `+` for `-`, `//` for `/` and the like."""
    if (new := _ARITHMETIC.get(type(node.operator))) and not _is_text(node.left) and not _is_text(node.right):
        yield node.with_changes(operator=_same_place(new, node.operator))


def _is_text(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleString | cst.ConcatenatedString | cst.FormattedString)


@operator("state", cst.AugAssign)
def wrong_update(node: cst.AugAssign, context: NodeContext) -> Iterator[Replacement]:
    """Use `-=` for `+=`, or `=` for either."""
    old = node.operator
    if new := _ASSIGNMENTS.get(type(old)):
        yield node.with_changes(operator=_same_place(new, old))
    yield cst.Assign(targets=[cst.AssignTarget(node.target)], value=node.value)


@operator("logic", cst.BooleanOperation)
def wrong_connective(node: cst.BooleanOperation, context: NodeContext) -> Iterator[Replacement]:
    """Use `and` for `or` or the reverse, or leave out a part."""
    yield node.with_changes(
        operator=_same_place(cst.Or if isinstance(node.operator, cst.And) else cst.And, node.operator)
    )
    if not node.lpar:
        yield node.left
        yield node.right


@operator("logic", cst.If, cst.While, cst.IfExp)
def negated_condition(node: cst.If | cst.While | cst.IfExp, context: NodeContext) -> Iterator[Replacement]:
    """Use `if x` for `if not x`, or the reverse."""
    test = node.test
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield node.with_changes(test=test.expression)
    elif isinstance(test, cst.Name | cst.Call | cst.Attribute) and not isinstance(node, cst.While):
        yield node.with_changes(test=cst.UnaryOperation(cst.Not(), test))


@operator("numbers", cst.Integer)
def wrong_constant(node: cst.Integer, context: NodeContext) -> Iterator[Replacement]:
    """Use one more or one less."""
    value = node.evaluated_value
    if node.value.isdigit() and value < 1000:
        yield cst.Integer(str(value + 1))
        if value:
            yield cst.Integer(str(value - 1))


@operator("iteration", cst.Call, cst.Index, cst.Slice)
def off_by_one(node: cst.Call | cst.Index | cst.Slice, context: NodeContext) -> Iterator[Replacement]:
    """Let a range, an index or a slice end one too early or begin one too late."""
    if isinstance(node, cst.Call):
        if m.matches(node.func, m.Name("range")) and node.args and not any(arg.star for arg in node.args):
            last = min(len(node.args), 2) - 1
            args = [arg.with_changes(value=_minus(arg.value)) if n == last else arg for n, arg in enumerate(node.args)]
            yield node.with_changes(args=args)
            if len(node.args) == 1:
                yield node.with_changes(args=[cst.Arg(cst.Integer("1")), *node.args])
    elif isinstance(node, cst.Index):
        if isinstance(node.value, cst.Name) and _COUNTS.search(node.value.value):
            yield node.with_changes(value=_minus(node.value))
    else:
        for side in ("lower", "upper"):
            if isinstance(bound := getattr(node, side), cst.Name | cst.Call | cst.Attribute):
                yield node.with_changes(**{side: _minus(bound)})
            elif bound is not None:
                yield node.with_changes(**{side: None})


def _minus(node: cst.BaseExpression) -> cst.BinaryOperation:
    return cst.BinaryOperation(node, cst.Subtract(), cst.Integer("1"))


@operator("runtime", cst.Call)
def swapped_arguments(node: cst.Call, context: NodeContext) -> Iterator[Replacement]:
    """Swap two neighbouring positional arguments."""
    positional = [arg for arg in node.args if arg.keyword is None and not arg.star]
    for first, second in pairwise(positional):
        if not first.value.deep_equals(second.value):
            swap = {id(first): second.value, id(second): first.value}
            yield node.with_changes(args=[arg.with_changes(value=swap.get(id(arg), arg.value)) for arg in node.args])


@operator("logic", cst.Call)
def dropped_argument(node: cst.Call, context: NodeContext) -> Iterator[Replacement]:
    """Forget a keyword argument, or the default of `get`, `pop` or `getattr`."""
    args = list(node.args)
    name = _called(node)
    keyword = [n for n, arg in enumerate(args) if arg.keyword is not None]
    if keyword:
        drop = keyword[-1]
    elif (name in ("get", "pop") and len(args) == 2) or (name in ("getattr", "next") and len(args) in (2, 3)):
        drop = len(args) - 1
    else:
        return
    if name != "getattr" or len(args) == 3 or keyword:
        del args[drop]
        if args:
            args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        yield node.with_changes(args=args)


def _called(node: cst.Call) -> str:
    if isinstance(node.func, cst.Attribute):
        return node.func.attr.value
    return node.func.value if isinstance(node.func, cst.Name) else ""


@operator("text", cst.Call)
def wrong_method(node: cst.Call, context: NodeContext) -> Iterator[Replacement]:
    """Use `lower` for `upper`, `lstrip` for `strip`, `endswith` for `startswith`."""
    if isinstance(node.func, cst.Attribute) and (new := _METHODS.get(node.func.attr.value)):
        yield node.with_changes(func=node.func.with_changes(attr=cst.Name(new)))


@operator("logic", cst.Call)
def wrong_function(node: cst.Call, context: NodeContext) -> Iterator[Replacement]:
    """Use `min` for `max` or `any` for `all`, or forget a sort."""
    if isinstance(node.func, cst.Name) and (new := _CALLS.get(node.func.value)):
        if new == "list":
            node = node.with_changes(args=[node.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)])
        yield node.with_changes(func=cst.Name(new))


@operator("state", cst.Call, cst.Subscript)
def shared_copy(node: cst.Call | cst.Subscript, context: NodeContext) -> Iterator[Replacement]:
    """Share an object instead of copying it."""
    if isinstance(node, cst.Subscript):
        if m.matches(node, m.Subscript(slice=[m.SubscriptElement(m.Slice(lower=None, upper=None, step=None))])):
            yield node.value
    elif isinstance(node.func, cst.Attribute) and node.func.attr.value == "copy" and not node.args:
        yield node.func.value
    elif _called(node) in ("list", "dict", "set", "copy", "deepcopy") and len(node.args) == 1:
        (arg,) = node.args
        if isinstance(arg.value, cst.Name | cst.Attribute):
            yield arg.value


@operator("logic", cst.Name)
def wrong_variable(node: cst.Name, context: NodeContext) -> Iterator[Replacement]:
    """Use another variable of the same function."""
    function = enclosing_function(context)
    names = local_names(function) if function is not None else ()
    if node.value not in names or not context.source.is_read(node):
        return
    if isinstance(context.parent, cst.Call | cst.Annotation | cst.Decorator) or node.value in ("self", "cls"):
        return
    alternatives = [name for name in names if name not in (node.value, "self", "cls", "_")]
    if alternatives:
        position = names.index(node.value)
        yield node.with_changes(value=min(alternatives, key=lambda name: abs(names.index(name) - position)))


@operator("concurrency", cst.Await)
def missing_await(node: cst.Await, context: NodeContext) -> Iterator[Replacement]:
    """Do not await a coroutine."""
    yield node.expression


@operator("concurrency", cst.With)
def missing_lock(node: cst.With, context: NodeContext) -> Iterator[Replacement]:
    """Run a block without its lock."""
    item = node.items[0].item
    name = item.attr.value if isinstance(item, cst.Attribute) else getattr(item, "value", "")
    if len(node.items) == 1 and isinstance(name, str) and "lock" in name.lower():
        yield cst.FlattenSentinel(node.body.body)


@operator("logic", cst.IfExp)
def swapped_branches(node: cst.IfExp, context: NodeContext) -> Iterator[Replacement]:
    """Use `b if c else a` for `a if c else b`."""
    yield node.with_changes(body=node.orelse, orelse=node.body)


@operator("exceptions", cst.If)
def removed_guard(node: cst.If, context: NodeContext) -> Iterator[Replacement]:
    """Remove a check that left the function or the iteration early."""
    block = context.parent
    if node.orelse is not None or not isinstance(node.body, cst.IndentedBlock) or not _is_one_of_many(node, block):
        return
    last = node.body.body[-1]
    if len(node.body.body) <= 2 and m.matches(
        last, m.SimpleStatementLine([m.Return() | m.Raise() | m.Continue() | m.Break()])
    ):
        yield cst.RemoveFromParent()


def _is_one_of_many(node: cst.CSTNode, block: cst.CSTNode | None) -> bool:
    if not isinstance(block, cst.IndentedBlock):
        return False
    doc = m.SimpleStatementLine([m.Expr(m.SimpleString() | m.ConcatenatedString())])
    return len([statement for statement in block.body if not m.matches(statement, doc)]) > 1


@operator("state", cst.SimpleStatementLine)
def stale_state(node: cst.SimpleStatementLine, context: NodeContext) -> Iterator[Replacement]:
    """Forget an update of an attribute, an item or a counter, or a call made for its effect."""
    if len(node.body) != 1 or not _is_one_of_many(node, context.parent):
        return
    (small,) = node.body
    stored = m.Attribute() | m.Subscript()
    if m.matches(
        small,
        m.Assign(targets=[m.AssignTarget(stored)]) | m.AugAssign() | m.Del() | m.Expr(m.Call(func=m.Attribute())),
    ):
        yield cst.RemoveFromParent()


@operator("state", cst.IndentedBlock)
def moved_statement(node: cst.IndentedBlock, context: NodeContext) -> Iterator[Replacement]:
    """Swap two simple statements, the second of which uses what the first sets."""
    effect = m.Assign([m.AssignTarget(m.Attribute() | m.Subscript())]) | m.AugAssign() | m.Expr(m.Call())
    simple = m.SimpleStatementLine([m.Assign() | m.AugAssign() | m.Expr(m.Call())])
    for number, (first, second) in enumerate(pairwise(node.body)):
        if not (m.matches(first, m.SimpleStatementLine([effect])) and m.matches(second, simple)):
            continue
        if _names(first) & _names(second):
            yield node.with_changes(body=[*node.body[:number], second, first, *node.body[number + 2 :]])


def _names(node: cst.CSTNode) -> set[str]:
    nodes = (name for name in m.findall(node, m.Name()) if isinstance(name, cst.Name))
    return {name.value for name in nodes} - {"self", "cls"}


@operator("exceptions", cst.SimpleStatementLine)
def swallowed_exception(node: cst.SimpleStatementLine, context: NodeContext) -> Iterator[Replacement]:
    """Return None instead of raising an exception."""
    if m.matches(node, m.SimpleStatementLine([m.Raise()])):
        yield node.with_changes(body=[cst.Return(value=cst.Name("None"))])


@operator("exceptions", cst.ExceptHandler)
def wrong_exception(node: cst.ExceptHandler, context: NodeContext) -> Iterator[Replacement]:
    """Catch another exception, or forget one of several."""
    if isinstance(node.type, cst.Tuple) and len(node.type.elements) > 1:
        for element in node.type.elements:
            yield node.with_changes(type=element.value, whitespace_after_except=cst.SimpleWhitespace(" "))
    elif isinstance(node.type, cst.Name) and (new := _ERRORS.get(node.type.value)):
        yield node.with_changes(type=cst.Name(new))


@operator("logic", cst.SimpleStatementLine)
def dropped_return(node: cst.SimpleStatementLine, context: NodeContext) -> Iterator[Replacement]:
    """Compute a value but do not return it."""
    if m.matches(node, m.SimpleStatementLine([m.Return(m.Call())])):
        (small,) = node.body
        assert isinstance(small, cst.Return) and small.value is not None
        yield node.with_changes(body=[cst.Expr(small.value)])


@operator("state", cst.FunctionDef)
def mutable_default(node: cst.FunctionDef, context: NodeContext) -> Iterator[Replacement]:
    """Share an empty list or dict among all calls as a default, instead of making one in each call."""
    if not isinstance(node.body, cst.IndentedBlock):
        return
    fresh = m.If(
        test=m.Comparison(m.Name(), [m.ComparisonTarget(m.Is(), m.Name("None"))]),
        body=m.IndentedBlock([m.SimpleStatementLine([m.Assign([m.AssignTarget(m.Name())], m.List() | m.Dict())])]),
        orelse=None,
    )
    for statement in node.body.body:
        if not (isinstance(statement, cst.If) and m.matches(statement, fresh)):
            continue
        (assignment,) = m.findall(statement.body, m.Assign())
        assert isinstance(assignment, cst.Assign) and isinstance(assignment.targets[0].target, cst.Name)
        name = assignment.targets[0].target.value
        params = [
            child.with_changes(default=assignment.value)
            if child.name.value == name and m.matches(child, m.Param(default=m.Name("None")))
            else child
            for child in node.params.params
        ]
        body = [child for child in node.body.body if child is not statement]
        if body and any(old is not new for old, new in zip(node.params.params, params, strict=True)):
            yield node.with_changes(
                params=node.params.with_changes(params=params), body=node.body.with_changes(body=body)
            )


@operator("iteration", cst.Continue, cst.Break)
def wrong_jump(node: cst.Continue | cst.Break, context: NodeContext) -> Iterator[Replacement]:
    """Use `break` for `continue`, or the reverse."""
    yield cst.Continue() if isinstance(node, cst.Break) else cst.Break()
