"""Where a project could be broken: every change that an operator proposes on lines that tests reach."""

from __future__ import annotations

import functools
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import libcst as cst

from stackrank.env.mutation.source import NodeContext, ParsedFile
from stackrank.extensions.authoring.inject.functions import enclosing_function
from stackrank.extensions.authoring.inject.operators import OPERATORS, Operator, Replacement
from stackrank.extensions.authoring.inject.reach import Reach

_PAIRS = 5
"""One in this many candidates changes two places."""


@dataclass(frozen=True, eq=False)
class NodeChange:
    """One node and its replacement."""

    node: cst.CSTNode
    new: Replacement
    lines: tuple[int, int]
    """First and last line of the node's statement, in the unchanged file."""
    above: tuple[cst.CSTNode, ...] = field(repr=False)
    """The nodes that contain it: nothing outside them changes, so nothing else is visited."""


@dataclass(frozen=True, eq=False)
class Mutant:
    """A bug that could be planted."""

    key: str
    """Identifies it among all candidates of the same project."""
    file: str
    function: str
    """Qualified name of the function that contains it."""
    operator: str
    category: str
    changes: tuple[NodeChange, ...]
    tests: frozenset[int]
    """The tests that reach it, by their number in `Reach.tests`."""
    module: cst.Module = field(repr=False)

    @property
    def lines(self) -> set[int]:
        """The lines of its statements."""
        return {line for change in self.changes for line in range(change.lines[0], change.lines[1] + 1)}

    def source(self) -> bytes:
        """Return the file with the bug in it."""
        above = {id(node) for change in self.changes for node in change.above}
        changed = self.module.visit(_Replace({id(change.node): change.new for change in self.changes}, above))
        assert isinstance(changed, cst.Module)
        return changed.bytes


class _Replace(cst.CSTTransformer):
    def __init__(self, new: Mapping[int, Replacement], above: Set[int]) -> None:
        super().__init__()
        self._new, self._above = new, above

    def on_visit(self, node: cst.CSTNode) -> bool:
        return id(node) in self._above

    def on_leave(self, original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:  # type: ignore[override]
        return self._new.get(id(original), updated)


def find_candidates(
    files: Mapping[str, bytes], reach: Reach, seed: int, operators: Sequence[Operator] = OPERATORS
) -> list[Mutant]:
    """Return candidates in the order in which to try them; it is the same for the same files, reach and seed.

    Kinds of mistakes take turns, so that the first fifty are not all of one kind.
    """
    by_operator: dict[str, list[Mutant]] = defaultdict(list)
    for file in sorted(reach.lines):
        if not any(reach.of(file, [line]) for line in reach.lines[file]):
            continue  # it only runs at import: libcst need not read it
        for candidate in of_file(file, files[file], reach, operators):
            by_operator[candidate.operator].append(candidate)
    dice = random.Random(seed)
    kinds = sorted(by_operator)
    for kind in kinds:
        dice.shuffle(by_operator[kind])
    dice.shuffle(kinds)
    turns = max(map(len, by_operator.values()), default=0)
    order = [by_operator[kind][turn] for turn in range(turns) for kind in kinds if turn < len(by_operator[kind])]
    return list(_with_pairs(order)) if operators is OPERATORS else order


def _with_pairs(order: Sequence[Mutant]) -> Iterator[Mutant]:
    """Yield the candidates, now and then with two mistakes of one function combined."""
    # The first candidate of each statement is enough: a table may have thousands that are on the same lines.
    by_function: dict[tuple[str, str], dict[tuple[int, int], Mutant]] = defaultdict(dict)
    for candidate in order:
        by_function[candidate.file, candidate.function].setdefault(candidate.changes[0].lines, candidate)
    for number, candidate in enumerate(order, start=1):
        partner = None
        if not number % _PAIRS:
            others = by_function[candidate.file, candidate.function].values()
            partner = next((mutant for mutant in others if not mutant.lines & candidate.lines), None)
        if partner is None:
            yield candidate
            continue
        yield replace(
            candidate,
            key=f"{candidate.key} and {partner.key}",
            operator=f"{candidate.operator}+{partner.operator}",
            changes=(*candidate.changes, *partner.changes),
            tests=candidate.tests & partner.tests or candidate.tests,
        )


def of_file(file: str, content: bytes, reach: Reach, operators: Sequence[Operator]) -> Iterator[Mutant]:
    """Yield the candidates of one file, in the order of its text."""
    try:
        source = ParsedFile(file, content)
    except (cst.ParserSyntaxError, SyntaxError, UnicodeDecodeError, LookupError):
        return  # for another version of Python, or a template

    @functools.cache  # by type, because instances of libcst's abstract classes are slow to check
    def fitting_operators(kind: type[cst.CSTNode]) -> list[Operator]:
        return [operator for operator in operators if issubclass(kind, operator.kinds)]

    for context in source.contexts:
        fitting = fitting_operators(type(context.node))
        if fitting and enclosing_function(context) is not None and not _in_decorator(context):
            yield from _propose(context, fitting, reach)


def _propose(context: NodeContext, operators: Iterable[Operator], reach: Reach) -> Iterator[Mutant]:
    source, node = context.source, context.node
    position = source.position(node)
    start, end = position.start, position.end
    lines = (start.line, end.line) if _is_block(type(node)) else _statement_lines(context)
    first = lines[0] + isinstance(node, cst.FunctionDef)  # the header of a function runs at import
    tests = reach.of(source.path, range(first, lines[1] + 1))
    if not tests:
        return
    for operator in operators:
        for number, replacement in enumerate(operator.propose(node, context)):
            yield Mutant(
                key=f"{source.path}:{start.line}:{start.column}-{end.line}:{end.column} {operator.name} {number}",
                file=source.path,
                function=_qualified_name(context),
                operator=operator.name,
                category=operator.category,
                changes=(NodeChange(node, replacement, lines, context.ancestors),),
                tests=tests,
                module=source.module,
            )


@functools.cache
def _is_block(kind: type[cst.CSTNode]) -> bool:
    """Whether all lines of such a node count, and not only those of the statement that it is part of."""
    return issubclass(kind, cst.BaseStatement | cst.BaseSuite)


@functools.cache
def _is_statement(kind: type[cst.CSTNode]) -> bool:
    return issubclass(kind, cst.BaseStatement)


def _in_decorator(context: NodeContext) -> bool:
    return any(type(node) is cst.Decorator for node in context.ancestors)


def _qualified_name(context: NodeContext) -> str:
    path = (*context.ancestors, context.node)
    return ".".join(node.name.value for node in path if isinstance(node, cst.FunctionDef | cst.ClassDef))


def _statement_lines(context: NodeContext) -> tuple[int, int]:
    """Return first and last line of the statement around a node; of a compound statement, those of its head."""
    statement = next(node for node in reversed(context.ancestors) if _is_statement(type(node)))
    position = context.source.position(statement)
    last = position.end.line
    if isinstance(body := getattr(statement, "body", None), cst.BaseSuite):
        last = max(position.start.line, context.source.line(body) - 1)
    return position.start.line, last
