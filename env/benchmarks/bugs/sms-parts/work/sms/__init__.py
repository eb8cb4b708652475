# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Splitting texts into SMS parts."""
from __future__ import annotations

from .alphabet import GSM, UCS2, choose
from .message import Message, Part
from .splitter import split

__all__ = ["GSM", "UCS2", "Message", "Part", "choose", "split"]
