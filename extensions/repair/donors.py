"""Puts in what a program may lack and has elsewhere: statements, calls of own methods, limits, numbers, an order."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from stackrank.env.mutation.edits import Edit, indentation
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.nodes import last_name
from stackrank.env.mutation.operators.names import variables
from stackrank.env.mutation.source import ParsedFile

UNITS = (10, 100, 1000, 24, 60, 3600, 1024)
"""Factors between units, which are easily confused."""
COMMON_BOUNDS = ("max(0, ", "min(1, ")
"""Bounds of counts, lengths, shares and probabilities."""
MOST = 40
"""The most statements that are tried in one function."""
_TAKES_ITERABLE = {"tuple", "list", "join", "enumerate", "dict", "iter"}
"""Functions whose result depends on the order of what they are given."""


def insertions(source: ParsedFile) -> Iterator[Mutation]:
    """Insert a call before a statement or at the end of a function. Only a debugger can try so many candidates."""
    calls = _calls(source)
    for context in source.contexts:
        function = context.node
        if not isinstance(function, cst.FunctionDef) or not isinstance(function.body, cst.IndentedBlock):
            continue
        available = {*variables(function), "self"}
        body = source.code(function.body)
        donors = [text for text, names in calls.items() if names <= available and text not in body]
        if context.enclosing_class is not None:
            donors += [text for text in _own_methods(context.enclosing_class, function) if text not in body]
        for text in list(dict.fromkeys(donors))[:MOST]:
            for position, statement in enumerate(function.body.body):
                start, end = source.whole_lines(statement)
                indent = indentation(source.text[start:end].lstrip("\n"))
                if not _is_docstring(statement):
                    yield _insert(source, start, f"{indent}{text}\n", 0.06 if position else 0.07)
            last = function.body.body[-1]
            if not (isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], (cst.Return, cst.Raise))):
                yield _insert(source, end, f"{indent}{text}\n", 0.06)


def limits(source: ParsedFile) -> Iterator[Mutation]:
    """Limit a computed value by `min` and `max`: with the constants of other limits in the file, or with 0 and 1."""
    own_bounds = [bound for context in source.contexts if (bound := _bound(context.node, source))]
    bounds = list(dict.fromkeys([*own_bounds, *COMMON_BOUNDS]))
    pairs = [f"{outer}{inner}" for outer in bounds for inner in bounds if outer[:4] == "max(" and inner[:4] == "min("]
    for context in source.contexts:
        if context.function is None or not isinstance(context.node, cst.BinaryOperation):
            continue
        if not isinstance(context.parent, (cst.BinaryOperation, cst.UnaryOperation)):
            code = source.code(context.node)
            for opening in (*bounds, *pairs):
                yield context.replacement("limit", 0.3, f"{opening}{code}{')' * opening.count('(')}")


def units(source: ParsedFile) -> Iterator[Mutation]:
    """Exchange the factor of one unit for that of another: percent, thousandths, seconds, bytes."""
    for context in source.contexts:
        if isinstance(context.node, cst.Integer) and context.node.evaluated_value in UNITS:
            for factor in UNITS:
                if factor != context.node.evaluated_value:
                    yield context.replacement("unit", 0.3, str(factor))


def numbers(source: ParsedFile) -> Iterator[Mutation]:
    """Exchange a number for its double, half, tenfold or tenth, or for another one of the file."""
    inside = [
        context
        for context in source.contexts
        if isinstance(context.node, (cst.Integer, cst.Float)) and context.function is not None
    ]
    used = list(dict.fromkeys(source.code(context.node) for context in inside))
    for context in inside:
        assert isinstance(context.node, (cst.Integer, cst.Float))
        code, value = source.code(context.node), context.node.evaluated_value
        scaled = [value * 2, value / 2, value * 10, value / 10]
        if isinstance(value, int):
            scaled = [int(number) for number in scaled if number == int(number)]
        for other in dict.fromkeys([*map(repr, scaled), *used]):
            if other != code:
                yield context.replacement("number", 0.2 if other in used else 0.3, other)


def orders(source: ParsedFile) -> Iterator[Mutation]:
    """Sort what a function is given or returns, where its order matters."""
    for context in source.contexts:
        node = context.node
        if context.function is None:
            continue
        if isinstance(node, cst.Call) and last_name(node) in _TAKES_ITERABLE and node.args and not node.args[0].star:
            iterable: cst.BaseExpression | None = node.args[0].value
        else:
            iterable = node.value if isinstance(node, cst.Return) else None
        if isinstance(iterable, (cst.Name, cst.Attribute, cst.Call, cst.ListComp, cst.GeneratorExp)):
            yield context.replacement("order", 0.2, f"sorted({source.code(iterable)})", iterable)


def _bound(node: cst.CSTNode, source: ParsedFile) -> str:
    """Return `max(0, ` of `max(0, value)`; empty for anything else."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Name) or len(node.args) != 2:
        return ""
    constants = [arg.value for arg in node.args if isinstance(arg.value, cst.BaseNumber) or _is_negative(arg.value)]
    is_limit = node.func.value in ("min", "max") and len(constants) == 1
    return f"{node.func.value}({source.code(constants[0])}, " if is_limit else ""


def _is_negative(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.UnaryOperation)
        and isinstance(node.operator, cst.Minus)
        and isinstance(node.expression, cst.BaseNumber)
    )


def _insert(source: ParsedFile, at: int, text: str, prior: float) -> Mutation:
    return Mutation(source.path, (Edit(at, at, text),), "put in", prior, source.line_at(at))


def _is_docstring(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and isinstance(
        getattr(node.body[0], "value", None), cst.SimpleString
    )


def _calls(source: ParsedFile) -> dict[str, set[str]]:
    """Return the call statements of the file -> the variables they use."""
    calls: dict[str, set[str]] = {}
    for context in source.contexts:
        if (
            isinstance(context.node, cst.Expr)
            and isinstance(context.node.value, cst.Call)
            and context.function is not None
        ):
            text = source.code(context.node).rstrip(";").strip()
            if "\n" not in text and len(text) < 80:
                names = _roots(context.node.value)
                calls[text] = names & {*variables(context.function), "self", "cls"}
    return calls


def _roots(node: cst.CSTNode) -> set[str]:
    if isinstance(node, cst.Attribute):
        return _roots(node.value)
    if isinstance(node, cst.Arg):
        return _roots(node.value)
    if isinstance(node, cst.Name):
        return {node.value}
    return set().union(*(_roots(child) for child in node.children)) if node.children else set()


def _own_methods(class_: cst.ClassDef, function: cst.FunctionDef) -> Iterator[str]:
    available = set(variables(function))
    for statement in class_.body.body:
        if isinstance(statement, cst.FunctionDef) and statement.name.value != function.name.value:
            if statement.decorators or statement.name.value.startswith("__"):
                continue
            params = [param.name.value for param in statement.params.params if param.default is None][1:]
            if set(params) <= available:
                prefix = "await " if statement.asynchronous is not None else ""
                if not prefix or function.asynchronous is not None:
                    yield f"{prefix}self.{statement.name.value}({', '.join(params)})"
