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
    for contradiction in contradictions:
        if contradiction.path in task.hidden_files and not contradiction.telling:
            by_file[contradiction.path].append(_Changed(contradiction.unit, contradiction.line, contradiction.edit))
    files, count = {}, 0
    for path in filter(is_test, task.hidden_files):
        try:
            files[path], number = _untold(task.hidden_files[path], tuple(by_file[path]))
        except (SyntaxError, ValueError):
            continue  # pytest could not run it either
        count += number
    return files if count else {}


@functools.lru_cache(maxsize=_KNOWN)
def _untold(content: bytes, contradictions: tuple[_Changed, ...]) -> tuple[bytes, int]:
    return _Reader(content).untold(contradictions)


def told(fix_answers: Answers, answers: Answers) -> list[str]:
    """Return the tests whose answers certainly differ from the wanted ones."""
    return [test for test, values in fix_answers.items() if _differ(values, answers.get(test, ()))]


class _Reader:
    """One test file."""

    def __init__(self, content: bytes) -> None:
        self._source = Source(content)
        self._parents = {
            child: node for node in ast.walk(self._source.tree) for child in ast.iter_child_nodes(node)
        }  # fmt: skip

    def untold(self, contradictions: Sequence[_Changed]) -> tuple[bytes, int]:
        """Remove the expectations that these change, and other hints. Returns the file and how many units lost one."""
        statements: dict[str, tuple[Edit, int]] = {}
        for contradiction in contradictions:
            if contradiction.unit not in statements and (edit := self._blank(contradiction)) is not None:
                statements[contradiction.unit] = edit, contradiction.line
        edits = {edit for edit, _ in statements.values()} | set(
            self._emptied({line for _, line in statements.values()})
        )
        content, end = self._source.content, len(self._source.content)
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
            if edit.end <= end:  # otherwise it contains another edit
                content, end = edit.apply(content), edit.start
        return content, len(statements)

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
        expressions: list[ast.expr] = []
        for node in around:
            call = called(node) if isinstance(node, ast.Call) else ""
            if isinstance(node, (ast.Compare, ast.stmt)) or call == "parametrize" or call.startswith("assert"):
                break
            if isinstance(node, ast.expr):
                expressions.append(node)
        is_local = isinstance(node, ast.Assign) and isinstance(self._parents[node], Def)
        if is_local or isinstance(node, ast.Compare) or call.startswith("assert"):
            return expressions[-1] if expressions else None
        # In a table this is one cell of a row, or the row if it has no cells.
        if len(expressions) > 2 and isinstance(expressions[-2], (ast.Tuple, ast.List, ast.Call)):
            return expressions[-3]
        return expressions[-2] if len(expressions) > 1 else None

    def _around(self, edit: Edit) -> list[ast.AST]:
        """Return the innermost expression around a change, and its ancestors."""
        nodes: list[ast.AST] = []
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.expr):
                start, end = self._source.span(node)
                if start <= edit.start and edit.end <= end:
                    nodes = [node]  # breadth first: later ones are inside of earlier ones
        while nodes and nodes[-1] in self._parents:
            nodes.append(self._parents[nodes[-1]])
        return nodes

    def _asserted(self, line: int) -> ast.stmt | None:
        """Return the assertion of equality in a line; None if there is none."""
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.Assert) and _has(node, {line}):
                compares = [compare for compare in ast.walk(node.test) if isinstance(compare, ast.Compare)]
                return node if any(isinstance(compare.ops[0], ast.Eq) for compare in compares) else None
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
            numbers = [number for number, statement in enumerate(node.body) if _has(statement, places)]
            following = node.body[numbers[0] + 1 :] if numbers else node.body
            for statement in node.body[: len(node.body) - len(following)]:
                for inner in ast.walk(statement):
                    if isinstance(inner, (ast.Assert, ast.Expr)) and not _has(inner, places):
                        edits += self._only_done(inner)
            if following:
                start, end = self._start(following[0]), self._source.span(following[-1])[1]
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
            left_side, second = node.test.left, node.test.comparators[0]
            first, last = self._source.span(left_side)[1], self._source.span(second)[0]
            between = self._source.content[first:last].decode()
            comma = re.sub(FLIPS[type(node.test.ops[0])][0], ",", between, count=1)
            edits += [Edit(first, last, comma), *self._written([left_side, second])]
        return edits

    def _written(self, nodes: Sequence[ast.expr]) -> list[Edit]:
        return [self._instead(node, _WORD) for node in nodes if parts(node)]

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


def _differ(fix_answer: tuple[str, ...], answer: tuple[str, ...]) -> bool:
    if len(fix_answer) != len(answer):
        return True
    if len(fix_answer) == 1:
        fix_part, part = (set(parts[0].split()) - _ANYTHING for parts in (fix_answer, answer))
        return bool(fix_part) and fix_part.isdisjoint(part)  # otherwise both have a class that may be the expected one
    return any(
        fix_part != part and _surely_differ(fix_part, part) for fix_part, part in zip(fix_answer, answer, strict=True)
    )


def _surely_differ(fix_answer: str, answer: str) -> bool:
    value = _plain(fix_answer)
    if value is _NO_VALUE:
        return False  # an object of the program's own, whose text may have more than one form
    return not _same(value, _plain(answer))


_NO_VALUE = object()


def _plain(text: str) -> Any:
    """Return the plain value that a text shows, alone or as an object's only argument, as in `Money(amount=7)`."""
    try:
        (statement,) = parse_python(text.strip()).body
        node = statement.value if isinstance(statement, ast.Expr) else statement
        if isinstance(node, ast.Call) and len(node.args) + len(node.keywords) == 1:
            node = [*node.args, *(keyword.value for keyword in node.keywords)][0]
        return literal(node)  # raises ValueError for what is no expression
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return _NO_VALUE


def _same(first: Any, second: Any) -> bool:
    """Whether two plain values are the same, except for the last digits of numbers."""
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        try:
            return first == second or math.isclose(first, second, rel_tol=1e-6, abs_tol=1e-9)
        except OverflowError:  # an integer that is too large for a float
            return False
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_same(value, second[key]) for key, value in first.items())
    return bool(first == second)


# ---- what the known fix answers, kept in stackrank's home as proofs are


def find_answers(task: Task, files: Mapping[str, bytes]) -> Answers | None:
    """Return what the known fix answered on this machine; None if it has not been asked."""
    stored = _file(task, files)
    if not stored.is_file():
        return None
    return {test: tuple(values) for test, values in json.loads(stored.read_text(encoding="utf-8")).items()}


def save_answers(task: Task, files: Mapping[str, bytes], answers: Answers) -> None:
    """Store what the known fix answered."""
    write_whole(_file(task, files), json.dumps(dict(answers), indent=1, sort_keys=True) + "\n")


def _file(task: Task, files: Mapping[str, bytes]) -> Path:
    return home() / "answers" / f"{task.digest}-{files_digest(files)[:16]}.json"
