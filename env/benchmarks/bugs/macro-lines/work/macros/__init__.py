# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Macros: names in capitals that stand for other text."""
from __future__ import annotations

from .book import Book
from .document import Document

__all__ = ["Book", "Document"]
