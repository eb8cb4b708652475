"""The parts of this machine that a bubblewrap sandbox sees."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import stackrank
from stackrank.env.sandbox.base import PROC_HIDDEN, PROC_READ_ONLY

_DEBUGGER = ("gdb", "gcc")
"""The folders of gdb's own Python modules, without which it does not work, and of those that print C++ for it."""

NAMES = Path(__file__).parent / "etc"
"""The files in which a sandbox looks names of machines up. They are mounted over this machine's."""


def proc() -> list[str]:
    """Return arguments for a /proc whose files about the whole machine are read-only or hidden, as in Docker."""
    arguments = ["--proc", "/proc"]
    for path in filter(os.path.exists, PROC_READ_ONLY):
        arguments += ["--ro-bind", path, path]
    for path in filter(os.path.exists, PROC_HIDDEN):
        hide = ["--tmpfs", path, "--remount-ro"] if Path(path).is_dir() else ["--ro-bind", "/dev/null"]
        arguments += [*hide, path]
    return arguments


def system_mounts(python: Path, toolchain: str = "") -> list[str]:
    """Return read-only mounts of the system's programs and of the sandbox's Python, and of nothing else.

    `toolchain`: the language of the tasks, if not Python; compilers and debuggers may be in folders with packages.
    """
    arguments: list[str] = []
    for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        path = Path(folder)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), folder]
        elif path.is_dir():
            arguments += ["--ro-bind", folder, folder]
    arguments += ["--dir", "/etc"]
    for file in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", *map(str, Path("/etc").glob("java-*"))):
        arguments += ["--ro-bind-try", file, file]
    environment = python.parent.parent
    arguments += bind(environment)
    # A Python outside /usr (pyenv, uv, conda) is not among the folders mounted above.
    base = Path(os.path.realpath(python)).parent.parent
    if not base.is_relative_to("/usr") and base != environment:
        arguments += bind(base)
    prefix = Path(sys.base_prefix)
    if not prefix.is_relative_to("/usr") and prefix != base and prefix.is_dir():
        arguments += bind(prefix)
    # Hide all other installed packages from a task: an installed version of its own project would show the fix.
    for top in {base, prefix, Path("/usr"), Path("/usr/local")} - {environment}:
        for packages in sorted(top.glob("lib/python3*/*-packages")):
            arguments += hide(packages)
    for program in _programs_with_packages() if not toolchain else ():
        arguments += hide(program)
    # An installed stackrank contains the hidden tests and the fixes of its own benchmark.
    package = Path(stackrank.__file__).parent
    if any(package.is_relative_to(mounted) for mounted in ("/usr", environment, base, prefix)):
        arguments += hide(package)
    return arguments


def names(folder: Path = NAMES) -> list[str]:
    """Return mounts with which a sandbox knows `localhost` and no name of this machine. `folder`: has these files."""
    places = [Path("/etc", file.name) for file in sorted(folder.iterdir())]
    known = [place for place in places if place.is_file() and not place.is_symlink()]
    return [word for place in known for word in ("--ro-bind", str(folder / place.name), str(place))]


@functools.cache
def _programs_with_packages() -> tuple[Path, ...]:
    """Return the folders below /usr of programs that bring Python packages: these may be a task's project, repaired.

    Folders of libraries for one architecture, of Python itself and of gdb do not count.
    """
    places = ("lib", "lib64", "libexec", "share", "src", "local/lib", "local/share", "local/src")
    folders = [folder for place in places for folder in sorted(Path("/usr", place).glob("*"))]
    return tuple(
        folder
        for folder in folders
        if folder.is_dir()
        and not folder.is_symlink()
        and not (folder / "os.py").is_file()
        and folder.name not in _DEBUGGER
        and "-linux-" not in folder.name
        and any("__init__.py" in files for _, _, files in os.walk(folder))
    )


def hide(folder: Path) -> list[str]:
    """Mount an empty folder over `folder`. It is read-only, because forked sandboxes share it."""
    return ["--tmpfs", str(folder), "--remount-ro", str(folder)]


def bind(folder: Path, seen_as: Path | None = None) -> list[str]:
    """Mount a folder read-only, at its own path or at `seen_as`."""
    target = seen_as or folder
    # By itself, bwrap creates parents with the host's permissions, so that root's home, for example, would be closed.
    parents = [word for parent in reversed(target.parents[:-1]) for word in ("--dir", str(parent))]
    return [*parents, "--ro-bind", str(folder), str(target)]
