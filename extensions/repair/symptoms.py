"""What the failures say about the kind of change that is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import libcst as cst

from stackrank.env.mutation.edits import Edit, indentation, reindent
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.operators.names import variables
from stackrank.env.mutation.source import NodeContext

# Pattern in the failures' messages -> kind of change -> factor.
_HINTS: tuple[tuple[str, dict[str, float]], ...] = (
    (r"changed size during iteration|mutated during iteration|changed during iteration", {"iterate a copy": 20}),
    (r"never awaited|coroutine", {"await": 4}),
    (r"UnboundLocalError|cannot access local variable|referenced before assignment", {"scope": 6, "moved out": 2}),
    (r"NoneType", {"None": 3, "return": 3, "in place": 2, "falsy": 1.5, "default": 2}),
    (r"IndexError|out of range", {"off by one": 2, "comparison": 1.5}),
    (r"KeyError", {"lookup": 3, "default": 2, "other end": 1.2}),
    (r"RecursionError|maximum recursion", {"other method": 2.5, "comparison": 1.5, "confused": 1.3}),
    (r"ZeroDivisionError", {"comparison": 1.5, "falsy": 1.5, "None": 1.5}),
    (r"not supported between instances", {"no order": 8}),
    (r"ufeff|BOM", {"encoding": 8}),
    (r"unsupported operand|can only concatenate", {"reflected": 6}),
    (r"bound method|has no len|not iterable|not callable", {"not called": 2}),
    (r"UnicodeDecodeError|UnicodeEncodeError", {"encoding": 6}),
    (r"StopIteration|generator|iterator", {"lazy": 2, "default": 2}),
    (r"AttributeError", {"protocol": 1.5, "other attribute": 1.5, "confused": 1.3, "default": 1.3}),
    (r"Decimal|\d\.\d{10,}", {"binary float": 3, "rounding": 1.5}),
    (r"assert (True|False)|is True|(True|False) ==", {"and/or": 1.3, "negation": 1.3, "comparison": 1.2}),
    (r"DID NOT RAISE", {"comparison": 1.5, "and/or": 1.3, "swallowed exception": 2, "exception kind": 1.2}),
    (r"(Left|Right) contains|more items", {"off by one": 1.3, "comparison": 1.3, "moved out": 1.2, "jump": 1.2}),
)
_UNBOUND = re.compile(r"UnboundLocalError: \D*?'(\w+)'")
_RAISED = re.compile(r"^([A-Za-z_][\w.]*?)(?::|$)")


@dataclass(frozen=True)
class Symptoms:
    """The failing tests' messages, and the values where the first test fails."""

    messages: tuple[str, ...]
    text: str
    values: Mapping[str, str] = field(default_factory=dict)
    """Local variables of the failing frame, shortened, if the debugger has shown them."""

    def factor(self, kind: str) -> float:
        """Return how much likelier the messages make a kind of change."""
        text = "\n".join(self.messages) or self.text[-2000:]
        factor = 1.0
        for pattern, kinds in _HINTS:
            if kind in kinds and re.search(pattern, text):
                factor *= kinds[kind]
        return factor

    @property
    def raised(self) -> tuple[str, ...]:
        """The kinds of exception that were raised, other than failed assertions."""
        kinds = [match.group(1).rpartition(".")[2] for message in self.messages if (match := _RAISED.match(message))]
        return tuple(dict.fromkeys(kind for kind in kinds if kind not in ("AssertionError", "Failed")))

    @property
    def about_none(self) -> bool:
        """Whether something was None that should not be."""
        return any("NoneType" in message for message in self.messages)

    def mutations(self, context: NodeContext) -> Iterator[Mutation]:
        """Yield changes that only these failures suggest."""
        if self.about_none:
            yield from self._guards(context)
        yield from self._unbound(context)
        if self.raised and isinstance(context.node, cst.ExceptHandler) and context.node.type is not None:
            yield from self._exceptions(context)

    def _guards(self, context: NodeContext) -> Iterator[Mutation]:
        """Propose `if x is None: return ...` before a statement that uses an attribute or variable x."""
        node = context.node
        if not isinstance(node, cst.SimpleStatementLine) or context.function is None or not node.body:
            return
        text = context.source_lines()
        indent = indentation(text)
        names = dict.fromkeys(_used(node, context))
        first, _ = context.source.whole_lines(node)
        for name in names:
            # If the debugger shows that a variable is None, that is the variable to guard.
            value = self.values.get(name)
            prior = 0.5 if value is None else 1.5 if value == "None" else 0.02
            exits = _exits(context, name)
            if context.loop is not None:
                exits.insert(0, "continue")
            for rank, leave in enumerate(exits):
                guard = f"{indent}if {name} is None:\n{indent}    {leave}\n"
                yield context.mutation("None", prior * 0.9**rank, Edit(first, first, guard))
            if not isinstance(node.body[0], cst.Return):
                inner = reindent(text, indent, indent + "    ")
                yield context.mutation(
                    "None", prior * 0.5, context.replace_lines(f"{indent}if {name} is not None:\n{inner}")
                )

    def _unbound(self, context: NodeContext) -> Iterator[Mutation]:
        """Propose an initial value for a variable that a loop or branch may leave unassigned."""
        node = context.node
        if not isinstance(node, cst.FunctionDef) or not isinstance(node.body, cst.IndentedBlock):
            return
        first = node.body.body[0]
        start, end = context.source.whole_lines(first)
        indent = indentation(context.source.text[start:end])
        docstring = context.source_lines(first).lstrip()[:1] in ("'", '"')
        for message in self.messages:
            for name in _UNBOUND.findall(message):
                if name in variables(node):
                    at = end if docstring else start
                    for rank, value in enumerate(("None", "0", "[]", '""', "False")):
                        text = f"{indent}{name} = {value}\n"
                        yield context.mutation("unbound", 1.5 * 0.8**rank, Edit(at, at, text), is_hot_swappable=True)

    def _exceptions(self, context: NodeContext) -> Iterator[Mutation]:
        """Add the exception that was not caught to an `except` clause."""
        handler = context.node
        assert isinstance(handler, cst.ExceptHandler) and handler.type is not None
        old = context.code(handler.type)
        for kind in self.raised:
            if kind not in old:
                inner = old.strip("()") if isinstance(handler.type, cst.Tuple) else old
                yield context.mutation("exception kind", 0.7, context.replace_node(f"({inner}, {kind})", handler.type))


