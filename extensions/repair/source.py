"""A file of the program, places in it, and changes to it."""

from __future__ import annotations

import ast
import bisect
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from stackrank.source import parse_python


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
    """How likely a change of this kind is a fix; 1.0 for the most usual kinds."""
    line: int
    """1-based line of the first change."""
    imports: tuple[str, ...] = ()
    """Import statements that the change needs at the top of the file."""
    warm: bool = True
    """Whether only function bodies change, so that a running program can be changed in the same way."""

    def apply(self, text: str) -> str:
        """Return the changed file."""
        for change in sorted(self.changes, reverse=True):
            text = text[: change.start] + change.text + text[change.end :]
        for statement in self.imports:
            if f"\n{statement}\n" not in f"\n{text}":
                text = _with_import(text, statement)
        return text


def _with_import(text: str, statement: str) -> str:
    try:
        tree = parse_python(text)  # libcst takes seconds for a large file, and many candidates need an import
    except (SyntaxError, ValueError):
        return text  # compiling it will show the error
    line = 0
    lines = text.split("\n")
    for position, each in enumerate(tree.body):
        docstring = position == 0 and isinstance(each, ast.Expr)
        future = isinstance(each, ast.ImportFrom) and each.module == "__future__"
        if not (docstring or future):
            break
        line = each.end_lineno or line
    return "\n".join([*lines[:line], statement, *lines[line:]])


# White space and punctuation make up most of a concrete syntax tree; annotations do nothing at run time.
_SKIPPED = {
    *(cst.Annotation, cst.AssignEqual, cst.Asynchronous, cst.Colon, cst.Comma, cst.Comment, cst.Dot, cst.EmptyLine),
    *(cst.LeftCurlyBrace, cst.LeftParen, cst.LeftSquareBracket, cst.Newline, cst.ParenthesizedWhitespace),
    *(cst.RightCurlyBrace, cst.RightParen, cst.RightSquareBracket, cst.Semicolon, cst.SimpleWhitespace),
    *(cst.TrailingWhitespace, cst.FormattedStringText),
}


