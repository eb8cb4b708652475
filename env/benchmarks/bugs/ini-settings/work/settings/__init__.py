# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Settings in an INI file."""
from __future__ import annotations

from .reader import BadLine, parse
from .section import MissingSetting, Section, Settings

__all__ = ["BadLine", "MissingSetting", "Section", "Settings", "parse"]
