# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A simulated forest fire."""
from __future__ import annotations

from .simulation import Simulation

__all__ = ["Simulation"]
