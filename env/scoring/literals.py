"""Replaces expected values by other values, as edits of a source text."""

from __future__ import annotations

import ast
import codecs
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from stackrank.source import literal, parse_python

# Calls of these names write down a value, and so do calls of names that begin with a capital letter.
_MAKERS = {
    "approx", "array", "bytearray", "bytes", "date", "datetime", "dedent", "deque", "dict", "frozenset", "join", "list",
    "mappingproxy", "namedtuple", "ndarray", "range", "set", "sorted", "time", "timedelta", "tuple",
}  # fmt: skip
EXCEPTIONS = ("ValueError", "KeyError", "TypeError", "IndexError", "RuntimeError")
"""The exceptions that may replace an expected one."""
_OPAQUE = (ast.Name, ast.Attribute, ast.Subscript, ast.JoinedStr)


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `start` to `end` of a file become `new`."""

    start: int
    end: int
    new: str

    def apply(self, content: bytes) -> bytes:
        """Return the changed content."""
        return content[: self.start] + self.new.encode() + content[self.end :]


class Source:
    """A parsed Python file, with the bytes of each node."""

    def __init__(self, content: bytes) -> None:
        """Raises SyntaxError or ValueError if the content is not Python in UTF-8."""
        content.decode("utf-8")
        self.content = content
        self.tree = parse_python(content)
        # The parser counts from after a byte-order mark.
        start = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
        self._lines = [start, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", content))]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where the bytes of a node start and end."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr) -> bytes:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.content[start:end]

    def replace(self, node: ast.expr, new: bytes) -> Edit:
        """Return an edit that replaces the node by `new`."""
        return Edit(*self.span(node), new.decode())


def parts(node: ast.expr) -> list[ast.expr] | None:
    """Return the constants and lists in an expression that writes down a value; None if it computes something."""
    children: Sequence[ast.expr | None] = ()
    changeable: list[ast.expr] = []
    if isinstance(node, ast.Constant):
        return [] if node.value is Ellipsis else [node]
    if isinstance(node, _OPAQUE):
        return []
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        children, changeable = node.elts, [node]
    elif isinstance(node, ast.Dict):
        children = [*node.values, *node.keys]
    elif isinstance(node, (ast.UnaryOp, ast.Starred)):
        children = [node.operand if isinstance(node, ast.UnaryOp) else node.value]
    elif isinstance(node, ast.BinOp):
        children = [node.left, node.right]
    elif isinstance(node, (ast.ListComp, ast.SetComp)):
        children = [node.elt, *(child.iter for child in node.generators)]
    elif isinstance(node, ast.Call):
        name = called(node)
        if not (name in _MAKERS or name[:1].isupper()):
            return None
        children = node.args[:1] if name == "approx" else [*node.args, *(child.value for child in node.keywords)]
    else:
        return None
    literals = [] if changeable and len(children) < 2 else changeable
    for child in children:
        inner = parts(child) if child is not None else []
        if inner is None:
            return None
        literals += inner
    return literals


def called(node: ast.Call) -> str:
    """Return the last part of the name that is called."""
    func = node.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def other_values(source: Source, node: ast.expr, chance: random.Random) -> Iterator[Edit]:
    """Yield edits that change the value to another of its kind: one for each part of it, then more for each part."""
    literals = parts(node) or []
    chance.shuffle(literals)
    options = [list(_changes(source, part, chance)) for part in literals]
    for position in range(max(map(len, options), default=0)):
        yield from (option[position] for option in options if position < len(option))


def _changes(source: Source, node: ast.expr, chance: random.Random) -> Iterator[Edit]:
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        if not isinstance(node, ast.Set):
            yield from _swapped(source, node.elts, chance)
        return
    assert isinstance(node, ast.Constant)
    text = source.text(node)
    for new in _others(node.value, text, chance):
        if new != text and _differs(new, node.value):
            yield source.replace(node, new)


def _swapped(source: Source, elements: list[ast.expr], chance: random.Random) -> Iterator[Edit]:
    """Yield edits that swap two neighbours."""
    places = list(range(len(elements) - 1))
    chance.shuffle(places)
    for place in places[:2]:
        (start, middle), (resume, end) = source.span(elements[place]), source.span(elements[place + 1])
        first, second = source.content[start:middle], source.content[resume:end]
        if first != second:
            yield Edit(start, end, (second + source.content[middle:resume] + first).decode())


def may_be_equal(old: str, new: str) -> bool:
    """Whether two elements that were swapped may stand for values that are equal, as a proxy and its object are."""
    try:
        if not all(isinstance(parse_python(f"({text}\n)").body[0].value, ast.Tuple) for text in (old, new)):  # type: ignore[attr-defined]
            return False
    except (SyntaxError, ValueError):
        return False
    try:
        return bool(literal(f"({old}\n)") == literal(f"({new}\n)"))
    except (ValueError, TypeError):  # names, or what is computed
        return True


def _others(value: object, text: bytes, chance: random.Random) -> Iterator[bytes]:
    if isinstance(value, bool):
        yield str(not value).encode()
    elif value is None:
        yield b"0"
    elif isinstance(value, int):
        steps = [1, -1, 2] if value else [1, 2]
        chance.shuffle(steps)
        if value < 30:
            yield from (str(value + step).encode() for step in steps)
        else:
            yield from _characters(text, chance)
    elif isinstance(value, (float, complex)):
        # Change the first significant digit, so that no tolerance hides the change.
        for place in [place for place, code in enumerate(text) if code in b"123456789"][:1]:
            for digit in chance.sample([code for code in b"123456789" if abs(code - text[place]) > 1], 3):
                yield text[:place] + bytes([digit]) + text[place + 1 :]
        yield b"1.5" if value == 0 else b"0.0"
    elif isinstance(value, (str, bytes)):
        yield from _strings(value, text, chance)


def _strings(value: str | bytes, text: bytes, chance: random.Random) -> Iterator[bytes]:
    if not value:
        yield text[:-1] + b"x" + text[-1:] if len(text) < 4 else text[:-3] + b"x" + text[-3:]
        return
    words = list(re.finditer(rb"[A-Za-z0-9]+", text))
    pairs = [(a, b) for a, b in pairwise(words) if a.group() != b.group()]
    chance.shuffle(pairs)
    for a, b in pairs[:1]:
        yield text[: a.start()] + b.group() + text[a.end() : b.start()] + a.group() + text[b.end() :]
    yield from _characters(text, chance)
    if not re.search(rb"[A-Za-z0-9]", text):
        yield text[:-1] + b"x" + text[-1:]


def _characters(text: bytes, chance: random.Random) -> Iterator[bytes]:
    """Yield the text with one letter or digit changed to another of its class; digits first."""
    places = [place for place, byte in enumerate(text) if bytes([byte]).isalnum()]
    chance.shuffle(places)
    places.sort(key=lambda place: not text[place : place + 1].isdigit())
    for place in places[:6]:
        old = text[place : place + 1]
        low, size = (b"1"[0], 9) if old.isdigit() else ((b"A" if old.isupper() else b"a")[0], 26)
        new = low + (old[0] - low + chance.randrange(1, size)) % size
        yield text[:place] + bytes([new]) + text[place + 1 :]


def _differs(text: bytes, value: object) -> bool:
    try:
        new = literal(text.decode("utf-8"))
    except (SyntaxError, ValueError):
        return False
    return (type(new) is type(value) or value is None) and new != value
