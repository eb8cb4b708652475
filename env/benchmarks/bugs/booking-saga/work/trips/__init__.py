# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Booking trips step by step, and taking the steps back when one fails."""
from __future__ import annotations

from .booking import book
from .saga import Saga, SagaFailed

__all__ = ["Saga", "SagaFailed", "book"]
