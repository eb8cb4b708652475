# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Summaries of measurements that can be put together."""
from __future__ import annotations

from .rollup import Rollup
from .summary import Summary

__all__ = ["Rollup", "Summary"]
