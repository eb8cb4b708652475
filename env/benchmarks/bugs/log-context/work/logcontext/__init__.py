# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A log whose lines carry what the thread is working on."""
from __future__ import annotations

from .context import Context
from .log import Log

__all__ = ["Context", "Log"]
