"""Writes problems with an approved fix as tasks with a known fix, to be proved, attacked and played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stackrank.env.benchmarks.repo_schema import TASKS_FILE, read_tasks, write_tasks
from stackrank.extensions.fix.finding.folder import SOLVED
from stackrank.patches.reading import Patch


def write_solved(approved: Sequence[Mapping[str, Any]], out: Path) -> Path | None:
    """Write the tasks of the folder `out` whose tests an approved change makes pass into a subfolder, with that change
    as their fix, and return the file. If there are none, return None and delete the previous file.

    Raises BenchmarkError if the tasks of `out` cannot be read.
    """
    file, tasks = out / SOLVED / TASKS_FILE, out / TASKS_FILE
    fixes = {
        (row["base"], name): row["diff"]
        for row in approved
        for name in (*row["tests"], *row["evidence"]["fixed"], row["problem"], *row["evidence"]["covers"])
    }
    content = read_tasks(tasks)[0] if tasks.is_file() else None
    solved = []
    for entry in content.tasks if content else ():
        fix_texts = {fixes.get((entry.source.commit or "", test)) for test in entry.fail_to_pass or [entry.id]}
        if len(fix_texts) == 1 and (fix := fix_texts.pop()):
            solved.append(entry.model_copy(update={"fix": _below(entry.source.subdir, fix)}))
    if content is None or not solved:
        file.unlink(missing_ok=True)
        return None
    file.parent.mkdir(exist_ok=True)
    write_tasks(file, content.model_copy(update={"tasks": solved}))
    return file


def _below(subdir: str, patch: str) -> str:
    """Return a patch of a repository with paths relative to a folder of it."""
    return patch if subdir == "." else Patch.read(patch).renamed(lambda path: path.removeprefix(f"{subdir}/")).text
