# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Where things are in a workspace."""
from __future__ import annotations

from pathlib import Path
from typing import List


class Layout:
    """The paths of the build `name` in the folder `root`."""

    def __init__(self, root: Path, name: str) -> None:
        self.root = root
        self.name = name

    @property
    def log(self) -> Path:
        return self.root / f"{self.name}.log"

    @property
    def lock(self) -> Path:
        return self.root / f"{self.name}.lock"

    @property
    def cache(self) -> Path:
        return self.root / "cache" / self.name

    def objects(self, sources: List[str]) -> List[Path]:
        """One object file per source."""
        return [self.root / "objects" / f"{self.name}-{Path(source).stem}.o" for source in sources]
