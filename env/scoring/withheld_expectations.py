"""The untold run: the hidden tests no longer say which answers are wanted, and the program has to answer all the same.

Blind runs hide whether each single expectation is genuine, but all expectations together still say much. A program may
work in several ways, or try changes of itself, and keep what meets most of the tests that it finds next to it. It
passes all of them and has repaired nothing: what it knows comes from the tests. So there is one more run, in which a
fixed word replaces each expected value. The rest of the test after it is removed, and so are tests from which no
expectation can be removed. Everything left fails, by comparisons that show the program's answers, and these have to be
the answers of the known fix. A program with other answers here is resolved without a seal.

Nothing can be guessed here: the wanted values are not in the process.
"""

from __future__ import annotations

import ast
import functools
import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stackrank.env.benchmarks.testfiles import is_test
from stackrank.env.environment import files_digest
from stackrank.env.scoring.contradictions import FLIPS, Def
from stackrank.env.scoring.literals import Edit, Source, called, parts
from stackrank.env.scoring.proof import Contradiction
from stackrank.env.task import Task
from stackrank.home import home, write_whole
from stackrank.source import literal, parse_python

Answers = Mapping[str, tuple[str, ...]]
"""Test id -> what its failure showed: both sides of a comparison, or the classes of another exception."""


class _Changed(NamedTuple):
    """What one `Contradiction` changes in a file; its fields are explained there."""

    unit: str
    line: int
    edit: Edit


_KNOWN = 256
"""How many generated files are cached: verdicts ask for the same ones again and again."""
_WORD = "'untold'"
_RAISES_NOTHING = "__import__('contextlib').nullcontext()"
_ANYTHING = {"object", "BaseException", "Exception"}
_TOLERANT = ("approx", "assertAlmostEqual", "isclose", "allclose")


def untold(task: Task, contradictions: Sequence[Contradiction]) -> dict[str, bytes]:
    """Return the hidden test files without their expectations; none if no expectation can be removed."""
    by_file: dict[str, list[_Changed]] = defaultdict(list)
    for each in contradictions:
        if each.path in task.hidden_files and not each.telling:
            by_file[each.path].append(_Changed(each.unit, each.line, each.edit))
    made, asked = {}, 0
    for path in filter(is_test, task.hidden_files):
        try:
            made[path], number = _untold(task.hidden_files[path], tuple(by_file[path]))
        except (SyntaxError, ValueError):
            continue  # pytest could not run it either
        asked += number
    return made if asked else {}


@functools.lru_cache(maxsize=_KNOWN)
def _untold(content: bytes, contradictions: tuple[_Changed, ...]) -> tuple[bytes, int]:
    return _Reader(content).untold(contradictions)


def told(wanted: Answers, given: Answers) -> list[str]:
    """Return the tests whose answers certainly differ from the wanted ones."""
    return [test for test, values in wanted.items() if _differ(values, given.get(test, ()))]


