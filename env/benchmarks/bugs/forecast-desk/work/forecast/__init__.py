# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Forecasts for many askers at the same time."""
from __future__ import annotations

from .desk import Desk
from .model import Forecast
from .shared import Shared

__all__ = ["Desk", "Forecast", "Shared"]