def _exits(context: NodeContext, name: str) -> list[str]:
    """Return ways to leave the function early; first those that fit its declared return type."""
    function = context.function
    assert function is not None
    params = [param.name.value for param in function.params.params[:2]]
    exits = [f"return {returned}" for returned in dict.fromkeys(["None", name, *params])]
    declared = context.code(function.returns.annotation).strip("\"'") if function.returns is not None else ""
    returns_self = context.enclosing_class is not None and declared in (context.enclosing_class.name.value, "Self")
    types = {"self": returns_self, "None": not declared or "Optional" in declared or "None" in declared}
    for param in function.params.params[:2]:
        if param.annotation is not None:
            types[param.name.value] = context.code(param.annotation.annotation) == declared
    return sorted(exits, key=lambda statement: not types.get(statement.removeprefix("return "), not declared))


def _used(node: cst.CSTNode, context: NodeContext) -> Iterator[str]:
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
        yield context.code(node)
        if node.value.value not in ("self", "cls"):
            yield node.value.value
        return
    if isinstance(node, cst.Call):
        func = node.func
        if isinstance(func, cst.Attribute):
            yield from _used(func.value, context)
        for arg in node.args:
            yield from _used(arg.value, context)
        return
    if isinstance(node, cst.Name) and node.value not in ("self", "cls", "None", "True", "False"):
        yield node.value
        return
    for child in node.children:
        if not isinstance(child, cst.AssignTarget):
            yield from _used(child, context)
