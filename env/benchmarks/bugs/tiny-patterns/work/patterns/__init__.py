# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A small pattern language: letters, ".", "|", "?", "*", "+" and brackets."""
from __future__ import annotations

from .filters import Filters
from .match import matches
from .parse import PatternError, parse

__all__ = ["Filters", "PatternError", "matches", "parse"]
