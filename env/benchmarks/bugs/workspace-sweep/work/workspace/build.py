# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A build."""
from __future__ import annotations

from pathlib import Path
from typing import List

from .layout import Layout


class Build:
    """A build with its sources, which leaves files in the workspace."""

    def __init__(self, root: Path, name: str, sources: List[str]) -> None:
        self.layout = Layout(root, name)
        self.sources = list(sources)

    def run(self) -> None:
        """Pretend to build."""
        layout = self.layout
        layout.cache.mkdir(parents=True, exist_ok=True)
        (layout.root / "objects").mkdir(exist_ok=True)
        layout.lock.write_text("locked")
        layout.log.write_text(f"{len(self.sources)} sources\n")
        for source, path in zip(self.sources, layout.objects(self.sources)):
            path.write_text(source)
            (layout.cache / path.stem).write_text(source)
