# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Files of readings: UTF-8, one JSON object in each line."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Iterable, Iterator

from .reading import Reading


def load(path: Path) -> list[Reading]:
    """The readings of a file. Empty lines are skipped; a UTF-8 signature at the start is allowed."""
    return [Reading.from_entry(json.loads(line)) for line in _lines(path)]


def load_folder(folder: Path) -> list[Reading]:
    """The readings of all the .jsonl files of a folder, file by file in the order of their names."""
    readings: list[Reading] = []
    for path in sorted(folder.glob("*.jsonl")):
        readings += load(path)
    return readings


def append(path: Path, readings: Iterable[Reading]) -> None:
    """Add readings at the end of a file, which is made if there is none."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        for reading in readings:
            file.write(json.dumps(reading.to_entry(), ensure_ascii=False) + "\n")


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield line
