"""Making any text and any JSON storable, and reading JSON of strangers, because agents may write anything."""

from __future__ import annotations

import json
import math
from typing import Any

_DEEPEST = 100
_CUT = "(nested too deep)"
_WIDEST = 64
"""The most bits of a whole number in JSON of strangers."""


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


def read_json(data: bytes | str) -> Any:
    """Return a JSON document of a stranger, in a form that can be stored, sent and shown.

    Raises ValueError with what is wrong. Refused are NaN and infinities, whole numbers of more than 64 bits, and more
    than 100 levels. If an object has a key twice, the last value counts.
    """
    try:
        text = data if isinstance(data, str) else data.decode()
        value = json.loads(text, parse_constant=_refuse_constant, parse_int=_narrow, parse_float=_finite)
        _check_depth(value)
    except RecursionError:
        raise ValueError(f"not valid JSON: more than {_DEEPEST} levels") from None
    except ValueError as error:
        raise ValueError(f"not valid JSON: {str(error)[:200]}") from None
    return storable_json(value)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number")


def _narrow(digits: str) -> int:
    number = int(digits)
    if number.bit_length() > _WIDEST:
        raise ValueError(f"a number of {len(digits)} digits is too large")
    return number


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def _check_depth(value: Any) -> None:
    level, layer = 0, [value]
    while layer:
        level += 1
        parents = [item for item in layer if isinstance(item, dict | list)]
        if parents and level > _DEEPEST:
            raise RecursionError
        layer = [child for item in parents for child in (item.values() if isinstance(item, dict) else item)]
