# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A little template language with loops and macros."""
from __future__ import annotations

from .render import render

__all__ = ["render"]
