"""The folder that `fix` and `review` write into. It is for one repository; users' files are not overwritten."""

from __future__ import annotations

import re
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.repo_schema import TASKS_FILE

MARKER = "repository.txt"
"""Names the repository that the folder is for. If it exists, stackrank wrote everything under the names below."""
CLONE, COMMENT, SOLVED, STARTED, TESTS = "clone", "comment.md", "solved", "started.json", "tests"
_OURS = (MARKER, TASKS_FILE, CLONE, COMMENT, SOLVED, STARTED, TESTS)
PATCH = re.compile(r"\d{4,}-.*\.patch")


def require_usable(out: Path, repository: str | Path) -> None:
    """Raises BenchmarkError if the folder is for another repository, or contains files that would be overwritten but
    were not written by `fix` or `review`. Writes nothing.
    """
    if out.exists() and not out.is_dir():
        raise BenchmarkError(f"{out} is a file: name a folder with --out")
    marker = out / MARKER
    if marker.is_file():
        owner = marker.read_text(encoding="utf-8", errors="surrogateescape").removesuffix("\n")
        if owner != str(repository):
            raise BenchmarkError(f"{out} is for {owner}, and this is {repository}: name another folder with --out")
        return
    names = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    conflicting = [name for name in names if name in _OURS or PATCH.fullmatch(name)]
    if conflicting:
        raise BenchmarkError(
            f"{out} contains {conflicting[0]}, which `fix` and `review` did not write, but would overwrite: name "
            "another folder with --out"
        )


def claim(out: Path, repository: str | Path) -> None:
    """Create the folder, and record which repository it is for. Raises the same as `require_usable`."""
    require_usable(out, repository)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARKER).write_text(f"{repository}\n", encoding="utf-8", errors="surrogateescape")
