# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Pay for shifts."""
from __future__ import annotations

from .cards import BadCard, Shift, read_cards
from .pay import Tariff, pay
from .zone import CENTRAL, CentralTime

__all__ = ["BadCard", "CENTRAL", "CentralTime", "Shift", "Tariff", "pay", "read_cards"]
