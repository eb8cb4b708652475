# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The mixer."""
from __future__ import annotations

from itertools import zip_longest
from typing import Dict, List, Sequence

from .bundle import Bundle
from .storage import MemoryStorage

LOUDEST = 127


def mix_block(block: Sequence[Sequence[int]]) -> List[int]:
    """The sum of the tracks, limited to the loudest sample possible; ended tracks are silent."""
    return [max(-LOUDEST, min(LOUDEST, sum(samples))) for samples in zip_longest(*block, fillvalue=0)]


class Mixer:
    """Songs are lists of tracks."""

    def __init__(self, storage: MemoryStorage, songs: Dict[str, List[str]]) -> None:
        self._storage = storage
        self._songs = songs

    def mix(self, song: str, size: int = 4) -> List[int]:
        """All samples of the song."""
        result: List[int] = []
        with Bundle(self._storage, self._songs[song]) as bundle:
            for block in bundle.blocks(size):
                result += mix_block(block)
        return result

    def preview(self, song: str, size: int = 4) -> List[int]:
        """The first block of the song."""
        with Bundle(self._storage, self._songs[song]) as bundle:
            for block in bundle.blocks(size):
                return mix_block(block)
        return []
