# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Word lists."""
from __future__ import annotations

from collections import Counter
from typing import Dict, Iterable, Iterator, List, Tuple


class Words:
    """Words with how often they were seen, kept by their length."""

    def __init__(self, text: Iterable[str] = ()) -> None:
        self._seen: Counter[str] = Counter()
        self._by_length: Dict[int, List[str]] = {}
        for word in text:
            self.add(word)

    def add(self, word: str) -> None:
        word = word.lower()
        if word not in self._seen:
            self._by_length.setdefault(len(word), []).append(word)
        self._seen[word] += 1

    def __contains__(self, word: str) -> bool:
        return word.lower() in self._seen

    def near_length(self, length: int, off: int) -> Iterator[Tuple[str, int]]:
        """The words whose length is off by no more than `off`, and how often each was seen."""
        for n in range(max(1, length - off), length + off + 1):
            for word in self._by_length.get(n, ()):
                yield word, self._seen[word]
