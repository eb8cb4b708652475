# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Mixing of sound, kept as lists of 16 bit samples."""
from __future__ import annotations

from .effects import echo, fade_out, gain
from .mix import Mixer

__all__ = ["Mixer", "echo", "fade_out", "gain"]
