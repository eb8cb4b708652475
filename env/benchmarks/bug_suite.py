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
_PARTS = ("task.toml", "work", "fix.patch")
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
        """Every task that can be read, by name. Raises BenchmarkError where there is none."""
        return _load(self._path)[0]

    def excluded(self) -> Mapping[str, str]:
        """Tasks whose folder is damaged, with the reason."""
        return _load(self._path)[1]


@functools.cache
def _load(path: Path) -> tuple[tuple[Task, ...], Mapping[str, str]]:
    if not path.is_dir():
        raise BenchmarkError(f"{path} is not a folder of bug tasks")
    folders = sorted(
        folder for folder in path.iterdir() if folder.is_dir() and any((folder / part).exists() for part in _PARTS)
    )
    tasks: list[Task] = []
    excluded: dict[str, str] = {}
    for folder in folders:
        try:
            tasks.append(load_task(folder))
        except BenchmarkError as error:
            excluded[folder.name] = str(error)
    if not tasks:
        reasons = "; ".join(list(excluded.values())[:3])
        raise BenchmarkError(f"{path} holds no bug task (a folder with a task.toml). {reasons}".strip())
    return tuple(tasks), excluded


def load_task(folder: Path) -> Task:
    """One task from its folder. Raises BenchmarkError naming the file."""
    try:
        meta = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
        fix = (folder / "fix.patch").read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"{folder}: {error}") from None
    files, hidden = read_tree(folder / "work"), read_tree(folder / "hidden")
    if not files:
        raise BenchmarkError(f"{folder}: work/ is missing or empty")
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
    except PatchError as error:
        raise BenchmarkError(f"{folder}/fix.patch: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise BenchmarkError(f"{folder}/task.toml: {error} is missing or wrong") from None


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
