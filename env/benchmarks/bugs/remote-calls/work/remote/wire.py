# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Messages as bytes."""
from __future__ import annotations

import pickle
from typing import Any, NamedTuple, Optional, Tuple


class Request(NamedTuple):
    method: str
    arguments: Tuple[Any, ...]


class Answer(NamedTuple):
    """A result, or an error."""

    result: Any = None
    error: Optional[Exception] = None


def pack(message: Any) -> bytes:
    return pickle.dumps(message)


def unpack(data: bytes) -> Any:
    return pickle.loads(data)
