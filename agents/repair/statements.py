"""Small changes to statements: left out, moved, guarded, returned."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import libcst as cst

from agents.repair.source import Candidate, Change, Operator, Place, indentation, last_name, names_in, reindent

Block = cst.IndentedBlock
_WAITS = ("wait", "acquire", "sleep", "get", "recv", "poll")


def _statements(block: cst.CSTNode) -> Sequence[cst.CSTNode]:
    return block.body if isinstance(block, Block) else ()


def _simple(node: cst.CSTNode) -> cst.BaseSmallStatement | None:
    """The statement of a line that holds just one."""
    if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1:
        return node.body[0]
    return None


def _is_docstring(node: cst.CSTNode) -> bool:
    small = _simple(node)
    return isinstance(small, cst.Expr) and isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString))


def jumps(place: Place) -> Iterator[Candidate]:
    """`break`, `continue`, `return` and `pass` for one another."""
    node = place.node
    if isinstance(node, cst.Continue):
        yield place.candidate("jump", 0.5, place.swap("break"))
        yield place.candidate("jump", 0.2, place.swap("pass"))
    elif isinstance(node, cst.Break):
        yield place.candidate("jump", 0.5, place.swap("continue"))
        yield place.candidate("jump", 0.3, place.swap("pass"))
    elif isinstance(node, cst.Return) and node.value is None and place.loop is not None:
        yield place.candidate("jump", 0.5, place.swap("continue"))
        yield place.candidate("jump", 0.4, place.swap("break"))
    elif isinstance(node, cst.Pass) and place.loop is not None:
        yield place.candidate("jump", 0.2, place.swap("continue"))


def leave_out(place: Place) -> Iterator[Candidate]:
    """A statement left out."""
    node = place.node
    if not isinstance(place.parent, Block) or place.function is None or _is_docstring(node):
        return
    text = place.text_of_lines()
    small = _simple(node)
    if isinstance(node, cst.SimpleStatementLine):
        if small is None or isinstance(
            small, (cst.Import, cst.ImportFrom, cst.Pass, cst.Raise, cst.Global, cst.Nonlocal)
        ):
            return
        prior = 0.12 if isinstance(small, (cst.Return, cst.Assign, cst.AnnAssign)) else 0.2
    elif isinstance(node, cst.If):
        # A guard that only jumps is easier to do without than a real branch.
        body = _statements(node.body)
        prior = 0.2 if len(body) == 1 and node.orelse is None else 0.06
    else:
        return
    rest = [each for each in _statements(place.parent) if each is not node and not _is_docstring(each)]
    yield place.candidate("left out", prior, place.lines("" if rest else indentation(text) + "pass\n"))


def loops_and_branches(place: Place) -> Iterator[Candidate]:
    """`while` for `if`, `if` for `elif` and the other way round."""
    node = place.node
    start, _ = place.source.span(node) if isinstance(node, (cst.If, cst.While)) else (0, 0)
    if isinstance(node, cst.If):
        word = "elif" if place.source.text.startswith("elif", start) else "if"
        waits = any("wait" in name.lower() or name in _WAITS for name in names_in(node.body))
        if word == "if" and node.orelse is None:
            jump = isinstance(
                _simple(_statements(node.body)[-1]) if _statements(node.body) else None, (cst.Return, cst.Raise)
            )
            if not jump:
                change = Change(start, start + 2, "while")
                yield place.candidate("if/while", 0.9 if waits else 0.12, change)
        if word == "elif":
            yield place.candidate("elif/if", 0.3, Change(start, start + 4, "if"))
    elif isinstance(node, cst.While) and node.orelse is None:
        yield place.candidate("if/while", 0.1, Change(start, start + 5, "if"))


def move_out(place: Place) -> Iterator[Candidate]:
    """The last statement of a block moved behind it; the first of a loop before it."""
    node = place.node
    if not isinstance(node, (cst.For, cst.While, cst.If, cst.With)) or place.function is None:
        return
    body = _statements(node.body)
    if not isinstance(place.parent, Block) or (isinstance(node, cst.If) and node.orelse is not None):
        return
    text = place.text_of_lines()
    outer = indentation(text)
    loop = isinstance(node, (cst.For, cst.While))
    if len(body) > 1:
        last = body[-1]
        start, end = place.source.whole_lines(last)
        inner = place.source.text[start:end]
        moved = reindent(inner, indentation(inner), outer)
        small = _simple(last)
        prior = (1.0 if isinstance(small, cst.Return) else 0.35) if loop else 0.3
        if loop and getattr(node, "orelse", None) is not None:
            return
        yield place.candidate("moved out", prior, Change(start, end, moved))
        first = body[0]
        start, end = place.source.whole_lines(first)
        inner = place.source.text[start:end]
        if loop and isinstance(_simple(first), (cst.Assign, cst.AnnAssign)):
            whole, _ = place.source.whole_lines(node)
            moved = reindent(inner, indentation(inner), outer)
            changes = (Change(whole, whole, moved), Change(start, end, ""))
            yield place.candidate("moved out", 0.35, *changes)


def move_in(place: Place) -> Iterator[Candidate]:
    """The statement behind a block moved to its end."""
    node = place.node
    if not isinstance(place.parent, Block) or not isinstance(node, (cst.For, cst.While, cst.If, cst.With)):
        return
    siblings = _statements(place.parent)
    position = next(index for index, each in enumerate(siblings) if each is node)
    if position + 1 >= len(siblings) or place.function is None or getattr(node, "orelse", None) is not None:
        return
    following = siblings[position + 1]
    if _simple(following) is None or not _statements(node.body):
        return
    start, end = place.source.whole_lines(following)
    text = place.source.text[start:end]
    inner_start, inner_end = place.source.whole_lines(_statements(node.body)[-1])
    inner = indentation(place.source.text[inner_start:inner_end])
    yield place.candidate("moved in", 0.2, Change(start, end, reindent(text, indentation(text), inner)))


def exchange(place: Place) -> Iterator[Candidate]:
    """Two neighbouring statements in the other order."""
    node = place.node
    if not isinstance(node, Block) or (place.outermost is None and not isinstance(place.parent, cst.FunctionDef)):
        return
    body = [each for each in node.body if not _is_docstring(each)]
    for one, other in itertools.pairwise(body):
        if isinstance(other, (cst.FunctionDef, cst.ClassDef)) or isinstance(one, (cst.FunctionDef, cst.ClassDef)):
            continue
        jump = (cst.Return, cst.Raise, cst.Break, cst.Continue)
        if isinstance(_simple(other), jump) or isinstance(_simple(one), jump):
            continue
        first, second = place.source.whole_lines(one), place.source.whole_lines(other)
        text = place.source.text
        related = bool(names_in(one) & names_in(other) - {"self"})
        changes = (Change(*first, text[slice(*second)]), Change(*second, text[slice(*first)]))
        yield place.candidate("exchanged", 0.2 if related else 0.05, *changes, warm=True)


def narrow_guard(place: Place) -> Iterator[Candidate]:
    """`if c: continue` that skips too much: only one of the later statements depends on the condition."""
    node = place.node
    if not isinstance(node, cst.If) or not isinstance(place.parent, Block) or node.orelse is not None:
        return
    body, siblings = _statements(node.body), _statements(place.parent)
    if len(body) != 1 or not isinstance(_simple(body[0]), (cst.Continue, cst.Return)) or place.function is None:
        return
    position = next(index for index, each in enumerate(siblings) if each is node)
    text = place.text_of_lines()
    indent = indentation(text)
    step = indentation(place.text_of_lines(body[0]))[len(indent) :]
    later = siblings[position + 1 :]
    if len(later) < 2:
        return
    for each in later:
        start, end = place.source.whole_lines(each)
        inner = reindent(place.source.text[start:end], indent, indent + step)
        guarded = f"{indent}if not ({place.code(node.test)}):\n{inner}"
        yield place.candidate("guard", 0.15, place.lines(""), Change(start, end, guarded))


def returns(place: Place) -> Iterator[Candidate]:
    """A value that should be returned; one that should not be."""
    node = place.node
    if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call) and place.function is not None:
        block = place.above[-2] if len(place.above) > 1 else None
        if isinstance(block, Block) and block.body[-1] is place.parent:
            outer = block is place.function.body
            yield place.candidate("return", 0.35 if outer else 0.2, place.swap(f"return {place.code(node.value)}"))
    elif isinstance(node, cst.Return) and node.value is not None:
        code = place.code(node.value)
        if isinstance(node.value, cst.Name) and node.value.value in ("True", "False"):
            return
        if isinstance(node.value, (cst.Comparison, cst.BooleanOperation)):
            yield place.candidate("negation", 0.2, place.swap(f"return not ({code})"))


def assignments(place: Place) -> Iterator[Candidate]:
    """`+=` for `=`, `-=` for `+=`, and their like."""
    node = place.node
    if isinstance(node, cst.AugAssign):
        operator = place.code(node.operator).strip()
        target, value = place.code(node.target), place.code(node.value)
        for new, prior in {"+=": (("-=", 0.4), ("=", 0.25)), "-=": (("+=", 0.4),), "*=": (("+=", 0.3),)}.get(
            operator, ()
        ):
            yield place.candidate("assignment", prior, place.swap(f"{target} {new} {value}"))
        if operator == "+=":
            # The object itself is changed, and whoever else holds it sees that.
            yield place.candidate("in place", 0.2, place.swap(f"{target} = {target} + {value}"))
        if operator in ("|=", "&=", "-="):
            yield place.candidate("in place", 0.2, place.swap(f"{target} = {target} {operator[0]} {value}"))
    elif isinstance(node, cst.Assign) and len(node.targets) == 1 and place.loop is not None:
        target, value = place.code(node.targets[0].target), place.code(node.value)
        if isinstance(node.targets[0].target, (cst.Name, cst.Attribute, cst.Subscript)):
            yield place.candidate("assignment", 0.2, place.swap(f"{target} += {value}"))


def iteration(place: Place) -> Iterator[Candidate]:
    """Over a copy, backwards, in order."""
    node = place.node
    if not isinstance(node, (cst.For, cst.CompFor)):
        return
    code = place.code(node.iter)
    if isinstance(node.iter, cst.Call) and last_name(node.iter) in ("reversed", "sorted") and node.iter.args:
        yield place.candidate("order", 0.3, place.swap(place.code(node.iter.args[0].value), node.iter))
        return
    if isinstance(node.iter, (cst.Call, cst.List, cst.Tuple)) and last_name(node.iter) in ("range", "enumerate", "zip"):
        yield place.candidate("order", 0.1, place.swap(f"reversed({code})", node.iter))
        return
    if isinstance(node, cst.For):
        changing = names_in(node.body) & {"remove", "pop", "append", "add", "discard", "clear", "insert", "popitem"}
        base = last_name(node.iter.func) if isinstance(node.iter, cst.Call) else last_name(node.iter)
        same = bool(base) and base in names_in(node.body)
        prior = 0.9 if changing and same else 0.35 if same else 0.15
        yield place.candidate("iterate a copy", prior, place.swap(f"list({code})", node.iter))
    yield place.candidate("order", 0.2, place.swap(f"reversed({code})", node.iter))
    yield place.candidate("order", 0.25, place.swap(f"sorted({code})", node.iter))


STATEMENTS: tuple[Operator, ...] = (
    jumps,
    leave_out,
    loops_and_branches,
    move_out,
    move_in,
    exchange,
    narrow_guard,
    returns,
    assignments,
    iteration,
)
