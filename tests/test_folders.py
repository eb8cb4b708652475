"""Folders that a newcomer can take in: few modules, short files, and a docstring that says what belongs there."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.test_layout import ROOT

ROOMS = ("agents", "dashboard", "db", "env", "extensions", "flows", "src", "tests")
MOST_MODULES = 16
MOST_LINES = 400
DATA = ("env/benchmarks/bugs", "extensions/authoring/benchmarks/deep", "tests/env/scoring/bounty/cheats")
"""Folders of tasks and of cheats."""
SCRIPTS = (
    "dashboard/app_pages",
    "extensions/fix/app_pages",
    "db/migrations",
    "extensions/harbor/harbor_verifier",
    "src",
    "tests",
)
"""Folders whose modules are no package for readers: pages, migrations, files copied elsewhere, links, tests."""


def modules() -> Iterator[Path]:
    """Every module, relative to the repository. Links are not followed."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            relative = path.relative_to(ROOT)
            if not relative.as_posix().startswith(DATA) and not any(parent.is_symlink() for parent in path.parents):
                yield relative


def test_no_folder_is_crowded() -> None:
    counts = Counter(path.parent.as_posix() for path in modules() if path.name != "__init__.py")
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_no_module_is_long() -> None:
    files = [path for path in modules() if not path.is_relative_to("db/migrations")]
    lengths = {path.as_posix(): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in files}
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}


def test_every_package_says_what_belongs_there() -> None:
    folders = {path.parent for path in modules() if not path.as_posix().startswith(SCRIPTS)}
    silent = []
    for folder in sorted(folders):
        package = ROOT / folder / "__init__.py"
        if not package.exists() or not ast.get_docstring(ast.parse(package.read_text(encoding="utf-8"))):
            silent.append(folder.as_posix())
    assert silent == []
