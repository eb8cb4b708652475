# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Look up texts."""
from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, Dict, Tuple, Union

Text = Union[str, Tuple[str, ...]]


class Translator:
    """Texts in one language; what a catalog lacks is taken from English."""

    fallback = "en"

    def __init__(self, language: str) -> None:
        self.language = language.lower().split("-")[0]
        self._catalogs: Dict[str, ModuleType] = {}

    def _catalog(self, language: str) -> ModuleType:
        if language not in self._catalogs:
            self._catalogs[language] = import_module("i18n.catalogs." + language)
        return self._catalogs[language]

    def _find(self, key: str) -> Tuple[Text, ModuleType]:
        for language in (self.language, self.fallback):
            catalog = self._catalog(language)
            if key in catalog.TEXTS:
                return catalog.TEXTS[key], catalog
        raise KeyError(key)

    def text(self, key: str, **values: Any) -> str:
        """The text for a key, values filled in; unknown keys raise KeyError.

        A text with several forms chooses by the value `n`.
        """
        found, catalog = self._find(key)
        if isinstance(found, tuple):
            found = found[catalog.plural(values["n"])]
        return found.format(**values)
