"""Where a project could be broken: every change that an operator proposes on lines that tests reach."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from stackrank.extensions.authoring.inject.operators import OPERATORS, New, Operator
from stackrank.extensions.authoring.inject.place import Place
from stackrank.extensions.authoring.inject.reach import Reach

_PAIRS = 5
"""One in this many candidates changes two places."""


@dataclass(frozen=True, eq=False)
class Change:
    """One node and its replacement."""

    node: cst.CSTNode
    new: New
    lines: tuple[int, int]
    """First and last line of the node's statement, in the unchanged file."""
    above: tuple[cst.CSTNode, ...] = field(repr=False)
    """The nodes that contain it: nothing outside them changes, so nothing else is visited."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A bug that could be planted."""

    key: str
    """Identifies it among all candidates of the same project."""
    file: str
    function: str
    """Qualified name of the function that contains it."""
    operator: str
    category: str
    changes: tuple[Change, ...]
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
    def __init__(self, new: Mapping[int, New], above: Set[int]) -> None:
        super().__init__()
        self._new, self._above = new, above

    def on_visit(self, node: cst.CSTNode) -> bool:
        return id(node) in self._above

    def on_leave(self, original: cst.CSTNode, updated: cst.CSTNode) -> New:  # type: ignore[override]
        return self._new.get(id(original), updated)


def find_candidates(
    files: Mapping[str, bytes], reach: Reach, seed: int, operators: Sequence[Operator] = OPERATORS
) -> list[Candidate]:
    """Return candidates in the order in which to try them; it is the same for the same files, reach and seed.

    Kinds of mistakes take turns, so that the first fifty are not all of one kind.
    """
    found: dict[str, list[Candidate]] = defaultdict(list)
    for file in sorted(reach.lines):
        if not any(reach.of(file, [line]) for line in reach.lines[file]):
            continue  # it only runs at import: libcst need not read it
        for candidate in of_file(file, files[file], reach, operators):
            found[candidate.operator].append(candidate)
    dice = random.Random(seed)
    kinds = sorted(found)
    for kind in kinds:
        dice.shuffle(found[kind])
    dice.shuffle(kinds)
    turns = max(map(len, found.values()), default=0)
    order = [found[kind][turn] for turn in range(turns) for kind in kinds if turn < len(found[kind])]
    return list(_with_pairs(order)) if operators is OPERATORS else order


def _with_pairs(order: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates, now and then with two mistakes of one function combined."""
    by_function: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in order:
        by_function[candidate.file, candidate.function].append(candidate)
    for number, candidate in enumerate(order, start=1):
        here = by_function[candidate.file, candidate.function]
        partner = next((each for each in here if not each.lines & candidate.lines), None)
        if number % _PAIRS or partner is None:
            yield candidate
            continue
        yield replace(
            candidate,
            key=f"{candidate.key} and {partner.key}",
            operator=f"{candidate.operator}+{partner.operator}",
            changes=(*candidate.changes, *partner.changes),
            tests=candidate.tests & partner.tests or candidate.tests,
        )


def of_file(file: str, content: bytes, reach: Reach, operators: Sequence[Operator]) -> Iterator[Candidate]:
    """Yield the candidates of one file, in the order of its text."""
    try:
        content.decode()  # a diff has to be UTF-8
        module = cst.parse_module(content)
    except (cst.ParserSyntaxError, UnicodeDecodeError):
        return  # for another version of Python, or a template
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    collector = _Collector(file, wrapper, reach, operators)
    wrapper.visit(collector)
    yield from collector.found


@dataclass(frozen=True, slots=True)
class _Kind:
    """What matters about a type of nodes. It is worked out once a type, since libcst's nodes are slow to check."""

    skipped: bool
    named: bool
    statement: bool
    function: bool
    whole: bool
    """Whether all of the node's lines count, and not only those of the statement that it is part of."""
    operators: tuple[Operator, ...]


class _Collector(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, file: str, wrapper: MetadataWrapper, reach: Reach, operators: Sequence[Operator]) -> None:
        super().__init__()
        self.found: list[Candidate] = []
        self._file = file
        self._wrapper = wrapper
        self._reach = reach
        self._operators = operators
        self._kinds: dict[type, _Kind] = {}
        self._names: list[str] = []
        self._places: list[Place] = []
        self._statements: list[tuple[int, int]] = []
        self._above: list[cst.CSTNode] = []
        self._parents: dict[cst.CSTNode, cst.CSTNode] = {}

    def on_visit(self, node: cst.CSTNode) -> bool:
        kind = self._kind(type(node))
        if self._above:
            self._parents[node] = self._above[-1]
        self._above.append(node)
        if kind.skipped:
            return False
        if kind.named:
            self._names.append(node.name.value)  # type: ignore[attr-defined]
        if kind.statement:
            self._statements.append(self._lines(node))
        if isinstance(node, cst.FunctionDef):
            self._places.append(Place(node, self._parents, self._wrapper))
        if self._places:
            for each in kind.operators:
                self._propose(each, node, kind.whole)
        return True

    def on_leave(self, node: cst.CSTNode) -> None:
        kind = self._kind(type(node))
        self._above.pop()
        if kind.named:
            self._names.pop()
        if kind.statement:
            self._statements.pop()
        if kind.function:
            self._places.pop()

    def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None:
        """Do nothing, where libcst would look for a method of the attribute's name."""

    def on_leave_attribute(self, original_node: cst.CSTNode, attribute: str) -> None:
        """Do nothing, for the same reason."""

    def _kind(self, kind: type) -> _Kind:
        if (known := self._kinds.get(kind)) is None:
            is_class = issubclass(kind, cst.ClassDef)
            operators = () if is_class else tuple(each for each in self._operators if issubclass(kind, each.kinds))
            known = self._kinds[kind] = _Kind(
                skipped=issubclass(kind, cst.Decorator | cst.Annotation),
                named=is_class or issubclass(kind, cst.FunctionDef),
                statement=issubclass(kind, cst.BaseStatement),
                function=issubclass(kind, cst.FunctionDef),
                whole=issubclass(kind, cst.BaseStatement | cst.BaseSuite),
                operators=operators,
            )
        return known

    def _lines(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return first and last line of a statement; of a compound statement, those of its head."""
        span = self.get_metadata(PositionProvider, node)
        last = span.end.line
        if isinstance(body := getattr(node, "body", None), cst.BaseSuite):
            last = max(span.start.line, self.get_metadata(PositionProvider, body).start.line - 1)
        return span.start.line, last

    def _propose(self, kind: Operator, node: cst.CSTNode, whole: bool) -> None:
        span = self.get_metadata(PositionProvider, node)
        lines = (span.start.line, span.end.line) if whole else self._statements[-1]
        inner = range(lines[0] + (1 if isinstance(node, cst.FunctionDef) else 0), lines[1] + 1)
        tests = self._reach.of(self._file, inner)
        if not tests:
            return
        proposed = list(kind.propose(node, self._places[-1]))
        above = tuple(self._above[:-1]) if proposed else ()
        for number, new in enumerate(proposed):
            key = f"{self._file}:{span.start.line}:{span.start.column}-{span.end.line}:{span.end.column}"
            self.found.append(
                Candidate(
                    key=f"{key} {kind.name} {number}",
                    file=self._file,
                    function=".".join(self._names),
                    operator=kind.name,
                    category=kind.category,
                    changes=(Change(node, new, lines, above),),
                    tests=tests,
                    module=self._wrapper.module,
                )
            )
