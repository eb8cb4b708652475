"""Copies packages of the sandbox's own Python environment, the kit, into the environment that it runs in.

Runs while an environment is built, by the Python of that environment: `kit.py KIT WHICH PINS`. Installing the same
packages again takes ten times as long. It relies only on Python 3.8. Exit status 1: the kit does not have them for this
Python, and nothing was copied.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

OWN = Path(sys.prefix)
_INTERPRETER = re.compile(rb"/[^\s\"']*/bin/python[\d.]*")


def main(kit: str, which: str, pins_file: str) -> bool:
    """Copy what the file `PINS` pins (`which` is `pinned`), or everything else (`others`). Returns whether it did."""
    text = Path(pins_file).read_text(encoding="utf-8")
    pins = {_normal(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.M)}
    packages = _packages(Path(kit))
    if which == "pinned":
        chosen = [package for name, package in packages.items() if pins.get(name) == package.version]
        if len(chosen) < len(pins):
            return False
    else:
        chosen = [package for name, package in packages.items() if name not in pins]
        if "pip" not in packages:
            return False
    installed = _packages(OWN)
    for package in chosen:
        name = _normal(package.metadata["Name"])
        if name in installed:
            _remove(installed[name])
        _copy(package, Path(kit))
    return True


def _packages(prefix: Path) -> dict[str, Distribution]:
    folder = prefix / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"
    return {_normal(package.metadata["Name"]): package for package in distributions(path=[str(folder)])}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _remove(package: Distribution) -> None:
    for file in package.files or ():
        path = Path(str(file.locate()))
        if path.is_file():
            path.unlink()


def _copy(package: Distribution, kit: Path) -> None:
    for file in package.files or ():
        source = Path(os.path.normpath(str(file.locate())))
        if kit not in source.parents or not source.is_file():
            continue
        target = OWN / source.relative_to(kit)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(str(source), str(target))
        if target.parent == OWN / "bin":
            _use_own_python(target)


def _use_own_python(script: Path) -> None:
    """Let a script start the Python of this environment."""
    content = script.read_bytes()
    named = _INTERPRETER.search(content[:300])
    if content.startswith(b"#!") and named is not None:
        script.write_bytes(content.replace(named.group(), os.fsencode(str(OWN / "bin" / "python"))))


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
