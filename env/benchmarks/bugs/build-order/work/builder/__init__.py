# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What to build, and in which order."""
from __future__ import annotations

from .errors import Circle, UnknownTarget
from .order import order
from .project import Project

__all__ = ["Circle", "Project", "UnknownTarget", "order"]
