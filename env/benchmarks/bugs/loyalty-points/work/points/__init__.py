# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Points on loyalty cards."""
from __future__ import annotations

from .cards import BadCard, canonical
from .desk import Desk, NotEnough
from .locks import LockTable
from .store import Store

__all__ = ["BadCard", "Desk", "LockTable", "NotEnough", "Store", "canonical"]
