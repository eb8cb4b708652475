# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reading, applying and reversing patches in the unified format."""
from __future__ import annotations

from .apply import apply
from .errors import BadPatch, DoesNotFit
from .model import Hunk
from .reader import read

__all__ = ["BadPatch", "DoesNotFit", "Hunk", "apply", "read"]
