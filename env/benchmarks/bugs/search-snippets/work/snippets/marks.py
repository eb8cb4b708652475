# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Marks and snippets."""
from __future__ import annotations

from typing import Iterable, List

from .spans import Span, find


def mark(text: str, words: Iterable[str], before: str = "<b>", after: str = "</b>") -> str:
    """The text with the words found put between marks."""
    pieces: List[str] = []
    end = 0
    for span in find(text, words):
        pieces += [text[end : span.start], before, text[span.start : span.end], after]
        end = span.end
    return "".join(pieces) + text[end:]


def snippet(text: str, words: List[str], around: int = 20) -> str:
    """A marked piece of the text: the first word found and at most `around` letters on each side."""
    spans = find(text, words) or [Span(0, 0)]
    start, end = max(0, spans[0].start - around), min(len(text), spans[0].end + around)
    left, right = "..." if start > 0 else "", "..." if end < len(text) else ""
    return left + mark(text[start:end], words) + right
