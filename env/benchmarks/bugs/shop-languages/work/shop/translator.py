# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Looks up messages and fills them in."""
from __future__ import annotations

from typing import Dict, List, Mapping, Optional

from .messages import CATALOGUES

FALLBACK = "en"
LANGUAGES = tuple(sorted(CATALOGUES))


class Translator:
    """Says things in one language. What cannot be said there is said in English, and noted in `gaps`."""

    def __init__(self, language: str, catalogues: Optional[Mapping[str, Dict[str, str]]] = None) -> None:
        self.language = language
        self._catalogues = CATALOGUES if catalogues is None else catalogues
        self.gaps: List[str] = []

    def __call__(self, key: str, **values: object) -> str:
        """Raises KeyError for a message that not even English has."""
        for language in (self.language, FALLBACK):
            try:
                return self._catalogues[language][key].format(**values)
            except (KeyError, IndexError):
                self.gaps.append(f"{language}:{key}")
        raise KeyError(key)

    def has(self, key: str) -> bool:
        return key in self._catalogues.get(self.language, {})
