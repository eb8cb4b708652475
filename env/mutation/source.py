"""A Python file as a concrete syntax tree: its nodes, what surrounds them, and edits that replace them."""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import CodeRange, ExpressionContext, ExpressionContextProvider, MetadataWrapper, PositionProvider

from stackrank.env.mutation.edits import Edit, indentation
from stackrank.env.mutation.mutation import Mutation

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
        content: str | bytes,
        coroutines: frozenset[str] = frozenset(),
        methods: frozenset[str] = frozenset(),
    ) -> None:
        """Parse the file. Raises libcst.ParserSyntaxError, UnicodeDecodeError.

        Two arguments describe the whole program: `coroutines` are the names of its coroutine functions, `methods`
        those of methods that can be called without an argument.
        """
        self.path = path
        self.coroutines = coroutines
        self.methods = methods
        # Of bytes, libcst keeps encoding and byte order mark.
        self._tree = MetadataWrapper(cst.parse_module(content), unsafe_skip_copy=True)
        self.module = self._tree.module
        self.text = content if isinstance(content, str) else content.decode(self.module.encoding)
        self._positions = self._tree.resolve(PositionProvider)
        self._starts = [0]
        for line in self.text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the character offsets of a node, without its own brackets."""
        position = self.position(node)
        start, end = position.start, position.end
        return self._offset(start.line, start.column), self._offset(end.line, end.column)

    def position(self, node: cst.CSTNode) -> CodeRange:
        """Return the first and last line and column of a node, without its own brackets."""
        position = self._positions[node]
        assert isinstance(position, CodeRange)
        return position

    def line(self, node: cst.CSTNode) -> int:
        """Return the line on which a node begins."""
        return self.position(node).start.line

    def whole_lines(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the character offsets of the lines of a statement, including the end of the last line."""
        position = self.position(node)
        first, last = position.start.line, position.end.line
        if last > first and position.end.column == 0:
            last -= 1
        return self._starts[first - 1], self._starts[min(last, len(self._starts) - 1)]

    def line_at(self, offset: int) -> int:
        """Return the line of a character offset."""
        return min(bisect.bisect_right(self._starts, offset), max(len(self._starts) - 1, 1))

    def code(self, node: cst.CSTNode) -> str:
        """Return a node as text, with its brackets."""
        return self.module.code_for_node(node)

    def is_read(self, node: cst.CSTNode) -> bool:
        """Whether the program reads a name here, and neither assigns nor deletes it."""
        # Resolved when an operator first asks, since few operators do.
        return self._tree.resolve(ExpressionContextProvider).get(node) is ExpressionContext.LOAD

    def _offset(self, line: int, column: int) -> int:
        if line > len(self._starts):
            return len(self.text)
        return self._starts[line - 1] + column

    @functools.cached_property
    def contexts(self) -> list[NodeContext]:
        """Every node that can be changed, with the nodes around it, in the order of the text."""
        contexts: list[NodeContext] = []

        def walk(node: cst.CSTNode, ancestors: tuple[cst.CSTNode, ...]) -> None:
            contexts.append(NodeContext(self, node, ancestors))
            path = (*ancestors, node)
            for child in node.children:
                if type(child) not in _SKIPPED:
                    walk(child, path)

        walk(self.module, ())
        return contexts


@dataclass(frozen=True, slots=True)
class NodeContext:
    """A node and the nodes around it."""

    source: ParsedFile
    node: cst.CSTNode
    ancestors: tuple[cst.CSTNode, ...] = field(repr=False)
    """The outermost first."""

    @property
    def parent(self) -> cst.CSTNode | None:
        """The node right above."""
        return self.ancestors[-1] if self.ancestors else None

    @property
    def function(self) -> cst.FunctionDef | None:
        """The innermost function whose body this is part of; None in headers (decorators, defaults) and outside."""
        return self._body_of(reversed(tuple(itertools.pairwise((*self.ancestors, self.node)))))

    @property
    def outermost_function(self) -> cst.FunctionDef | None:
        """The outermost function whose body this is part of."""
        return self._body_of(itertools.pairwise((*self.ancestors, self.node)))

    @staticmethod
    def _body_of(steps: Iterable[tuple[cst.CSTNode, cst.CSTNode]]) -> cst.FunctionDef | None:
        step = next(((node, child) for node, child in steps if isinstance(node, cst.FunctionDef)), None)
        return step[0] if step is not None and step[1] is step[0].body else None

    @property
    def enclosing_class(self) -> cst.ClassDef | None:
        """The innermost class around the node."""
        return next((node for node in reversed(self.ancestors) if isinstance(node, cst.ClassDef)), None)

    @property
    def loop(self) -> cst.For | cst.While | None:
        """The innermost loop around the node in the same function."""
        for node in reversed(self.ancestors):
            if isinstance(node, (cst.For, cst.While)):
                return node
            if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
                return None
        return None

    def code(self, node: cst.CSTNode | None = None) -> str:
        """Return a node (this one by default) as text, with its brackets."""
        return self.source.code(node or self.node)

    def replace_node(self, new: str, node: cst.CSTNode | None = None) -> Edit:
        """Return the edit that replaces a node (this one by default) with `new`, inside its brackets."""
        return Edit(*self.source.span(node or self.node), new)

    def replace_lines(self, new: str, node: cst.CSTNode | None = None) -> Edit:
        """Return the edit that replaces all lines of a statement with `new`."""
        return Edit(*self.source.whole_lines(node or self.node), new)

    def source_lines(self, node: cst.CSTNode | None = None) -> str:
        """Return all lines of a statement, without the blank lines and comments before it."""
        start, end = self.source.whole_lines(node or self.node)
        return self.source.text[start:end]

    def line_start(self, node: cst.CSTNode | None = None) -> tuple[int, str]:
        """Return the offset at which the lines of a statement begin, and their indentation."""
        start, _ = self.source.whole_lines(node or self.node)
        return start, indentation(self.source.text[start:])

    def mutation(
        self,
        kind: str,
        prior: float,
        *edits: Edit,
        imports: tuple[str, ...] = (),
        is_hot_swappable: bool | None = None,
    ) -> Mutation:
        """Return the mutation made of these edits. It can be swapped by default if it is inside a function body."""
        line = self.source.line_at(edits[0].start)
        if is_hot_swappable is None:
            is_hot_swappable = self.outermost_function is not None
        return Mutation(self.source.path, edits, kind, prior, line, imports, is_hot_swappable)

    def replacement(
        self, kind: str, prior: float, new: str, node: cst.CSTNode | None = None, imports: tuple[str, ...] = ()
    ) -> Mutation:
        """Return the mutation that replaces a node (this one by default) with `new`."""
        return self.mutation(kind, prior, self.replace_node(new, node), imports=imports)
