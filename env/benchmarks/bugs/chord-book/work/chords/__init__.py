# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Guitar chords."""
from __future__ import annotations

from .book import Book
from .changes import easy_pairs, is_easy
from .chord import Chord

__all__ = ["Book", "Chord", "easy_pairs", "is_easy"]
