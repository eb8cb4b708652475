"""Small changes to statements: left out, moved, guarded, returned."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import libcst as cst

from stackrank.env.mutation.edits import Edit, indentation, reindent
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.nodes import last_name, names_in
from stackrank.env.mutation.operators.base import Operators
from stackrank.env.mutation.source import NodeContext

STATEMENTS = Operators()

Block = cst.IndentedBlock
_JUMPS: dict[type[cst.CSTNode], dict[str, float]] = {
    cst.Continue: {"break": 0.5, "pass": 0.2},
    cst.Break: {"continue": 0.5, "pass": 0.3},
    cst.Return: {"continue": 0.5, "break": 0.4},
    cst.Pass: {"continue": 0.2},
}
_UPDATES = {"+=": {"-=": 0.4, "=": 0.25}, "-=": {"+=": 0.4}, "*=": {"+=": 0.3}}
_KEPT = (cst.Import, cst.ImportFrom, cst.Pass, cst.Raise, cst.Global, cst.Nonlocal)
_WAITS = ("wait", "acquire", "sleep", "get", "recv", "poll")


def _statements(block: cst.CSTNode | None) -> Sequence[cst.CSTNode]:
    return block.body if isinstance(block, Block) else ()


def _simple(node: cst.CSTNode) -> cst.BaseSmallStatement | None:
    """Return the statement of a line that has just one."""
    if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1:
        return node.body[0]
    return None


def _is_docstring(node: cst.CSTNode) -> bool:
    small = _simple(node)
    return isinstance(small, cst.Expr) and isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString))


def _later(context: NodeContext) -> Sequence[cst.CSTNode]:
    """Return the statements after this one in its block."""
    siblings = _statements(context.parent)
    return siblings[siblings.index(context.node) + 1 :] if context.node in siblings else ()


def _moved(context: NodeContext, node: cst.CSTNode, new: str, old: str | None = None) -> str:
    """Return the lines of a statement with another indentation."""
    text = context.source_lines(node)
    return reindent(text, indentation(text) if old is None else old, new)


@STATEMENTS.on(cst.Continue, cst.Break, cst.Return, cst.Pass)
def jumps(node: cst.Continue | cst.Break | cst.Return | cst.Pass, context: NodeContext) -> Iterator[Mutation]:
    """Propose `break`, `continue`, `return` and `pass` in place of one another."""
    if isinstance(node, (cst.Continue, cst.Break)) or (
        context.loop is not None and getattr(node, "value", None) is None
    ):
        for new, prior in _JUMPS[type(node)].items():
            yield context.replacement("jump", prior, new)


@STATEMENTS.on(cst.SimpleStatementLine, cst.If)
def leave_out(node: cst.SimpleStatementLine | cst.If, context: NodeContext) -> Iterator[Mutation]:
    """Propose to leave out a statement."""
    if not isinstance(context.parent, Block) or context.function is None or _is_docstring(node):
        return
    text = context.source_lines()
    small = _simple(node)
    if isinstance(node, cst.If):
        # A guard that only jumps is more likely to be superfluous than a real branch.
        prior = 0.2 if len(_statements(node.body)) == 1 and node.orelse is None else 0.06
    elif small is None or isinstance(small, _KEPT):
        return
    else:
        prior = 0.12 if isinstance(small, (cst.Return, cst.Assign, cst.AnnAssign)) else 0.2
    siblings = [
        statement for statement in _statements(context.parent) if statement is not node and not _is_docstring(statement)
    ]
    yield context.mutation("left out", prior, context.replace_lines("" if siblings else indentation(text) + "pass\n"))


@STATEMENTS.on(cst.If, cst.While)
def loops_and_branches(node: cst.If | cst.While, context: NodeContext) -> Iterator[Mutation]:
    """Propose `while` for `if`, `if` for `while`, and `if` for `elif`."""
    start, _ = context.source.span(node)
    if isinstance(node, cst.If) and context.source.text.startswith("elif", start):
        yield context.mutation("elif/if", 0.3, Edit(start, start + 4, "if"))
    elif node.orelse is not None:
        return
    elif isinstance(node, cst.While):
        yield context.mutation("if/while", 0.1, Edit(start, start + 5, "if"))
    else:
        body = _statements(node.body)
        if not body or not isinstance(_simple(body[-1]), (cst.Return, cst.Raise)):
            waits = any("wait" in name.lower() or name in _WAITS for name in names_in(node.body))
            yield context.mutation("if/while", 0.9 if waits else 0.12, Edit(start, start + 2, "while"))


@STATEMENTS.on(cst.For, cst.While, cst.If, cst.With)
def move_out(node: cst.For | cst.While | cst.If | cst.With, context: NodeContext) -> Iterator[Mutation]:
    """Propose to move the last statement of a block behind it, or the first of a loop before it."""
    body = _statements(node.body)
    if context.function is None or not isinstance(context.parent, Block) or len(body) < 2:
        return
    if getattr(node, "orelse", None) is not None:
        return
    outer = indentation(context.source_lines())
    loop = isinstance(node, (cst.For, cst.While))
    first, last = body[0], body[-1]
    prior = 0.3 if not loop else 1.0 if isinstance(_simple(last), cst.Return) else 0.35
    yield context.mutation("moved out", prior, context.replace_lines(_moved(context, last, outer), last))
    if loop and isinstance(_simple(first), (cst.Assign, cst.AnnAssign)):
        start, _ = context.source.whole_lines(node)
        insertion = Edit(start, start, _moved(context, first, outer))
        yield context.mutation("moved out", 0.35, insertion, context.replace_lines("", first))


@STATEMENTS.on(cst.For, cst.While, cst.If, cst.With)
def move_in(node: cst.For | cst.While | cst.If | cst.With, context: NodeContext) -> Iterator[Mutation]:
    """Propose to move the statement after a block to the end of the block."""
    body, later = _statements(node.body), _later(context)
    if context.function is None or getattr(node, "orelse", None) is not None or not body or not later:
        return
    if _simple(later[0]) is not None:
        inner = indentation(context.source_lines(body[-1]))
        yield context.mutation("moved in", 0.2, context.replace_lines(_moved(context, later[0], inner), later[0]))


@STATEMENTS.on(Block)
def exchange(node: cst.IndentedBlock, context: NodeContext) -> Iterator[Mutation]:
    """Propose two neighbouring statements in the other order."""
    if context.outermost_function is None and not isinstance(context.parent, cst.FunctionDef):
        return
    fixed = (cst.FunctionDef, cst.ClassDef, cst.Return, cst.Raise, cst.Break, cst.Continue)
    for first, second in itertools.pairwise(statement for statement in node.body if not _is_docstring(statement)):
        if isinstance(_simple(first) or first, fixed) or isinstance(_simple(second) or second, fixed):
            continue
        related = bool(names_in(first) & names_in(second) - {"self"})
        changes = (
            context.replace_lines(context.source_lines(second), first),
            context.replace_lines(context.source_lines(first), second),
        )
        yield context.mutation("exchanged", 0.2 if related else 0.05, *changes, is_hot_swappable=True)


@STATEMENTS.on(cst.If)
def narrow_guard(node: cst.If, context: NodeContext) -> Iterator[Mutation]:
    """Narrow an `if c: continue` that skips too much: guard only one of the later statements by the condition."""
    body, later = _statements(node.body), _later(context)
    if context.function is None or node.orelse is not None or len(body) != 1 or len(later) < 2:
        return
    if isinstance(_simple(body[0]), (cst.Continue, cst.Return)):
        indent, inner = indentation(context.source_lines()), indentation(context.source_lines(body[0]))
        for statement in later:
            guarded = f"{indent}if not ({context.code(node.test)}):\n{_moved(context, statement, inner, indent)}"
            yield context.mutation("guard", 0.15, context.replace_lines(""), context.replace_lines(guarded, statement))


@STATEMENTS.on(cst.Expr)
def missing_return(node: cst.Expr, context: NodeContext) -> Iterator[Mutation]:
    """Propose to return a value."""
    block = context.ancestors[-2]
    last = isinstance(block, Block) and block.body[-1] is context.parent
    if last and context.function is not None and isinstance(node.value, cst.Call):
        prior = 0.35 if block is context.function.body else 0.2
        yield context.replacement("return", prior, f"return {context.code(node.value)}")


@STATEMENTS.on(cst.Return)
def negated_return(node: cst.Return, context: NodeContext) -> Iterator[Mutation]:
    """Propose the opposite of a condition that is returned."""
    if isinstance(node.value, (cst.Comparison, cst.BooleanOperation)):
        yield context.replacement("negation", 0.2, f"return not ({context.code(node.value)})")


@STATEMENTS.on(cst.AugAssign)
def updates(node: cst.AugAssign, context: NodeContext) -> Iterator[Mutation]:
    """Propose `-=` for `+=` and the like."""
    operator = context.code(node.operator).strip()
    target, value = context.code(node.target), context.code(node.value)
    for new, prior in _UPDATES.get(operator, {}).items():
        yield context.replacement("assignment", prior, f"{target} {new} {value}")
    if operator in ("+=", "|=", "&=", "-="):
        # These operators change the object itself, which others may share.
        yield context.replacement("in place", 0.2, f"{target} = {target} {operator[0]} {value}")


@STATEMENTS.on(cst.Assign)
def missing_update(node: cst.Assign, context: NodeContext) -> Iterator[Mutation]:
    """Propose `+=` for `=`."""
    target = node.targets[0].target
    is_variable = isinstance(target, (cst.Name, cst.Attribute, cst.Subscript))
    if is_variable and len(node.targets) == 1 and context.loop is not None:
        yield context.replacement("assignment", 0.2, f"{context.code(target)} += {context.code(node.value)}")


@STATEMENTS.on(cst.For, cst.CompFor)
def iteration(node: cst.For | cst.CompFor, context: NodeContext) -> Iterator[Mutation]:
    """Propose to iterate over a copy, backwards, or in order."""
    code = context.code(node.iter)
    if isinstance(node.iter, cst.Call) and last_name(node.iter) in ("reversed", "sorted") and node.iter.args:
        yield context.replacement("order", 0.3, context.code(node.iter.args[0].value), node.iter)
        return
    if isinstance(node.iter, (cst.Call, cst.List, cst.Tuple)) and last_name(node.iter) in ("range", "enumerate", "zip"):
        yield context.replacement("order", 0.1, f"reversed({code})", node.iter)
        return
    if isinstance(node, cst.For):
        changing = names_in(node.body) & {"remove", "pop", "append", "add", "discard", "clear", "insert", "popitem"}
        base = last_name(node.iter.func) if isinstance(node.iter, cst.Call) else last_name(node.iter)
        is_used_inside = bool(base) and base in names_in(node.body)
        prior = 0.9 if changing and is_used_inside else 0.35 if is_used_inside else 0.15
        yield context.replacement("iterate a copy", prior, f"list({code})", node.iter)
    yield context.replacement("order", 0.2, f"reversed({code})", node.iter)
    yield context.replacement("order", 0.25, f"sorted({code})", node.iter)
