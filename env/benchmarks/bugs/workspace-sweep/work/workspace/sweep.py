# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Cleaning up."""
from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Iterable, List

from .build import Build


def _remove_file(path: Path, removed: List[Path]) -> None:
    path.unlink()
    removed.append(path)


def _remove_folder(path: Path, removed: List[Path]) -> None:
    if path.is_dir():
        for inner in sorted(path.iterdir()):
            _remove_file(inner, removed)
        path.rmdir()


def sweep(build: Build, keep_log: bool = False) -> List[Path]:
    """Remove what the build left; the lock goes last. Return the files removed.

    What is gone already is no problem, but an error that says something else SHALL be raised.
    """
    layout, removed = build.layout, []  # type: ignore[var-annotated]
    with suppress(FileNotFoundError):
        for path in layout.objects(build.sources):
            _remove_file(path, removed)
        _remove_folder(layout.cache, removed)
        if not keep_log:
            _remove_file(layout.log, removed)
        _remove_file(layout.lock, removed)
    return removed


def sweep_all(builds: Iterable[Build]) -> int:
    """Sweep several builds; return the number of files removed."""
    return sum(len(sweep(build)) for build in builds)
