# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Spans: what ran inside of what, and for how long."""
from __future__ import annotations

from .report import tree
from .span import Span
from .tracer import Tracer

__all__ = ["Span", "Tracer", "tree"]
