# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Search in documents, with snippets that show the words found."""
from __future__ import annotations

from .index import Index
from .marks import mark

__all__ = ["Index", "mark"]
