# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A catalogue of seeds."""
from __future__ import annotations

from .catalogue import CatalogueError, read_catalogue
from .varieties import Variety

__all__ = ["CatalogueError", "Variety", "read_catalogue"]
