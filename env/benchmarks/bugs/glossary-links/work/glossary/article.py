# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Articles with links."""
from __future__ import annotations

from typing import List, Set

from .glossary import Glossary


class Article:
    """A text whose terms are linked, each entry where it is first mentioned only."""

    def __init__(self, text: str, glossary: Glossary) -> None:
        self._text = text
        self._glossary = glossary

    def terms(self) -> List[str]:
        """All the terms mentioned, as often as they are."""
        found = self._glossary.matcher().find(self._text)
        return [self._glossary[item.text].term for item in found]

    def linked(self) -> str:
        """The text with links like [term](address)."""
        pieces: List[str] = []
        done: Set[str] = set()
        end = 0
        for item in self._glossary.matcher().find(self._text):
            entry = self._glossary[item.text]
            if entry.address in done:
                continue
            done.add(entry.address)
            pieces += [self._text[end : item.start], f"[{item.text}]({entry.address})"]
            end = item.end
        return "".join(pieces) + self._text[end:]
