"""Changes of one name to another: variables of the same scope, members of the same class."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

import libcst as cst

from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.nodes import attribute_of, last_name
from stackrank.env.mutation.operators.base import Operators
from stackrank.env.mutation.source import NodeContext, ParsedFile

NAMES = Operators()

_NEVER = {"self", "cls", "True", "False", "None", "_"}


@functools.lru_cache(maxsize=512)
def variables(function: cst.FunctionDef) -> tuple[str, ...]:
    """Return parameters and local variables of a function, in the order in which they appear."""
    names: dict[str, None] = {}
    params = function.params
    for param in (*params.posonly_params, *params.params, *params.kwonly_params):
        names[param.name.value] = None

    def targets(node: cst.CSTNode) -> None:
        if isinstance(node, cst.Name):
            names[node.value] = None
        elif isinstance(node, (cst.Tuple, cst.List)):
            for element in node.elements:
                targets(element.value)

    def walk(node: cst.CSTNode) -> None:
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor, cst.NamedExpr)):
            targets(node.target)
        elif isinstance(node, cst.AsName):
            targets(node.name)
        for child in node.children:
            walk(child)

    walk(function.body)
    return tuple(name for name in names if name not in _NEVER)


@functools.lru_cache(maxsize=64)
def flags(source: ParsedFile) -> frozenset[str]:
    """Return the names that the file annotates as `bool`, or to which it gives nothing but truth values."""
    declared: set[str] = set()
    given: dict[str, bool] = {}
    for context in source.contexts:
        name, annotation = _declared(context.node)
        if annotation is not None and source.code(annotation.annotation) == "bool":
            declared.add(name)
        for target, value in _given(context.node) if annotation is None else ():
            given[last_name(target)] = given.get(last_name(target), True) and _is_truth(value)
    return frozenset(declared | {name for name, is_truth in given.items() if is_truth}) - {""}


def _declared(node: cst.CSTNode) -> tuple[str, cst.Annotation | None]:
    """Return the name that a node declares, or defines as a function, and its annotation."""
    if isinstance(node, cst.FunctionDef):
        return node.name.value, node.returns
    if isinstance(node, (cst.AnnAssign, cst.Param)):
        return last_name(node.target if isinstance(node, cst.AnnAssign) else node.name), node.annotation
    return "", None


def _given(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode | None]]:
    """Yield what gets a value here, and the value; None if it is one of several, or cannot be told."""
    if isinstance(node, cst.Param):
        yield node.name, node.default
    places: list[cst.CSTNode] = []
    if isinstance(node, cst.Assign):
        places = [target.target for target in node.targets]
    elif isinstance(node, (cst.For, cst.CompFor, cst.NamedExpr, cst.AugAssign)):
        places = [node.target]
    for place in places:
        if isinstance(place, (cst.Tuple, cst.List)):
            yield from ((element.value, None) for element in place.elements)
        else:
            yield place, getattr(node, "value", None)


def _is_truth(value: cst.CSTNode | None) -> bool:
    """Whether an expression can only be True or False, as far as it shows."""
    if isinstance(value, cst.UnaryOperation):
        return isinstance(value.operator, cst.Not)
    return isinstance(value, cst.Comparison) or (isinstance(value, cst.Name) and value.value in ("True", "False"))


def _is_value(context: NodeContext) -> bool:
    """Whether a name is read as a value here, and not assigned, called, declared or the name of an attribute."""
    parent, node = context.parent, context.node
    if isinstance(parent, (cst.AssignTarget, cst.Param, cst.NameItem, cst.AsName, cst.Annotation, cst.ImportAlias)):
        return False
    if isinstance(parent, cst.Arg) and parent.keyword is node:
        return False
    if isinstance(parent, (cst.FunctionDef, cst.ClassDef)) and parent.name is node:
        return False
    if isinstance(parent, cst.Attribute) and parent.attr is node:
        return False
    if isinstance(parent, (cst.For, cst.CompFor, cst.AugAssign, cst.NamedExpr)) and parent.target is node:
        return False
    if isinstance(parent, cst.Call) and parent.func is node:
        return False
    if any(isinstance(ancestor, cst.Annotation) for ancestor in context.ancestors):
        return False
    # An element of a tuple that is assigned to.
    return not any(
        isinstance(ancestor, (cst.AssignTarget, cst.CompFor))
        and context.ancestors[-1] is not ancestor
        and (isinstance(ancestor, cst.AssignTarget) or ancestor.target in context.ancestors)
        for ancestor in context.ancestors[-4:]
    )


@NAMES.on(cst.Name)
def variable(node: cst.Name, context: NodeContext) -> Iterator[Mutation]:
    """Propose another variable of the same function."""
    function = context.function
    if node.value in _NEVER or function is None or not _is_value(context):
        return
    names = variables(function)
    if node.value not in names or not 2 <= len(names) <= 12:
        return
    for name in names:
        if name != node.value:
            yield context.replacement("variable", 0.5 / len(names) + 0.08, name)


@functools.lru_cache(maxsize=512)
def _members(class_: cst.ClassDef) -> tuple[dict[str, tuple[int, int, bool]], tuple[str, ...]]:
    """Return a class's methods -> (fewest, most positional arguments, is a property), and its data attributes."""
    methods: dict[str, tuple[int, int, bool]] = {}
    attributes: dict[str, None] = {}

    def stored(node: cst.CSTNode) -> None:
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign)) and attribute_of(node.target) == "self":
            attributes[last_name(node.target)] = None
        for child in node.children:
            stored(child)

    for member in class_.body.body:
        if isinstance(member, cst.FunctionDef):
            params = member.params.params
            highest = len(params) - 1
            lowest = sum(param.default is None for param in params) - 1
            is_property = any(
                isinstance(d.decorator, cst.Name) and "property" in d.decorator.value for d in member.decorators
            )
            methods[member.name.value] = (lowest, highest, is_property)
            stored(member.body)
        elif isinstance(member, cst.SimpleStatementLine):
            for statement in member.body:
                if isinstance(statement, cst.AnnAssign) and isinstance(statement.target, cst.Name):
                    attributes[statement.target.value] = None
    return methods, tuple(attributes)


