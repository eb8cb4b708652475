"""Contradictions: tests with one changed expectation, so that no program passes both a contradiction and its original.

This module only looks at texts. Whether a contradiction fails where it should, and changes nothing else, is proved by
running it with the known fix (`env.scoring.proof`).
"""

from __future__ import annotations

import ast
import builtins
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from stackrank.env.sandbox.guest.testing.ids import function_of, parse_id
from stackrank.env.scoring.literals import EXCEPTIONS, Edit, Source, called, other_values, parts

MOST_PER_PLACE = 3
FLIPS = {
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Lt: ("<", ">="), ast.LtE: ("<=", ">"), ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"), ast.Is: ("is", "is not"), ast.IsNot: (r"is\s+not", "is"), ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
}  # fmt: skip
_PAIRS = (
    ("True", "False"), ("IsNone", "IsNotNone"), ("In", "NotIn"), ("Is", "IsNot"), ("IsInstance", "NotIsInstance"),
    ("Less", "GreaterEqual"), ("Greater", "LessEqual"), ("Regex", "NotRegex"), ("Equal", "NotEqual"),
)  # fmt: skip
_OPPOSITE = {f"assert{a}": f"assert{b}" for first, second in _PAIRS for a, b in ((first, second), (second, first))}
_COMPARES = re.compile(r"assert(Equals?|AlmostEqual|(List|Dict|Tuple|Set|Sequence|MultiLine|Count)Equal|Is)")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One changed expectation of one test."""

    unit: str
    """The test function or one case of it, which passes or fails as a whole."""
    tests: tuple[str, ...]
    """The tests that the change should make fail."""
    path: str
    edit: Edit
    old: str
    places: tuple[tuple[int, int], ...]
    """First and last line of each assertion at which the tests should fail."""
    raises: bool = False
    """Whether the tests may fail by an exception other than an AssertionError."""
    telling: bool = False
    """Whether the text alone gives away that this is no ordinary test, such as `!=` where tests say `==`."""
    certain: bool = False
    """Whether the assertion has run whenever the tests have passed: it stands outside of loops and conditions."""


def find_candidates(path: str, content: bytes, tests: Sequence[str]) -> list[Candidate]:
    """Return changed expectations for the tests of one file (ids, in the order of the file), the best of each first."""
    try:
        source = Source(content)
    except (SyntaxError, ValueError):
        return []
    groups: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        groups[function_of(test)].append(test)
    by_function: dict[int, tuple[_Function, list[str]]] = {}
    for name, ids in groups.items():
        node, owner = _find(source.tree.body, parse_id(name).names)
        if node is not None:
            function = _Function(source, path, name, node, owner)
            by_function.setdefault(id(node), (function, []))[1].extend(ids)
    return [candidate for function, ids in by_function.values() for candidate in function.candidates(ids)]


Def = ast.FunctionDef | ast.AsyncFunctionDef


def test_functions(path: str, content: bytes) -> dict[str, Def]:
    """Return the functions in a file that are named as tests, by their ids as pytest would write them."""
    try:
        body = Source(content).tree.body
    except (SyntaxError, ValueError):
        return {}
    classes = [node for node in body if isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or node.bases)]
    return {
        f"{path}::{owner}{node.name}": node
        for owner, statements in [("", body), *((f"{node.name}::", node.body) for node in classes)]
        for node in statements
        if isinstance(node, Def) and node.name.startswith("test")
    }


def _find(body: Sequence[ast.stmt], names: Sequence[str]) -> tuple[Def | None, ast.ClassDef | None]:
    """Return the function of that qualified name, which a class of the file may inherit, and its class."""
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    if len(names) == 1:
        functions = [node for node in body if isinstance(node, Def) and node.name == names[0]]
        return (functions[-1] if functions else None), None
    owner = classes.get(names[0]) if names else None
    owners: list[ast.ClassDef] = [owner] if owner else []
    for candidate in owners:
        node, inner = _find(candidate.body, names[1:])
        if node is not None:
            return node, inner or owner
        bases = [classes[base.id] for base in candidate.bases if isinstance(base, ast.Name) and base.id in classes]
        owners += [base for base in bases if base not in owners]
    return None, None


class _Function:
    """The expectations of one test function."""

    def __init__(self, source: Source, path: str, name: str, node: Def, owner: ast.ClassDef | None) -> None:
        self._source, self._path, self._name, self._node, self._owner = source, path, name, node, owner
        self._chance = random.Random(name)
        self._found: list[Candidate] = []
        self._ids: list[str] = []
        returns = any(isinstance(inner, ast.Return) for inner in ast.walk(node))
        self._certain = set() if returns else {
            _lines(statement) for statement in node.body if isinstance(statement, (ast.Assert, ast.Expr, ast.With))
        }  # fmt: skip
        # Name that something is compared with -> the lines of those assertions.
        self._named: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def candidates(self, ids: list[str]) -> list[Candidate]:
        """Return all candidates. `ids`: the function's tests."""
        self._ids = ids
        for node in ast.walk(self._node):
            if isinstance(node, ast.Assert):
                self._asserted(node.test, _lines(node))
            elif isinstance(node, ast.With):
                for item in node.items:
                    if isinstance(item.context_expr, ast.Call):
                        self._raising(item.context_expr, _lines(node))
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                self._raising(node.value, _lines(node))
                self._unittest(node.value, _lines(node))
        self._bound()
        return self._found

    def _add(self, edit: Edit, places: tuple[tuple[int, int], ...], unit: int | None = None, **flags: bool) -> None:
        old = self._source.content[edit.start : edit.end].decode()
        name, tests = (self._name, tuple(self._ids)) if unit is None else (self._ids[unit], (self._ids[unit],))
        certain = self._certain.issuperset(places)
        self._found.append(Candidate(name, tests, self._path, edit, old, places, certain=certain, **flags))

    def _values(
        self, node: ast.expr, places: tuple[tuple[int, int], ...], unit: int | None = None, **flags: bool
    ) -> bool:
        edits = list(islice(other_values(self._source, node, self._chance), MOST_PER_PLACE))
        for edit in edits:
            self._add(edit, places, unit, **flags)
        return bool(edits)

    # ---- assert

    def _asserted(self, test: ast.expr, lines: tuple[int, int]) -> None:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for condition in test.values:
                self._asserted(condition, lines)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            self._compared(test, lines)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._source.text(test.operand)
            simple = isinstance(test.operand, (ast.Call, ast.Name, ast.Attribute, ast.Subscript))
            self._add(self._source.replace(test, inner if simple else b"(%s)" % inner), (lines,))
        elif isinstance(test, (ast.Call, ast.Name, ast.Attribute, ast.Subscript)):
            self._add(self._source.replace(test, b"not " + self._source.text(test)), (lines,))
        else:
            self._add(self._source.replace(test, b"not (%s)" % self._source.text(test)), (lines,), telling=True)

    def _compared(self, test: ast.Compare, lines: tuple[int, int]) -> None:
        first, second, kind = test.left, test.comparators[0], type(test.ops[0])
        changed = False
        truth = isinstance(second, ast.Constant) and isinstance(second.value, bool)
        if kind is ast.Eq or (kind is ast.Is and truth):
            changed = self._expected([second, first], lines)
        # For `in`, no value is changed: an answer may hold both, so a right program meets `"a" in x` and `"b" in x`.
        if not changed or kind is ast.Is:
            old, new = FLIPS[kind]
            (_, start), (end, _) = self._source.span(first), self._source.span(second)
            between = self._source.content[start:end].decode()
            text = re.sub(old, new, between, count=1)
            self._add(Edit(start, end, text), (lines,), telling=kind is ast.Eq)

    def _expected(self, sides: list[ast.expr], lines: tuple[int, int]) -> bool:
        """Change the value on one of the sides; return False if no value is written down there."""
        for side in sides:
            if isinstance(side, ast.Name):
                self._named[side.id].append(lines)
        return any(bool(parts(side)) and self._values(side, (lines,)) for side in sides)

    # ---- exceptions

    def _raising(self, call: ast.Call, lines: tuple[int, int]) -> None:
        if called(call) not in ("raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp") or not call.args:
            return
        # Only built-in classes: another right fix may derive any other class from the expected one.
        standard = [name for name in EXCEPTIONS if not _related(call.args[0], name)]
        self._chance.shuffle(standard)
        for name in standard[:2]:
            self._add(self._source.replace(call.args[0], name.encode()), (lines,), raises=True)
        patterns = [keyword.value for keyword in call.keywords if keyword.arg == "match"]
        patterns += call.args[1:2] if "Regex" in called(call) else []
        for pattern in patterns:
            self._values(pattern, (lines,), raises=True)

    # ---- unittest

    def _unittest(self, call: ast.Call, lines: tuple[int, int]) -> None:
        name = called(call)
        changed = False
        if _COMPARES.fullmatch(name) and len(call.args) > 1:
            changed = self._expected([call.args[1], call.args[0]], lines)
        if name in _OPPOSITE and not changed:
            _, end = self._source.span(call.func)
            edit = Edit(end - len(name), end, _OPPOSITE[name])
            self._add(edit, (lines,), telling=name == "assertEqual")

    # ---- values with a name

    def _bound(self) -> None:
        """Change expectations that are written down elsewhere: as parameters, in loops, in assignments."""
        loads = [
            node.id for node in ast.walk(self._node) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        ]
        for name, places in self._named.items():
            if loads.count(name) != len(places):
                continue
            for unit, value in self._bindings(name):
                self._values(value, tuple(places), unit)

    def _bindings(self, name: str) -> Iterator[tuple[int | None, ast.expr]]:
        cases = self._cases(name)
        if len(cases) == len(self._ids):
            yield from enumerate(cases)
            return
        stores = [
            node for node in ast.walk(self._node) if isinstance(node, ast.Name) and node.id == name
            and isinstance(node.ctx, ast.Store)
        ]  # fmt: skip
        if len(stores) != 1:
            return
        for node in ast.walk(self._node):
            if isinstance(node, ast.Assign) and node.targets == stores:
                yield None, node.value
            elif isinstance(node, ast.For):
                targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
                if stores[0] in targets:
                    rows = self._rows(node.iter)
                    yield from ((None, node) for node in _column(rows, targets.index(stores[0]), len(targets)))

    def _cases(self, name: str) -> list[ast.expr]:
        """Return a parameter's value in each case; empty unless a single `parametrize` decorates the function."""
        decorators = [*self._node.decorator_list, *(self._owner.decorator_list if self._owner else ())]
        parametrizations = [node for node in decorators if isinstance(node, ast.Call) and called(node) == "parametrize"]
        if len(parametrizations) != 1 or len(parametrizations[0].args) < 2:
            return []
        first, values = parametrizations[0].args[:2]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            names = [node.strip() for node in first.value.split(",") if node.strip()]
        else:
            names = [str(node.value) for node in getattr(first, "elts", ()) if isinstance(node, ast.Constant)]
        rows = [
            node.args if isinstance(node, ast.Call) and called(node) == "param" else node for node in self._rows(values)
        ]
        return _column(rows, names.index(name), len(names)) if name in names else []

    def _rows(self, node: ast.expr) -> list[ast.expr]:
        """Return the elements of a list that is written down here, or once in the file for this use only."""
        if isinstance(node, ast.Name):
            uses = [name for name in ast.walk(self._source.tree) if isinstance(name, ast.Name) and name.id == node.id]
            assigned = [node for node in self._source.tree.body if isinstance(node, ast.Assign)]
            values = [
                statement.value
                for statement in assigned
                if [getattr(to, "id", "") for to in statement.targets] == [node.id]
            ]
            if len(uses) != 2 or len(values) != 1:
                return []
            node = values[0]
        return list(node.elts) if isinstance(node, (ast.List, ast.Tuple)) else []


def _column(rows: Sequence[ast.expr | list[ast.expr]], index: int, width: int) -> list[ast.expr]:
    """Return one cell of each row; empty if a row has another number of cells."""
    column: list[ast.expr] = []
    for row in rows:
        cells = row if isinstance(row, list) else [row] if width == 1 else list(getattr(row, "elts", ()))
        if len(cells) != width:
            return []
        column.append(cells[index])
    return column


def _lines(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.end_lineno or node.lineno


def _related(expected: ast.expr, name: str) -> bool:
    """Whether catching the expected exception may catch the built-in one too, or the other way round."""
    if isinstance(expected, ast.Tuple):
        return any(_related(element, name) for element in expected.elts)
    caught, standard = getattr(builtins, getattr(expected, "id", ""), None), getattr(builtins, name)
    return isinstance(caught, type) and (issubclass(caught, standard) or issubclass(standard, caught))
