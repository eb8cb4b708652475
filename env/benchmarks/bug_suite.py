"""`bugs`: our own suite. One folder per task, in `env/benchmarks/bugs/`.

task.toml       title, statement, category, difficulty, timeout_s; fail_to_pass and pass_to_pass as recorded
work/           what the agent sees
hidden/         laid over it for scoring
fix.patch       the known fix, against work/
proof.json      what its verdicts are sealed with (`env.scoring.proof`); written by `stackrank validate bugs --record`
difficulty.json how hard it is (`env.difficulty`); written by the same command

Every file starts with a canary line, for crawlers. In work/ the line is read as an empty one, so that agents do not see
it and line numbers stay the same.
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError, Source, TaskByTask, own_name
from stackrank.env.benchmarks.files import read_text, read_tree
from stackrank.env.patches import PatchError, find_faults
from stackrank.env.patterns import globs
from stackrank.env.task import Limits, Task
from stackrank.env.validate import Validation

CATEGORIES = (
    "syntax", "runtime", "logic", "state", "iteration", "exceptions", "concurrency", "text", "numbers", "recursion",
)  # fmt: skip
_PARTS = ("task.toml", "work", "fix.patch")
PROOF = "proof.json"
DIFFICULTY = "difficulty.json"
DATA = Path(__file__).parent / "bugs"
_CANARY = r"# [\w-]*canary[\w-]* [0-9a-f-]{36}(?=\r?$)"
_IN_FILE = re.compile(rf"\A{_CANARY}".encode(), re.MULTILINE)
_IN_FIX = re.compile(rf"^ {_CANARY}", re.MULTILINE)
"""The canary line as a context line of a diff."""


class BugSuite(TaskByTask):
    """The built-in bug suite."""

    name = "bugs"
    license = "MIT"
    source = "written for stackrank"

    def __init__(self, source: Source | None = None) -> None:
        """`source.path`: another folder of the same layout."""
        self.folder = (source.path if source else None) or DATA
        if self.folder.resolve() != DATA.resolve():
            self.name = own_name(self.name, self.folder.absolute().name)
        self.empty = f"{self.folder} contains no bug task (a folder with a task.toml)"

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task]]]:
        if not self.folder.is_dir():
            raise BenchmarkError(f"{self.folder} is not a folder of bug tasks")
        for folder in sorted(self.folder.iterdir()):
            if folder.is_dir() and any((folder / part).exists() for part in _PARTS):
                yield folder.name, functools.partial(_load_once, folder)

    def to_record(self, task: Task) -> Task:
        """Return the task without its lists: the new ones must not depend on them."""
        return replace(task, fail_to_pass=(), pass_to_pass=())

    def record(self, validations: Sequence[Validation]) -> None:
        """Write which tests have to pass, the proofs and the difficulties into the tasks' folders."""
        for validation in validations:
            record_validation(self.folder / validation.task, validation)
        _load_once.cache_clear()


def load_task(folder: Path) -> Task:
    """Load one task from its folder. Raises BenchmarkError naming the file."""
    try:
        meta = tomllib.loads(read_text(folder / "task.toml", inside=folder))
    except tomllib.TOMLDecodeError as error:
        raise BenchmarkError(f"{folder}/task.toml is not TOML: {error}") from None
    fix = _IN_FIX.sub(" ", read_text(folder / "fix.patch", inside=folder))
    files = {path: _IN_FILE.sub(b"", content) for path, content in read_tree(folder / "work").items()}
    hidden = read_tree(folder / "hidden")
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
            readonly=globs(("tests/**", "conftest.py")),
            limits=Limits(timeout_s=float(meta.get("timeout_s", 30))),
            proof=read_text(folder / PROOF, inside=folder) if (folder / PROOF).is_file() else "",
            measured=read_text(folder / DIFFICULTY, inside=folder) if (folder / DIFFICULTY).is_file() else "",
        )
    except PatchError as error:
        raise BenchmarkError(f"{folder}/fix.patch: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise BenchmarkError(f"{folder}/task.toml: {error} is missing or wrong") from None


_load_once = functools.cache(load_task)


def record_validation(folder: Path, validation: Validation) -> None:
    """Write the tests that have to pass into a task's file, so that a missing one shows; write proof and difficulty."""
    file = folder / "task.toml"
    toml = re.sub(r"^(fail|pass)_to_pass = \[.*?^\]\n", "", file.read_text(encoding="utf-8"), flags=re.M | re.S)
    lists = (("fail_to_pass", validation.fail_to_pass), ("pass_to_pass", validation.pass_to_pass))
    # A JSON string is a TOML string.
    toml_lists = "".join(
        f"{name} = [\n{''.join(f'    {json.dumps(test)},{chr(10)}' for test in tests)}]\n" for name, tests in lists
    )
    file.write_text(toml.rstrip("\n") + "\n" + toml_lists, encoding="utf-8")
    digest = load_task(folder).digest  # the lists are part of it
    for name, document in ((PROOF, validation.proof), (DIFFICULTY, validation.measured)):
        if document is not None:
            (folder / name).write_text(replace(document, digest=digest).dump(), encoding="utf-8")
