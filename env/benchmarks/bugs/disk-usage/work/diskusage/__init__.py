# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""How much room files take."""
from __future__ import annotations

from .report import by_suffix, human, largest
from .walker import File, Usage, measure

__all__ = ["File", "Usage", "by_suffix", "human", "largest", "measure"]
