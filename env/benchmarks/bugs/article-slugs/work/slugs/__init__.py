# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Addresses for articles, made from their titles."""
from __future__ import annotations

from .letters import to_ascii
from .registry import SlugRegistry
from .slug import slugify

__all__ = ["SlugRegistry", "slugify", "to_ascii"]