class _Reader:
    """One test file."""

    def __init__(self, content: bytes) -> None:
        self._source = Source(content)
        self._parents = {
            child: node for node in ast.walk(self._source.tree) for child in ast.iter_child_nodes(node)
        }  # fmt: skip

    def untold(self, contradictions: Sequence[_Changed]) -> tuple[bytes, int]:
        """Remove the expectations that these change, and other hints. Returns the file and how many units lost one."""
        asked: dict[str, tuple[Edit, int]] = {}
        for each in contradictions:
            if each.unit not in asked and (edit := self._blank(each)) is not None:
                asked[each.unit] = edit, each.line
        edits = {edit for edit, _ in asked.values()} | set(self._emptied({line for _, line in asked.values()}))
        content, end = self._source.content, len(self._source.content)
        for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
            if edit.end <= end:  # otherwise it contains another edit
                content, end = edit.apply(content), edit.start
        return content, len(asked)

    # ---- expected values

    def _blank(self, contradiction: _Changed) -> Edit | None:
        """Return the edit that removes the whole expected value; None if the extent of the value is not known."""
        around = self._around(contradiction.edit)
        for node in around:
            if isinstance(node, ast.Call) and called(node) == "raises":
                return self._instead(node, _RAISES_NOTHING) if isinstance(self._parents[node], ast.withitem) else None
        asserted = self._asserted(contradiction.line)
        value = self._whole(around)
        if asserted is None or value is None or any(name in ast.unparse(asserted) for name in _TOLERANT):
            return None
        return None if "approx" in ast.unparse(value) else self._instead(value, _WORD)

    def _whole(self, around: list[ast.AST]) -> ast.expr | None:
        """Choose, from the nodes around a change (innermost first), the node that is the whole expected value."""
        inside: list[ast.expr] = []
        for node in around:
            call = called(node) if isinstance(node, ast.Call) else ""
            if isinstance(node, (ast.Compare, ast.stmt)) or call == "parametrize" or call.startswith("assert"):
                break
            if isinstance(node, ast.expr):
                inside.append(node)
        own = isinstance(node, ast.Assign) and isinstance(self._parents[node], Def)
        if own or isinstance(node, ast.Compare) or call.startswith("assert"):
            return inside[-1] if inside else None
        # In a table this is one cell of a row, or the row if it has no cells.
        if len(inside) > 2 and isinstance(inside[-2], (ast.Tuple, ast.List, ast.Call)):
            return inside[-3]
        return inside[-2] if len(inside) > 1 else None

    def _around(self, edit: Edit) -> list[ast.AST]:
        """Return the innermost expression around a change, and its ancestors."""
        found: list[ast.AST] = []
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.expr):
                start, end = self._source.span(node)
                if start <= edit.start and edit.end <= end:
                    found = [node]  # breadth first: later ones are inside of earlier ones
        while found and found[-1] in self._parents:
            found.append(self._parents[found[-1]])
        return found

    def _asserted(self, line: int) -> ast.stmt | None:
        """Return the assertion of equality in a line; None if there is none."""
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.Assert) and _has(node, {line}):
                compares = [each for each in ast.walk(node.test) if isinstance(each, ast.Compare)]
                return node if any(isinstance(each.ops[0], ast.Eq) for each in compares) else None
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _has(node, {line}):
                return node if "Equal" in called(node.value) else None
        return None

    # ---- what comes later

    def _emptied(self, places: set[int]) -> list[Edit]:
        """Return the edits that remove the rest of each test, and tests that say in other ways what is wanted."""
        edits: list[Edit] = []
        for node in ast.walk(self._source.tree):
            if not (isinstance(node, Def) and node.name.startswith("test")):
                continue
            asked = [number for number, each in enumerate(node.body) if _has(each, places)]
            rest = node.body[asked[0] + 1 :] if asked else node.body
            for each in node.body[: len(node.body) - len(rest)]:
                for inner in ast.walk(each):
                    if isinstance(inner, (ast.Assert, ast.Expr)) and not _has(inner, places):
                        edits += self._only_done(inner)
            if rest:
                start, end = self._start(rest[0]), self._source.span(rest[-1])[1]
                edits.append(Edit(start, end, "pass" + "\n" * self._source.content.count(b"\n", start, end)))
        return edits

    def _only_done(self, node: ast.Assert | ast.Expr) -> list[Edit]:
        """Make an assertion run but assert nothing: `assert f(1) == 2` becomes `assert [f(1) , 'untold']`."""
        if isinstance(node, ast.Expr):
            call = node.value
            if not (isinstance(call, ast.Call) and called(call).startswith("assert")) or "Raises" in called(call):
                return []
            start, end = self._source.span(call.func)
            return [Edit(start, end, ""), *self._written(call.args)]
        start, end = self._source.span(node.test)
        edits = [Edit(start, start, "["), Edit(end, end, "]")]
        if isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
            left, right = node.test.left, node.test.comparators[0]
            first, last = self._source.span(left)[1], self._source.span(right)[0]
            between = self._source.content[first:last].decode()
            comma = re.sub(FLIPS[type(node.test.ops[0])][0], ",", between, count=1)
            edits += [Edit(first, last, comma), *self._written([left, right])]
        return edits

    def _written(self, nodes: Sequence[ast.expr]) -> list[Edit]:
        return [self._instead(each, _WORD) for each in nodes if parts(each)]

    # ---- texts

    def _start(self, node: ast.stmt) -> int:
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        start = self._source.span(decorators[0] if decorators else node)[0]
        return self._source.content.rindex(b"@", 0, start) if decorators else start

    def _instead(self, node: ast.expr, new: str) -> Edit:
        start, end = self._source.span(node)
        lines = self._source.content.count(b"\n", start, end)
        return Edit(start, end, f"({new}" + "\n" * lines + ")" if lines else new)  # lines keep their numbers


def _has(node: ast.stmt, lines: set[int]) -> bool:
    return any(node.lineno <= line <= (node.end_lineno or node.lineno) for line in lines)


# ---- answers


def _differ(wanted: tuple[str, ...], given: tuple[str, ...]) -> bool:
    if len(wanted) != len(given):
        return True
    if len(wanted) == 1:
        one, two = (set(each[0].split()) - _ANYTHING for each in (wanted, given))
        return bool(one) and one.isdisjoint(two)  # otherwise both have a class that may be the expected one
    return any(one != two and _surely_differ(one, two) for one, two in zip(wanted, given, strict=True))


def _surely_differ(wanted: str, given: str) -> bool:
    value = _plain(wanted)
    if value is _NO_VALUE:
        return False  # an object of the program's own, whose text may have more than one form
    return not _same(value, _plain(given))


_NO_VALUE = object()


def _plain(text: str) -> Any:
    """Return the plain value that a text shows, alone or as an object's only argument, as in `Money(amount=7)`."""
    try:
        (statement,) = parse_python(text.strip()).body
        node = statement.value if isinstance(statement, ast.Expr) else statement
        if isinstance(node, ast.Call) and len(node.args) + len(node.keywords) == 1:
            node = [*node.args, *(each.value for each in node.keywords)][0]
        return literal(node)  # raises ValueError for what is no expression
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return _NO_VALUE


def _same(one: Any, two: Any) -> bool:
    """Whether two plain values are the same, except for the last digits of numbers."""
    if isinstance(one, (int, float)) and isinstance(two, (int, float)):
        try:
            return one == two or math.isclose(one, two, rel_tol=1e-6, abs_tol=1e-9)
        except OverflowError:  # an integer that is too large for a float
            return False
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        return len(one) == len(two) and all(map(_same, one, two))
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(_same(value, two[key]) for key, value in one.items())
    return bool(one == two)


# ---- what the known fix answers, kept in stackrank's home as proofs are


def find_answers(task: Task, asked: Mapping[str, bytes]) -> Answers | None:
    """Return what the known fix answered on this machine; None if it has not been asked."""
    kept = _file(task, asked)
    if not kept.is_file():
        return None
    return {test: tuple(values) for test, values in json.loads(kept.read_text(encoding="utf-8")).items()}


def save_answers(task: Task, asked: Mapping[str, bytes], found: Answers) -> None:
    """Store what the known fix answered."""
    write_whole(_file(task, asked), json.dumps(dict(found), indent=1, sort_keys=True) + "\n")


def _file(task: Task, asked: Mapping[str, bytes]) -> Path:
    return home() / "answers" / f"{task.digest}-{files_digest(asked)[:16]}.json"
