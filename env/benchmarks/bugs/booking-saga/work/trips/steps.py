# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Steps."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional

Context = Dict[str, Any]


@dataclass(frozen=True)
class Step:
    """Something to do, and how to take it back; some steps need not be taken back."""

    name: str
    do: Callable[[Context], None]
    take_back: Optional[Callable[[Context], None]] = None
