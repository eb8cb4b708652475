"""A file of the program, places in it, and changes to it."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """Characters `start` to `end` (exclusive) of a file replaced by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A small change that may be the fix."""

    path: str
    changes: tuple[Change, ...]
    kind: str
    prior: float
    """How likely changes of this kind are fixes, 1.0 for the most usual kinds."""
    line: int
    """1-based line of the first change."""
    imports: tuple[str, ...] = ()
    """Statements that the file needs besides, at its top."""
    warm: bool = True
    """Whether only function bodies change, so that a running program can be changed likewise."""

    def apply(self, text: str) -> str:
        """The changed file."""
        for change in sorted(self.changes, reverse=True):
            text = text[: change.start] + change.text + text[change.end :]
        for statement in self.imports:
            if f"\n{statement}\n" not in f"\n{text}":
                text = _with_import(text, statement)
        return text


def _with_import(text: str, statement: str) -> str:
    try:
        tree = cst.parse_module(text)
    except cst.ParserSyntaxError:
        return text  # whoever compiles it will notice
    line = 0
    lines = text.splitlines(keepends=True)
    positions = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(PositionProvider)
    for position, each in enumerate(tree.body):
        if not isinstance(each, cst.SimpleStatementLine):
            break
        first = each.body[0]
        docstring = position == 0 and isinstance(first, cst.Expr)
        future = isinstance(first, cst.ImportFrom) and getattr(first.module, "value", "") == "__future__"
        if not (docstring or future):
            break
        line = positions[each].end.line
    return "".join([*lines[:line], statement + "\n", *lines[line:]])


# White space and punctuation, which are most of a concrete syntax tree; annotations, which do nothing at run time.
_SKIPPED = {
    *(cst.Annotation, cst.AssignEqual, cst.Asynchronous, cst.Colon, cst.Comma, cst.Comment, cst.Dot, cst.EmptyLine),
    *(cst.LeftCurlyBrace, cst.LeftParen, cst.LeftSquareBracket, cst.Newline, cst.ParenthesizedWhitespace),
    *(cst.RightCurlyBrace, cst.RightParen, cst.RightSquareBracket, cst.Semicolon, cst.SimpleWhitespace),
    *(cst.TrailingWhitespace, cst.FormattedStringText),
}


class Source:
    """One file that parses."""

    def __init__(
        self,
        path: str,
        text: str,
        coroutines: frozenset[str] = frozenset(),
        methods: frozenset[str] = frozenset(),
    ) -> None:
        """Read the file. Raises libcst.ParserSyntaxError.

        Of the whole program: `coroutines`, the names of its coroutine functions; `methods`, those of methods that
        can be called without an argument.
        """
        self.path = path
        self.text = text
        self.coroutines = coroutines
        self.methods = methods
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self._positions = wrapper.resolve(PositionProvider)
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Character offsets of a node, its own brackets excluded."""
        where = self._positions[node]
        return self._offset(where.start.line, where.start.column), self._offset(where.end.line, where.end.column)

    def line(self, node: cst.CSTNode) -> int:
        """The line a node begins on."""
        return int(self._positions[node].start.line)

    def lines(self, node: cst.CSTNode) -> tuple[int, int]:
        """First and last line of a node."""
        where = self._positions[node]
        return where.start.line, where.end.line

    def whole_lines(self, node: cst.CSTNode) -> tuple[int, int]:
        """Character offsets of the lines of a statement, the last one's end included."""
        first, last = self.lines(node)
        if last > first and self._positions[node].end.column == 0:
            last -= 1
        return self._starts[first - 1], self._starts[min(last, len(self._starts) - 1)]

    def line_at(self, offset: int) -> int:
        """The line of a character offset."""
        return min(bisect.bisect_right(self._starts, offset), max(len(self._starts) - 1, 1))

    def code(self, node: cst.CSTNode) -> str:
        """A node as text, with its brackets."""
        return self.module.code_for_node(node)

    def _offset(self, line: int, column: int) -> int:
        if line > len(self._starts):
            return len(self.text)
        return self._starts[line - 1] + column

    @functools.cached_property
    def places(self) -> list[Place]:
        """Every node that can be changed, with what it stands in, in the order of the text."""
        found: list[Place] = []

        def walk(node: cst.CSTNode, above: tuple[cst.CSTNode, ...]) -> None:
            found.append(Place(self, node, above))
            inside = (*above, node)
            for child in node.children:
                if type(child) not in _SKIPPED:
                    walk(child, inside)

        walk(self.module, ())
        return found


