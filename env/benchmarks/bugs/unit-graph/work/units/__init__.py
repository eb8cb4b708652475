# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Conversion of units."""
from __future__ import annotations

from .converter import Converter, NoWay
from .defaults import standard
from .line import Line

__all__ = ["Converter", "Line", "NoWay", "standard"]
