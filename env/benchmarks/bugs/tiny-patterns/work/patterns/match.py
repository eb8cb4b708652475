# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Matching."""
from __future__ import annotations

from typing import Iterator

from .nodes import Choice, Letter, Node, Repeat, Sequence


def matches(node: Node, text: str) -> bool:
    """Whether the whole text is of the pattern."""
    return any(end == len(text) for end in ends(node, text, 0))


def ends(node: Node, text: str, start: int) -> Iterator[int]:
    """Where a match that begins at `start` may end, the longest repetitions first."""
    if isinstance(node, Letter):
        if start < len(text) and node.letter in (None, text[start]):
            yield start + 1
    elif isinstance(node, Choice):
        for option in node.options:
            yield from ends(option, text, start)
    elif isinstance(node, Sequence):
        yield from _in_sequence(node, 0, text, start)
    else:
        yield from _repeated(node, node.least, text, start)


def _in_sequence(node: Sequence, index: int, text: str, start: int) -> Iterator[int]:
    if index == len(node.parts):
        yield start
        return
    for end in ends(node.parts[index], text, start):
        yield from _in_sequence(node, index + 1, text, end)


def _repeated(node: Repeat, least: int, text: str, start: int) -> Iterator[int]:
    for end in ends(node.inner, text, start):
        if node.many:
            yield from _repeated(node, max(least - 1, 0), text, end)
        else:
            yield end
    if least == 0:
        yield start
