"""`bugs`: our own suite. One folder a task, in `env/benchmarks/bugs/`.

task.toml       title, statement, category, difficulty, timeout_s; fail_to_pass and pass_to_pass as recorded
work/           what the agent sees
hidden/         laid over it for scoring
fix.patch       the known fix, against work/
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from env.benchmarks.base import BenchmarkError, Source
from env.benchmarks.files import read_tree
from env.patches import PatchError, find_faults
from env.task import Limits, Task

CATEGORIES = (
    "syntax", "runtime", "logic", "state", "iteration", "exceptions", "concurrency", "text", "numbers", "recursion",
)  # fmt: skip
DATA = Path(__file__).parent / "bugs"


class BugSuite:
    """The built-in bug suite."""

    name = "bugs"
    license = "MIT"
    source = "written for stackrank"

    def __init__(self, source: Source | None = None) -> None:
        """`source.path`: another folder of the same layout."""
        self._path = (source.path if source else None) or DATA

    def tasks(self) -> Sequence[Task]:
        """Every task, by name. Raises BenchmarkError."""
        return _load(self._path)

    def excluded(self) -> Mapping[str, str]:
        """None are."""
        return {}


@functools.cache
def _load(path: Path) -> tuple[Task, ...]:
    if not path.is_dir():
        raise BenchmarkError(f"{path} is not a folder of bug tasks")
    folders = sorted(folder for folder in path.iterdir() if (folder / "task.toml").is_file())
    if not folders:
        raise BenchmarkError(f"{path} holds no bug task (a folder with a task.toml)")
    return tuple(load_task(folder) for folder in folders)


def load_task(folder: Path) -> Task:
    """One task from its folder. Raises BenchmarkError naming the file."""
    try:
        meta = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
        fix = (folder / "fix.patch").read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"{folder}: {error}") from None
    files, hidden = read_tree(folder / "work"), read_tree(folder / "hidden")
    try:
        faults = find_faults(files, fix)
        visible = " ".join(sorted(path for path in files if Path(path).name.startswith("test_")))
        scored = " ".join([visible, *sorted(path for path in hidden if Path(path).name.startswith("test_"))])
        return Task(
            id=folder.name,
            benchmark=BugSuite.name,
            title=meta["title"],
            statement=meta["statement"],
            category=meta["category"],
            difficulty=meta["difficulty"],
            tags=tuple(meta.get("tags", ())),
            files=files,
            hidden_files=hidden,
            test_command=f"python -m pytest -q -p no:cacheprovider {visible}",
            score_command=f"python -m pytest -q -p no:cacheprovider {scored}",
            fail_to_pass=tuple(meta.get("fail_to_pass", ())),
            pass_to_pass=tuple(meta.get("pass_to_pass", ())),
            fix=fix,
            faults=faults,
            readonly=("tests/**", "conftest.py"),
            limits=Limits(timeout_s=float(meta.get("timeout_s", 30))),
        )
    except (KeyError, PatchError) as error:
        raise BenchmarkError(f"{folder}: {error} is missing or wrong") from None


def record(task_id: str, fail_to_pass: Sequence[str], pass_to_pass: Sequence[str], path: Path = DATA) -> None:
    """Write into a task's file which tests have to pass: what `validate` found, so that a missing one shows."""
    file = path / task_id / "task.toml"
    kept = re.sub(r"^(fail|pass)_to_pass = \[.*?^\]\n", "", file.read_text(encoding="utf-8"), flags=re.M | re.S)
    lists = (("fail_to_pass", fail_to_pass), ("pass_to_pass", pass_to_pass))
    # A JSON string is a TOML string.
    added = "".join(
        f"{name} = [\n{''.join(f'    {json.dumps(t)},{chr(10)}' for t in tests)}]\n" for name, tests in lists
    )
    file.write_text(kept.rstrip("\n") + "\n" + added, encoding="utf-8")
