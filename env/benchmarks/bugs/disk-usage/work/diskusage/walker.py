# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Walks through folders."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from fnmatch import fnmatch


@dataclass(frozen=True)
class File:
    """A file found: its path as walked and its size in bytes."""

    path: str
    size: int


@dataclass
class Usage:
    """What was found below a folder."""

    files: list[File] = field(default_factory=list)
    folders: int = 0
    unreadable: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def measure(top: str, follow_links: bool = False, skip: tuple[str, ...] = ()) -> Usage:
    """The files below the folder `top`, in the order of their names, folder by folder.

    Entries whose names match a pattern of `skip` are left out. Links are left out too unless they are to be
    followed; a folder is then measured once, however many ways lead to it. What cannot be read is noted.
    """
    usage = Usage()
    _Walk(usage, follow_links, skip).folder(str(top))
    return usage


class _Walk:
    def __init__(self, usage: Usage, follow_links: bool, skip: tuple[str, ...]) -> None:
        self._usage = usage
        self._follow = follow_links
        self._skip = skip
        self._visited: set[str] = set()

    def folder(self, path: str) -> None:
        identity = os.path.abspath(path)
        if identity in self._visited:
            return
        self._visited.add(identity)
        try:
            with os.scandir(path) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            self._usage.unreadable.append(path)
            return
        self._usage.folders += 1
        for entry in found:
            self._entry(entry)

    def _entry(self, entry: os.DirEntry[str]) -> None:
        if any(fnmatch(entry.name, pattern) for pattern in self._skip):
            return
        if entry.is_symlink() and not self._follow:
            return
        try:
            if entry.is_dir():
                self.folder(entry.path)
            elif entry.is_file():
                self._usage.files.append(File(entry.path, entry.stat().st_size))
            elif entry.is_symlink():
                self._usage.unreadable.append(entry.path)
        except OSError:
            self._usage.unreadable.append(entry.path)
