# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Places in a text."""
from __future__ import annotations

from typing import Iterable, List, NamedTuple

from .folding import fold


class Span(NamedTuple):
    start: int
    end: int


def find(text: str, words: Iterable[str]) -> List[Span]:
    """Where the words stand in the text, without regard to case; in order, overlaps merged.

    A letter of the text that is found in part is found as a whole.
    """
    folded = fold(text)
    spans: List[Span] = []
    for word in map(fold, words):
        start = folded.find(word)
        while word and start >= 0:
            end = start + len(word)
            spans.append(Span(start, end))
            start = folded.find(word, end)
    return merged(spans)


def merged(spans: Iterable[Span]) -> List[Span]:
    """The spans in order; those that overlap or touch are one."""
    result: List[Span] = []
    for span in sorted(spans):
        if result and span.start <= result[-1].end:
            result[-1] = Span(result[-1].start, max(result[-1].end, span.end))
        else:
            result.append(span)
    return result
