"""A benchmark of folders, each with a program, its fix and two files of tests."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

from stackrank.api import BenchmarkError, Pattern, Source, Task


class Puzzles:
    """Each folder below `--path` is a task, with the files that `read_task` reads."""

    name = "puzzles"
    license = "MIT"
    source = "docs/examples/benchmark"

    def __init__(self, source: Source) -> None:
        """Raises BenchmarkError if no folder is given."""
        if source.path is None or not source.path.is_dir():
            raise BenchmarkError("puzzles needs --path: the folder with a folder for each task")
        self._folders = sorted(path.parent for path in source.path.glob("*/statement.txt"))

    def tasks(self) -> Sequence[Task]:
        """Return a task for each folder that has a fix."""
        return [read_task(folder) for folder in self._folders if (folder / "fixed.py").exists()]

    def excluded(self) -> Mapping[str, str]:
        """Return the other folders, with the reason."""
        return {folder.name: "it has no fixed.py" for folder in self._folders if not (folder / "fixed.py").exists()}


def read_task(folder: Path) -> Task:
    """Read a folder. The agent sees `program.py` and `test_seen.py`; the verdict needs `test_hidden.py` as well."""
    broken, fixed = ((folder / name).read_text("utf-8") for name in ("broken.py", "fixed.py"))
    lines = difflib.unified_diff(
        broken.splitlines(keepends=True), fixed.splitlines(keepends=True), "a/program.py", "b/program.py"
    )
    return Task(
        id=folder.name,
        benchmark=Puzzles.name,
        statement=(folder / "statement.txt").read_text("utf-8").strip(),
        files={"program.py": broken.encode(), "test_seen.py": (folder / "test_seen.py").read_bytes()},
        test_command="python -m pytest -q test_seen.py",
        score_command="python -m pytest -q test_seen.py test_hidden.py",
        hidden_files={"test_hidden.py": (folder / "test_hidden.py").read_bytes()},
        fix="".join(lines),
        readonly=(Pattern.literal("test_seen.py"),),
    )
