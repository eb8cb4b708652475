# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Telegrams of meters: frames with a checksum."""
from __future__ import annotations

from .frame import ChecksumError, FrameError, decode, encode
from .reading import Reading

__all__ = ["ChecksumError", "FrameError", "Reading", "decode", "encode"]