class ParsedFile:
    """One file that parses."""

    def __init__(
        self,
        path: str,
        text: str,
        coroutines: frozenset[str] = frozenset(),
        methods: frozenset[str] = frozenset(),
    ) -> None:
        """Read the file. Raises libcst.ParserSyntaxError.

        Two arguments describe the whole program: `coroutines` are the names of its coroutine functions, `methods`
        those of methods that can be called without an argument.
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
        """Return the character offsets of a node, without its own brackets."""
        where = self._positions[node]
        return self._offset(where.start.line, where.start.column), self._offset(where.end.line, where.end.column)

    def line(self, node: cst.CSTNode) -> int:
        """Return the line on which a node begins."""
        return int(self._positions[node].start.line)

    def lines(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return first and last line of a node."""
        where = self._positions[node]
        return where.start.line, where.end.line

    def whole_lines(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the character offsets of the lines of a statement, including the end of the last line."""
        first, last = self.lines(node)
        if last > first and self._positions[node].end.column == 0:
            last -= 1
        return self._starts[first - 1], self._starts[min(last, len(self._starts) - 1)]

    def line_at(self, offset: int) -> int:
        """Return the line of a character offset."""
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
        """Every node that can be changed, with the nodes around it, in the order of the text."""
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
    """A node and the nodes around it."""

    source: ParsedFile
    node: cst.CSTNode
    above: tuple[cst.CSTNode, ...] = field(repr=False)

    @property
    def parent(self) -> cst.CSTNode | None:
        """The node right above."""
        return self.above[-1] if self.above else None

    @property
    def function(self) -> cst.FunctionDef | None:
        """The innermost function whose body this is part of; None in headers (decorators, defaults) and outside."""
        return self._body_of(reversed(tuple(itertools.pairwise((*self.above, self.node)))))

    @property
    def outermost(self) -> cst.FunctionDef | None:
        """The outermost function whose body this is part of."""
        return self._body_of(itertools.pairwise((*self.above, self.node)))

    @staticmethod
    def _body_of(steps: Iterable[tuple[cst.CSTNode, cst.CSTNode]]) -> cst.FunctionDef | None:
        first = next(((each, below) for each, below in steps if isinstance(each, cst.FunctionDef)), None)
        return first[0] if first is not None and first[1] is first[0].body else None

    @property
    def class_(self) -> cst.ClassDef | None:
        """The innermost class around the node."""
        return next((each for each in reversed(self.above) if isinstance(each, cst.ClassDef)), None)

    @property
    def loop(self) -> cst.For | cst.While | None:
        """The innermost loop around the node in the same function."""
        for each in reversed(self.above):
            if isinstance(each, (cst.For, cst.While)):
                return each
            if isinstance(each, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
                return None
        return None

    def code(self, node: cst.CSTNode | None = None) -> str:
        """A node as text, with its brackets."""
        return self.source.code(node or self.node)

    def swap(self, new: str, node: cst.CSTNode | None = None) -> Change:
        """Return the change that replaces a node (this one by default) with `new`, inside its brackets."""
        return Change(*self.source.span(node or self.node), new)

    def lines(self, new: str, node: cst.CSTNode | None = None) -> Change:
        """Return the change that replaces all lines of a statement with `new`."""
        return Change(*self.source.whole_lines(node or self.node), new)

    def text_of_lines(self, node: cst.CSTNode | None = None) -> str:
        """Return all lines of a statement, without the blank lines and comments before it."""
        start, end = self.source.whole_lines(node or self.node)
        return self.source.text[start:end]

    def head(self, node: cst.CSTNode | None = None) -> tuple[int, str]:
        """Return the offset at which the lines of a statement begin, and their indentation."""
        start, _ = self.source.whole_lines(node or self.node)
        return start, indentation(self.source.text[start:])

    def candidate(
        self, kind: str, prior: float, *changes: Change, imports: tuple[str, ...] = (), warm: bool | None = None
    ) -> Candidate:
        """Return a candidate made of these changes."""
        line = self.source.line_at(changes[0].start)
        if warm is None:
            warm = self.outermost is not None
        return Candidate(self.source.path, changes, kind, prior, line, imports, warm)

    def swapped(
        self, kind: str, prior: float, new: str, node: cst.CSTNode | None = None, imports: tuple[str, ...] = ()
    ) -> Candidate:
        """Return a candidate that replaces a node with `new`."""
        return self.candidate(kind, prior, self.swap(new, node), imports=imports)


Operator = Callable[[Place], Iterator[Candidate]]
Propose = Callable[[Any, Place], Iterator[Candidate]]


class Operators(list[Operator]):
    """The functions that propose candidates for a place, in this order."""

    def on(self, *kinds: type[cst.CSTNode]) -> Callable[[Propose], Propose]:
        """Register a function that takes a node and its place, for these kinds of nodes."""

        def register(propose: Propose) -> Propose:
            self.append(lambda place: propose(place.node, place) if isinstance(place.node, kinds) else iter(()))
            return propose

        return register


def indentation(text: str) -> str:
    """Return the white space with which a line begins."""
    return text[: len(text) - len(text.lstrip(" \t"))]


def reindent(text: str, old: str, new: str) -> str:
    """Replace the indentation `old` of lines with `new`."""
    return "".join(
        new + line[len(old) :] if line.startswith(old) and line.strip() else line
        for line in text.splitlines(keepends=True)
    )


def names_in(node: cst.CSTNode) -> set[str]:
    """Return every name and attribute name below a node."""
    if isinstance(node, cst.Name):
        return {node.value}
    return set().union(*map(names_in, node.children))


def attribute_of(node: cst.CSTNode) -> str:
    """Return `base` of `base.name`; empty for anything else."""
    return node.value.value if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) else ""


def last_name(node: cst.CSTNode) -> str:
    """Return `name` of `name`, `a.b.name`, `name(...)`; empty for anything else."""
    if isinstance(node, cst.Call):
        node = node.func
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""
