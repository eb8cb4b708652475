# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Calling a bank server over a wire of bytes."""
from __future__ import annotations

from .client import Client
from .server import Server

__all__ = ["Client", "Server"]
