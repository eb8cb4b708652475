# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Compares two folders and says what has to be done."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Action:
    """One thing to do: kind is "create", "update" or "delete"; path is relative to the folders."""

    kind: str
    path: str


def files_below(folder: Path) -> dict[str, Path]:
    """All files below the folder by their relative path with slashes, sorted."""
    found = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    return dict(sorted(found.items()))


def make_plan(source: Path, target: Path, delete: bool = False) -> list[Action]:
    """The actions that make `target` equal to `source`: creations and updates by path, then deletions."""
    wanted, present = files_below(source), files_below(target)
    actions = []
    for path, file in wanted.items():
        if path not in present:
            actions.append(Action("create", path))
        elif file.read_bytes() != present[path].read_bytes():
            actions.append(Action("update", path))
    if delete:
        actions += [Action("delete", path) for path in present if path not in wanted]
    return actions
