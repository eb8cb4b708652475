# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Workspaces of builds, and cleaning them up."""
from __future__ import annotations

from .build import Build
from .sweep import sweep, sweep_all

__all__ = ["Build", "sweep", "sweep_all"]
