# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Templates with fields like [name] or [name|friend]."""
from __future__ import annotations

import re
from typing import Dict, List, Mapping, Tuple

_FIELD = re.compile(r"\[(\w+)(?:\|([^\]]*))?\]")


class Template:
    """A text with fields; what stands behind the bar is used if the field is empty or absent."""

    def __init__(self, text: str) -> None:
        self._pieces: List[str] = []
        self._fields: List[Tuple[str, str]] = []
        end = 0
        for match in _FIELD.finditer(text):
            self._pieces.append(text[end:match.start()])
            self._fields.append((match.group(1), match.group(2) or ""))
            end = match.end()
        self._last = text[end:]

    def names(self) -> List[str]:
        """The fields in the order of the text."""
        return [name for name, _ in self._fields]

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with the values in place of the fields."""
        out = []
        for piece, (name, default) in zip(self._pieces, self._fields):
            out.append(piece)
            out.append(values.get(name) or default)
        return "".join(out) + self._last