@dataclass(frozen=True, slots=True)
class Place:
    """A node and what it stands in."""

    source: Source
    node: cst.CSTNode
    above: tuple[cst.CSTNode, ...] = field(repr=False)

    @property
    def parent(self) -> cst.CSTNode | None:
        """The node right above."""
        return self.above[-1] if self.above else None

    @property
    def function(self) -> cst.FunctionDef | None:
        """The innermost function whose body this is part of; None in headers (decorators, defaults) and outside."""
        for position in range(len(self.above) - 1, -1, -1):
            each = self.above[position]
            if isinstance(each, cst.FunctionDef):
                below = self.above[position + 1] if position + 1 < len(self.above) else self.node
                return each if below is each.body else None
        return None

    @property
    def outermost(self) -> cst.FunctionDef | None:
        """The outermost function whose body this is part of."""
        for position, each in enumerate(self.above):
            if isinstance(each, cst.FunctionDef):
                below = self.above[position + 1] if position + 1 < len(self.above) else self.node
                return each if below is each.body else None
        return None

    @property
    def class_(self) -> cst.ClassDef | None:
        """The innermost class around."""
        return next((each for each in reversed(self.above) if isinstance(each, cst.ClassDef)), None)

    @property
    def loop(self) -> cst.For | cst.While | None:
        """The innermost loop of the same function."""
        for each in reversed(self.above):
            if isinstance(each, (cst.For, cst.While)):
                return each
            if isinstance(each, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
                return None
        return None

    def code(self, node: cst.CSTNode | None = None) -> str:
        """A node as text, with its brackets."""
        return self.source.code(node or self.node)

    def swap(self, new: cst.CSTNode | str, node: cst.CSTNode | None = None) -> Change:
        """The change that puts `new` in the place of a node (this one by default), inside its brackets."""
        node = node or self.node
        if isinstance(new, cst.CSTNode):
            if isinstance(new, cst.BaseExpression):
                new = new.with_changes(lpar=(), rpar=())
            new = self.source.code(new)
        return Change(*self.source.span(node), new)

    def lines(self, new: str, node: cst.CSTNode | None = None) -> Change:
        """The change that puts `new` in the place of all lines of a statement."""
        return Change(*self.source.whole_lines(node or self.node), new)

    def text_of_lines(self, node: cst.CSTNode | None = None) -> str:
        """All lines of a statement, without the blank lines and comments before it."""
        start, end = self.source.whole_lines(node or self.node)
        return self.source.text[start:end]

    def candidate(
        self, kind: str, prior: float, *changes: Change, imports: tuple[str, ...] = (), warm: bool | None = None
    ) -> Candidate:
        """A candidate of these changes."""
        line = self.source.line_at(changes[0].start)
        if warm is None:
            warm = self.outermost is not None
        return Candidate(self.source.path, changes, kind, prior, line, imports, warm)


Operator = Callable[[Place], Iterator[Candidate]]


def indentation(text: str) -> str:
    """The white space a line begins with."""
    return text[: len(text) - len(text.lstrip(" \t"))]


def reindent(text: str, old: str, new: str) -> str:
    """Lines with the indentation `old` taken off and `new` put on."""
    return "".join(
        new + line[len(old) :] if line.startswith(old) and line.strip() else line
        for line in text.splitlines(keepends=True)
    )


def names_in(node: cst.CSTNode) -> set[str]:
    """Every name and attribute name below a node."""
    found: set[str] = set()

    def walk(each: cst.CSTNode) -> None:
        if isinstance(each, cst.Name):
            found.add(each.value)
        for child in each.children:
            walk(child)

    walk(node)
    return found


def last_name(node: cst.CSTNode) -> str:
    """`name` of `name`, `a.b.name`, `name(...)`; empty for anything else."""
    if isinstance(node, cst.Call):
        node = node.func
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""
