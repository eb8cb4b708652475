# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Themes."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional


@dataclass(frozen=True)
class Theme:
    """A folder of files, and the theme it is based on."""

    name: str
    folder: Path
    base: Optional[str] = None


class Themes:
    """Themes by name."""

    def __init__(self) -> None:
        self._themes: Dict[str, Theme] = {}

    def add(self, theme: Theme) -> None:
        self._themes[theme.name] = theme

    def chain(self, name: str) -> List[Theme]:
        """The theme and those it is based on, nearest first."""
        result: List[Theme] = []
        current: Optional[str] = name
        while current is not None:
            theme = self._themes[current]
            if theme in result:
                raise ValueError(f"theme {current} is based on itself")
            result.append(theme)
            current = theme.base
        return result
