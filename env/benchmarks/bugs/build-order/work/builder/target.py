# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Targets."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple


@dataclass(frozen=True)
class Target:
    """Something to build, after what it depends on; changes with its version."""

    name: str
    needs: Tuple[str, ...] = ()
    version: int = 1
