# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Form letters."""
from __future__ import annotations

from .engine import render
from .errors import MissingField, UnknownFilter
from .mailing import Mailing

__all__ = ["Mailing", "MissingField", "UnknownFilter", "render"]
