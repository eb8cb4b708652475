# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Carries out a plan."""
from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from .journal import Journal
from .plan import Action, make_plan

Copy = Callable[[Path, Path], object]


@dataclass
class Report:
    """What one run did: the paths by kind of action."""

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    def note(self, action: Action) -> None:
        {"create": self.created, "update": self.updated, "delete": self.deleted}[action.kind].append(action.path)


def synchronise(source: Path, target: Path, delete: bool = False, copy: Copy = shutil.copyfile) -> Report:
    """Make `target` equal to `source` and report what was done.

    If any file cannot be copied or deleted, the files of the target are put back as they were and the error is raised.
    """
    report = Report()
    with Journal() as journal:
        for action in make_plan(source, target, delete):
            _carry_out(action, source / action.path, target / action.path, journal, copy)
            report.note(action)
    return report


def _carry_out(action: Action, origin: Path, place: Path, journal: Journal, copy: Copy) -> None:
    if action.kind == "create":
        place.parent.mkdir(parents=True, exist_ok=True)
        _copy_whole(copy, origin, place)
        journal.record(f"create {action.path}", place.unlink)
        return
    before = place.read_bytes()
    if action.kind == "update":
        _copy_whole(copy, origin, place)
    else:
        place.unlink()
    journal.record(f"{action.kind} {action.path}", lambda: _restore(place, before))


def _copy_whole(copy: Copy, origin: Path, place: Path) -> None:
    """Copy a file so that `place` never holds a part of it."""
    part = place.with_name(place.name + ".part")
    try:
        copy(origin, part)
        part.replace(place)
    except BaseException:
        if part.exists():
            part.unlink()
        raise


def _restore(place: Path, content: bytes) -> None:
    place.write_bytes(content)
