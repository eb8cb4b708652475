# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Forms: pairs of names and values."""
from __future__ import annotations

from typing import Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .escapes import escape, unescape

Value = Union[str, int, Sequence[str]]


class Form:
    """The values of a form by name; a name may have several."""

    def __init__(self, pairs: Sequence[Tuple[str, str]]) -> None:
        self._pairs = list(pairs)

    def __iter__(self) -> Iterator[Tuple[str, str]]:
        return iter(self._pairs)

    def first(self, name: str, default: Optional[str] = None) -> Optional[str]:
        return next((value for key, value in self._pairs if key == name), default)

    def all(self, name: str) -> List[str]:
        return [value for key, value in self._pairs if key == name]


def parse(query: str) -> Form:
    """The form in a query string. A name without "=" has an empty value."""
    pairs = []
    for piece in query.lstrip("?").split("&"):
        if piece:
            name, _, value = piece.partition("=")
            pairs.append((unescape(name), unescape(value)))
    return Form(pairs)


def build(values: Mapping[str, Value]) -> str:
    """The query string for values, in their order."""
    pairs = []
    for name, value in values.items():
        several = [value] if isinstance(value, (str, int)) else value
        pairs += [f"{escape(name)}={escape(str(one))}" for one in several]
    return "&".join(pairs)