@NAMES.on(cst.Call)
def other_method(node: cst.Call, context: NodeContext) -> Iterator[Mutation]:
    """Propose another method of the same class that takes as many arguments."""
    func = node.func
    if context.enclosing_class is None or context.function is None or not isinstance(func, cst.Attribute):
        return
    if attribute_of(func) in ("self", "cls"):
        methods, _ = _members(context.enclosing_class)
        for name, (lowest, highest, is_property) in methods.items():
            is_excluded = name in (func.attr.value, context.function.name.value) or name.startswith("__")
            if not is_excluded and lowest <= len(node.args) <= highest and not is_property:
                yield context.replacement("other method", 0.35, name, func.attr)


@NAMES.on(cst.Attribute)
def own_attribute(node: cst.Attribute, context: NodeContext) -> Iterator[Mutation]:
    """Propose another attribute of the same object."""
    if context.enclosing_class is None or context.function is None or attribute_of(node) != "self":
        return
    if isinstance(context.parent, (cst.AssignTarget, cst.Call)) and getattr(context.parent, "func", node) is node:
        return
    _, attributes = _members(context.enclosing_class)
    if node.attr.value in attributes and len(attributes) <= 8:
        yield from _others(context, node, attributes, 0.12)


def _others(context: NodeContext, node: cst.Attribute, names: Iterable[str], prior: float) -> Iterator[Mutation]:
    for name in names:
        if name != node.attr.value:
            yield context.replacement("other attribute", prior, name, node.attr)


@NAMES.on(cst.Attribute)
def foreign_attribute(node: cst.Attribute, context: NodeContext) -> Iterator[Mutation]:
    """Propose another attribute that the file uses elsewhere on a variable of the same name."""
    base = attribute_of(node)
    if context.function is None or base not in variables(context.function):
        return
    if isinstance(context.parent, (cst.Call, cst.AssignTarget)):
        return
    attributes = _attributes_of(context.source).get(base, ())
    if len(attributes) <= 6:
        yield from _others(context, node, attributes, 0.2)


@functools.lru_cache(maxsize=64)
def _attributes_of(source: ParsedFile) -> dict[str, tuple[str, ...]]:
    attributes: dict[str, dict[str, None]] = {}
    for context in source.contexts:
        node = context.node
        is_called = isinstance(context.parent, cst.Call) and context.parent.func is node
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and not is_called:
            attributes.setdefault(node.value.value, {})[node.attr.value] = None
    return {base: tuple(names) for base, names in attributes.items()}
