# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The parser."""
from __future__ import annotations

from typing import List

from .nodes import Choice, Letter, Node, Repeat, Sequence

_SUFFIXES = {"*": (0, True), "+": (1, True), "?": (0, False)}


class PatternError(ValueError):
    """This is no pattern."""


def parse(pattern: str) -> Node:
    """The node of a pattern."""
    node, end = _choice(pattern, 0)
    if end < len(pattern):
        raise PatternError(f"unexpected {pattern[end]!r}")
    return node


def _choice(pattern: str, at: int) -> "tuple[Node, int]":
    node, at = _sequence(pattern, at)
    options: List[Node] = [node]
    while at < len(pattern) and pattern[at] == "|":
        node, at = _sequence(pattern, at + 1)
        options.append(node)
    return (options[0] if len(options) == 1 else Choice(tuple(options))), at


def _sequence(pattern: str, at: int) -> "tuple[Node, int]":
    parts: List[Node] = []
    while at < len(pattern) and pattern[at] not in "|)":
        node: Node
        if pattern[at] in _SUFFIXES:
            raise PatternError(f"nothing before {pattern[at]!r}")
        if pattern[at] == "(":
            node, at = _choice(pattern, at + 1)
            if at >= len(pattern):
                raise PatternError("bracket not closed")
        else:
            node = Letter(None if pattern[at] == "." else pattern[at])
        at += 1
        while at < len(pattern) and pattern[at] in _SUFFIXES:
            node = Repeat(node, *_SUFFIXES[pattern[at]])
            at += 1
        parts.append(node)
    return Sequence(tuple(parts)), at
