# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Readers for small record files."""
from __future__ import annotations

from records.registry import UnknownFormat, formats, load

__all__ = ["UnknownFormat", "formats", "load"]
