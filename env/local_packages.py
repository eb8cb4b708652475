"""Requirements that are folders or archives on this machine, such as `/srv/my-server`: their files go along."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from stackrank.patches.contents import read_content

STAGE = "/opt/stackrank-local"
"""Where the files are while an environment is built."""
_LOCAL = re.compile(r"(?:[\w.-]+(?:\[[^\]]*\])? *@ *)?(?:file://)?(?P<path>(?:/|~|\.{1,2}/)[^\[;]*)(?P<rest>.*)")
_LEFT_OUT = {
    ".git", ".hg", ".venv", "venv", ".tox", ".nox", "node_modules", "build", "dist",
    "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache",
}  # fmt: skip
"""Folders that are no part of a package's source."""


def local_path(requirement: str) -> Path | None:
    """Return the path that a requirement names; None if it names a distribution of an index or another address."""
    match = _LOCAL.fullmatch(requirement.strip())
    return Path(match["path"].strip()).expanduser() if match else None


def staged(requirement: str, stage: str = STAGE) -> str:
    """Return a requirement as it is given to pip, when the files of local ones are below `stage`."""
    match, path = _LOCAL.fullmatch(requirement.strip()), local_path(requirement)
    return f"{stage}/{_place(path)}{match['rest']}" if match and path else requirement


def staged_files(requirements: Iterable[str]) -> dict[str, bytes]:
    """Return the files of local requirements, by their paths below the stage."""
    paths = filter(None, map(local_path, requirements))
    return {f"{_place(path)}{name}": content for path in paths for name, content in _read(path).items()}


def missing_package(requirements: Iterable[str]) -> str:
    """Return why a local requirement cannot be installed; empty if none is missing."""
    for path in filter(None, map(local_path, requirements)):
        if not path.is_absolute():
            return f"{path} is a relative path: name the whole path"
        if not _read(path):
            problem = "has no files" if path.is_dir() else "is not on this machine"
            return f"{path} {problem}: name a folder, a wheel or an archive"
    return ""


def identify(requirements: Iterable[str]) -> list[str]:
    """Return requirements with the digest of their files in place of paths of this machine."""
    paths = ((requirement, local_path(requirement)) for requirement in requirements)
    return [requirement if path is None else f"{path.name} {_digest(_read(path))}" for requirement, path in paths]


def _place(path: Path) -> str:
    return f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}/{path.name}"


@functools.cache
def _read(path: Path) -> Mapping[str, bytes]:
    """Return the files of a folder, by the path after its name, or a file. They are read once in a process, so that a
    run installs the same everywhere."""
    if not path.is_dir():
        content = read_content(path.resolve())
        return {} if content is None else {"": content}
    files: dict[str, bytes] = {}
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT and not name.endswith(".egg-info"))
        for file in (Path(folder, name) for name in sorted(names)):
            content = read_content(file)
            if content is not None:
                files[f"/{file.relative_to(path).as_posix()}"] = content
    return files


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(os.fsencode(name) + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()[:16]
