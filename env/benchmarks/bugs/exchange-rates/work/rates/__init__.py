# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Exchange rates."""
from __future__ import annotations

from .table import RateTable
from .importer import import_rates

__all__ = ["RateTable", "import_rates"]
