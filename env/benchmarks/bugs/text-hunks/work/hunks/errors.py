# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What can go wrong."""
from __future__ import annotations


class BadPatch(ValueError):
    """The patch is not well formed."""


class DoesNotFit(ValueError):
    """The patch is not for this text."""
