# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Finding files of a theme."""
from __future__ import annotations

from typing import Dict, Tuple

from .themes import Themes


class AssetError(Exception):
    """A file that is wanted cannot be had."""


class Finder:
    """Reads files of themes and remembers them."""

    def __init__(self, themes: Themes) -> None:
        self._themes = themes
        self._known: Dict[Tuple[str, str], bytes] = {}

    def read(self, theme: str, name: str) -> bytes:
        """The content of a file, from the theme or else the nearest theme below that has it.

        A file that is there but cannot be read SHALL be an AssetError, as is a file that no theme has.
        """
        if (theme, name) not in self._known:
            self._known[theme, name] = self._look_up(theme, name)
        return self._known[theme, name]

    def _look_up(self, theme: str, name: str) -> bytes:
        for one in self._themes.chain(theme):
            try:
                return (one.folder / name).read_bytes()
            except OSError as error:
                raise AssetError(f"{name} of {one.name} cannot be read") from error
            except FileNotFoundError:
                continue
        raise AssetError(f"no theme of {theme} has {name}")

    def has(self, theme: str, name: str) -> bool:
        """Whether the file can be read."""
        try:
            self.read(theme, name)
        except AssetError:
            return False
        return True
