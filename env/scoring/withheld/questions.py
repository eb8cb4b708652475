"""Writes tests that ask for answers and do not say which are wanted.

Each assertion becomes a question: `assert f(3) == 7` becomes `__asked__("12 =", f(3))`, which reports the value. What
an assertion says about every right program is asked for, in words that do not tell it:

- an equality with what the test writes down or computes by itself: the other side
- `approx` and `assertAlmostEqual` with a written tolerance: the value, compared with that tolerance
- `is None` and `is not None`, `assert f(x)` and `assert not f(x)`: whether it is so
- an expected exception, and `isinstance`: the classes

Other assertions (`in`, `<`, a helper that compares) are executed without what they compare with. Then everything goes
that served only to say what is wanted: parameters, columns of tables, helper functions, comments, docstrings, and tests
that ask nothing.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterator, Sequence

from stackrank.env.benchmarks.testfiles import is_test
from stackrank.env.scoring.literals import Edit, Source, called, parts
from stackrank.env.scoring.withheld.ownership import (
    Function,
    Ownership,
    argument,
    loaded_names,
    parameter_names,
    parametrized,
    workspace_modules,
)
from stackrank.env.task import Task
from stackrank.source import literal

ASKED = "__asked__"
"""The name by which tests find what collects answers (`guest.testing.answers`)."""
_KNOWN = 256
"""How many generated files are cached: verdicts ask for the same ones again and again."""
_WITHHELD = "'withheld'"
_RAISES = ("raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp")
_EQUAL = re.compile(r"assert(Equals?|(List|Dict|Tuple|Set|Sequence|MultiLine|Count)Equal|Is)")
_COMPARED_WITH = {"startswith", "endswith", "match", "fullmatch", "search", "count", "index", "find", "issubset",
                  "issuperset", "isdisjoint", "isclose", "allclose"}  # fmt: skip
"""Methods whose arguments are expectations rather than inputs."""


def withhold(task: Task) -> dict[str, bytes]:
    """Return the hidden test files as questions; none if they ask nothing."""
    modules = frozenset(workspace_modules((*task.files, *task.hidden_files)))
    files, asks = {}, False
    for path in filter(is_test, task.hidden_files):
        try:
            files[path], number = _questions(task.hidden_files[path], modules)
        except (SyntaxError, ValueError):
            continue  # pytest could not run it either
        asks = asks or number > 0
    return files if asks else {}


@functools.lru_cache(maxsize=_KNOWN)
def _questions(content: bytes, modules: frozenset[str]) -> tuple[bytes, int]:
    return _Writer(_without_remarks(content), modules).written()


def _without_remarks(content: bytes) -> bytes:
    """Remove comments and docstrings; lines keep their numbers. Raises SyntaxError or ValueError."""
    source = Source(content)
    edits = [
        _instead(source, node.value, "0") for node in ast.walk(source.tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]  # fmt: skip
    starts = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", content))]
    lines = io.BytesIO(content).readline
    for token in tokenize.tokenize(lines):
        if token.type == tokenize.COMMENT and token.start[0] > 2:  # a coding cookie stands in the first two lines
            start = starts[token.start[0] - 1] + len(token.line[: token.start[1]].encode())
            edits.append(Edit(start, start + len(token.string.encode()), ""))
    return _applied(content, edits)


def _instead(source: Source, node: ast.expr | ast.stmt, new: str, last: ast.stmt | None = None) -> Edit:
    """Return an edit that replaces a node (up to `last`) by an expression; lines keep their numbers."""
    start, end = source.span(node)[0], source.span(last or node)[1]
    missing = source.content.count(b"\n", start, end) - new.count("\n")
    return Edit(start, end, f"({new}" + "\n" * missing + ")" if missing > 0 else new)


def _applied(content: bytes, edits: Sequence[Edit]) -> bytes:
    """Apply edits; those within another are left out."""
    end = len(content) + 1
    outer: list[Edit] = []
    for edit in sorted(set(edits), key=lambda edit: (edit.start, -edit.end)):
        if not outer or edit.start >= outer[-1].end:
            outer.append(edit)
    for edit in reversed(outer):
        if edit.end <= end:
            content, end = edit.apply(content), edit.start
    return content


class _Writer:
    """Writes one test file."""

    def __init__(self, content: bytes, modules: frozenset[str]) -> None:
        self._source = Source(content)
        self._own = Ownership(self._source.tree, modules)
        self._edits: list[Edit] = []
        self._kept_now: list[ast.AST] = []
        self._asking: set[ast.AST] = set()
        self._removed: set[ast.AST] = set()
        """The nodes that are no longer in the file."""

    def written(self) -> tuple[bytes, int]:
        """Return the file, and how many test functions of it ask something."""
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.Assert):
                self._replace(node, self._condition(node.test, node.lineno))
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                self._call(node, node.value)
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                for item in node.items:
                    if isinstance(item.context_expr, ast.Call) and called(item.context_expr) in _RAISES:
                        self._replace(item.context_expr, [f'{ASKED}.raises("{node.lineno} !")'], [])
        tests = [
            node for node in ast.walk(self._source.tree) if isinstance(node, Function) and node.name.startswith("test")
        ]
        silent = [node for node in tests if not self._asks(node)]
        for node in silent:
            self._empty(node)
        while self._clean():
            pass
        return _applied(self._source.content, self._edits), len(tests) - len(silent)

    # ---- assertions

    def _condition(self, test: ast.expr, line: int, negated: bool = False) -> Iterator[str]:
        """Yield what replaces a condition: questions, and what is only executed."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or if negated else ast.And):
            for value in test.values:
                yield from self._condition(value, line, negated)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._condition(test.operand, line, not negated)
        elif isinstance(test, ast.Compare):
            yield from self._compared(test, line, negated)
        elif isinstance(test, ast.Call) and called(test) == "isinstance" and len(test.args) == 2 and not negated:
            yield f'{ASKED}.classes("{line} !", {self._text(test.args[0])})'
        elif isinstance(test, (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Await)) and self._is_of_program(
            test
        ):
            yield f'{ASKED}("{line} =", bool({self._text(test)}))'
        else:
            yield from self._executed(test)

    def _is_of_program(self, node: ast.expr) -> bool:
        """Whether a truth value is the program's answer to inputs, and not the test's own comparison."""
        if isinstance(node, ast.Await):
            return self._is_of_program(node.value)
        if not isinstance(node, ast.Call):
            return not self._own.owns(node)
        if isinstance(node.func, ast.Name) and self._own.is_function(node.func):
            return False
        return called(node) not in _COMPARED_WITH and not self._own.owns(node.func)

    def _compared(self, test: ast.Compare, line: int, negated: bool) -> Iterator[str]:
        sides = [test.left, *test.comparators]
        if len(test.ops) == 1 and isinstance(test.ops[0], (ast.Is, ast.IsNot)) and _is_none(sides[1]):
            yield f'{ASKED}("{line} =", ({self._text(sides[0])}) is None)'
        elif isinstance(sides[0], ast.Compare):
            for side in sides:
                yield from self._executed(side)
        elif not negated and all(isinstance(operator, (ast.Eq, ast.Is)) for operator in test.ops):
            yield from self._equal(sides, line)
        else:
            for side in sides:
                yield from self._executed(side)

    def _equal(self, sides: Sequence[ast.expr], line: int, kind: str = "=") -> Iterator[str]:
        """Ask for the sides that depend on the program, if another side does not."""
        answers = [side for side in sides if not self._own.owns(side)]
        if len(answers) > 1:
            answers = [side for side in sides if parts(side) is None or not list(parts(side) or ())] or answers
        if not answers:
            # Such as a list that the test made and the program has sorted.
            answers = [side for side in sides if any(loaded_names(side))][:1]
        wanted = [side for side in sides if side not in answers]
        for side in wanted:
            if kind == "=" and isinstance(side, ast.Call) and called(side) == "approx":
                kind = _tolerance(side)
        asks = bool(wanted) and kind != ""
        for side in answers:
            if asks:
                yield f'{ASKED}("{line} {kind}", {self._text(side)})'
            else:
                yield from self._executed(side)

    def _executed(self, node: ast.expr) -> Iterator[str]:
        """Yield a condition's parts that depend on the program, without what it compares them with."""
        if self._own.owns(node):
            return
        comparing = isinstance(node, ast.Call) and not self._is_of_program(node)
        if isinstance(node, ast.Call) and comparing:
            if isinstance(node.func, ast.Attribute):
                yield from self._executed(node.func.value)
            for value in (*node.args, *(keyword.value for keyword in node.keywords)):
                yield from self._executed(value)
        elif isinstance(node, (ast.BoolOp, ast.Compare, ast.IfExp, ast.UnaryOp, ast.BinOp, ast.Starred)):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from self._executed(child)
        elif not any(isinstance(inner, (ast.Compare, ast.BoolOp)) for inner in ast.walk(node)):
            yield self._text(node)

    def _call(self, node: ast.Expr, call: ast.Call) -> None:
        """Replace a statement that asserts by a call, as `unittest` and mocks do."""
        name, line, arguments = called(call), node.lineno, call.args
        if name in _RAISES and len(arguments) > 1 and not isinstance(arguments[0], ast.Starred):
            passed = ", ".join(self._text(value) for value in (*arguments[1:], *call.keywords))
            self._replace(node, [f'{ASKED}.raises("{line} !").by({passed})'], [*arguments[1:], *call.keywords])
        elif name.startswith("assert_") and isinstance(call.func, ast.Attribute):
            history = {"assert_called_once_with": "call_args_list", "assert_called_with": "call_args"}
            text = self._text(call.func.value)
            asked = f'{ASKED}("{line} =", {text}.{history[name]})' if name in history else text
            self._replace(node, [asked], [call.func.value])
        elif name == "match" and isinstance(call.func, ast.Attribute):
            self._replace(node, [self._text(call.func.value)], [call.func.value])
        elif name.startswith("assert") and isinstance(call.func, ast.Attribute) and arguments:
            self._replace(node, self._unittest(name, line, call))

    def _unittest(self, name: str, line: int, call: ast.Call) -> Iterator[str]:
        sides = call.args[:2]
        if name in ("assertTrue", "assertFalse"):
            yield from self._condition(call.args[0], line, name == "assertFalse")
        elif name in ("assertIsNone", "assertIsNotNone"):
            yield f'{ASKED}("{line} =", ({self._text(call.args[0])}) is None)'
        elif _EQUAL.fullmatch(name) and len(sides) == 2:
            yield from self._equal(sides, line)
        elif name == "assertAlmostEqual" and len(sides) == 2:
            yield from self._equal(sides, line, _tolerance(call))
        else:
            for side in sides:
                yield from self._executed(side)

    def _text(self, node: ast.AST) -> str:
        """Return the text of a node. The node stays in the file."""
        self._kept_now.append(node)
        start, end = self._source.span(node)  # type: ignore[arg-type]
        return self._source.content[start:end].decode()

    def _replace(
        self, node: ast.stmt | ast.expr, texts: Iterator[str] | Sequence[str], kept: Sequence[ast.AST] | None = None
    ) -> None:
        self._kept_now = []
        replacements = list(texts)
        remaining = self._kept_now if kept is None else kept
        staying = {inner for root in remaining for inner in ast.walk(root)}
        self._removed |= {inner for inner in ast.walk(node) if inner not in staying}
        if any(ASKED in text for text in replacements):
            self._asking.add(node)
        new = f"({', '.join(replacements)},)" if isinstance(node, ast.stmt) else replacements[0]
        self._edits.append(_instead(self._source, node, new if replacements else "0"))

    def _asks(self, function: Function) -> bool:
        """Whether a test asks something, perhaps by a helper of its file."""
        if not self._asking.isdisjoint(ast.walk(function)):
            return True
        names = {name.id for name in loaded_names(function)} - {function.name}
        helpers = [node for node in self._source.tree.body if isinstance(node, Function) and node.name in names]
        return any(not self._asking.isdisjoint(ast.walk(helper)) for helper in helpers)

    # ---- what only said what is wanted

    def _empty(self, function: Function | ast.ClassDef) -> None:
        first, last = function.body[0], function.body[-1]
        decorators: list[ast.expr] = getattr(first, "decorator_list", [])
        start = self._source.span(decorators[0] if decorators else first)[0]
        if decorators:
            start = self._source.content.rindex(b"@", 0, start)
        end = self._source.span(last)[1]
        self._edits.append(Edit(start, end, "pass" + "\n" * self._source.content.count(b"\n", start, end)))
        self._removed |= {inner for statement in function.body for inner in ast.walk(statement)}

    def _clean(self) -> bool:
        """Blank the values of names that nothing reads any more. Returns whether there were any."""
        reads: dict[tuple[ast.AST, str], bool] = {}
        for name in loaded_names(self._source.tree):
            key = self._own.binding_scope(name), name.id
            reads[key] = reads.get(key, False) or name not in self._removed
        before = len(self._removed)
        for (scope, identifier), is_read in reads.items():
            if not is_read:
                for value in self._values(scope, identifier):
                    if value not in self._removed:
                        self._blank(value)
        return len(self._removed) > before

    def _blank(self, value: ast.expr | Function) -> None:
        if isinstance(value, Function):
            self._empty(value)
        elif self._own.owns(value) or parts(value) is not None:
            self._edits.append(_instead(self._source, value, _WITHHELD))
            self._removed |= set(ast.walk(value))

    def _values(self, scope: ast.AST, name: str) -> Iterator[ast.expr | Function]:
        """Yield the written values of a name: in assignments, loops, parameters, arguments; or its function."""
        if isinstance(scope, Function):
            for decorator in scope.decorator_list:
                if isinstance(decorator, ast.Call) and called(decorator) == "parametrize" and len(decorator.args) > 1:
                    names = parameter_names(decorator)
                    if name in names:
                        yield from self._column(decorator.args[1], names.index(name), len(names))
            positional = [parameter.arg for parameter in (*scope.args.posonlyargs, *scope.args.args)]
            if name in positional and not any(parametrized(scope)):
                for call in self._own.calls(scope.name):
                    value = argument(call, positional.index(name), name)
                    if isinstance(value, ast.expr):
                        yield value
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and [getattr(to, "id", "") for to in node.targets] == [name]:
                if self._own.scope(node) is scope:
                    yield node.value
            elif isinstance(node, ast.For) and self._own.scope(node) is scope:
                targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
                if name in [getattr(target, "id", "") for target in targets]:
                    index = [getattr(target, "id", "") for target in targets].index(name)
                    yield from self._column(node.iter, index, len(targets))
            elif isinstance(node, Function) and node.name == name and _is_helper(node):
                yield node

    def _column(self, table: ast.expr, index: int, width: int) -> Iterator[ast.expr]:
        """Yield a column of a table that is written down here, or once in the file for this use only."""
        if isinstance(table, ast.Call) and called(table) == "items" and isinstance(table.func, ast.Attribute):
            table = self._written_once(table.func.value)
            if isinstance(table, ast.Dict) and index == 1 and width == 2:
                yield from table.values
            return
        table = self._written_once(table)
        for row in table.elts if isinstance(table, (ast.List, ast.Tuple)) else ():
            if isinstance(row, ast.Call) and called(row) == "param":
                cells: Sequence[ast.expr] = row.args
            else:
                cells = [row] if width == 1 else getattr(row, "elts", ())
            if len(cells) == width:
                yield cells[index]

    def _written_once(self, node: ast.expr) -> ast.expr:
        if not isinstance(node, ast.Name):
            return node
        uses = [name for name in loaded_names(self._source.tree) if name.id == node.id]
        scope = self._own.binding_scope(node)
        values = [
            statement.value for statement in ast.walk(scope)
            if isinstance(statement, ast.Assign) and [getattr(to, "id", "") for to in statement.targets] == [node.id]
        ]  # fmt: skip
        return values[0] if len(uses) == len(values) == 1 else node


def _is_helper(function: Function) -> bool:
    return not function.decorator_list and not function.name.startswith(("test", "pytest_"))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _tolerance(call: ast.Call) -> str:
    """Return the kind of an approximate question: `~` and twice the relative and the absolute tolerance; else empty."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    try:
        if called(call) == "approx":
            given = dict(zip(("rel", "abs"), call.args[1:], strict=False)) | keywords
            relative, absolute = (_number(given.get(name)) for name in ("rel", "abs"))
            if relative is None and absolute is not None:
                relative = 0.0  # as pytest does: an absolute tolerance alone turns the other off
            rel, tolerance = 1e-6 if relative is None else relative, 1e-12 if absolute is None else absolute
        else:
            places = _number(call.args[2] if len(call.args) > 2 else keywords.get("places"))
            delta = _number(keywords.get("delta"))
            rel, tolerance = 0.0, delta if delta is not None else 10 ** -(7 if places is None else places)
    except (ValueError, OverflowError):
        return ""
    return f"~{2 * rel:g},{2 * tolerance:g}"


def _number(node: ast.expr | None) -> float | None:
    """Return a written number; None if there is none. Raises ValueError if it is computed."""
    if node is None or _is_none(node):
        return None
    return float(literal(node))
