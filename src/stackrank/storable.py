"""Making any text and any JSON storable, because agents may write anything."""

from __future__ import annotations

import math
from typing import Any

_DEEPEST = 100
_CUT = "(nested too deep)"


def storable_text(text: str) -> str:
    """Return `text` in a form that PostgreSQL and UTF-8 can hold: NUL becomes U+2400, a lone surrogate U+FFFD."""
    if text.isascii():
        return text.replace("\0", "\u2400") if "\0" in text else text
    # Surrogates that form a pair are joined on the way.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\u2400")


def storable_json(value: Any, _depth: int = 0) -> Any:
    """Return `value` as JSON that both databases can hold.

    Texts become as in `storable_text`; NaN, infinities, bytes and objects become text; nesting is cut at 100 levels.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return storable_text(str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if _depth >= _DEEPEST:
        return _CUT
    if isinstance(value, dict):
        return {storable_text(str(key)): storable_json(item, _depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [storable_json(item, _depth + 1) for item in value]
    if isinstance(value, bytes):
        return storable_text(value.decode("utf-8", "replace"))
    return storable_text(str(value))
