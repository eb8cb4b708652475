# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Nested settings as flat lines."""
from __future__ import annotations

from .lines import dump, load
from .nest import nest
from .walk import flatten

__all__ = ["dump", "flatten", "load", "nest"]
