# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The part of an address behind the question mark."""
from __future__ import annotations

from .form import Form, build, parse

__all__ = ["Form", "build", "parse"]
