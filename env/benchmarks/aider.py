"""`aider`: Exercism's Python practice exercises, as Aider's benchmark uses them.

From a checkout of https://github.com/exercism/python, or of Aider's polyglot benchmark (`python/exercises/practice/`).
In an exercise, `.meta/config.json` says which files are the solution, the tests and the reference; `.docs/` has the
instructions. Agents see the stub, the tests and the instructions, and never `.meta/`, where the reference is.
"""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError, Source, TaskByTask
from stackrank.env.benchmarks.files import commit_of, read_text, read_tree
from stackrank.env.patches import enclosing, make_diff
from stackrank.env.patterns import Pattern
from stackrank.env.task import Fault, Limits, Task
from stackrank.wording import count_of

# Exercises in rewriting code that works: there is nothing to fix.
REFACTORINGS = ("ledger", "markdown")
PLACES = ("exercises/practice", "python/exercises/practice", ".")
CLOSING = """
Change {files} so that the tests pass. Do not rename what the tests import; use the standard library only."""


class Aider(TaskByTask):
    """Exercism's practice exercises."""

    name = "aider"
    license = "MIT"

    def __init__(self, source: Source) -> None:
        """`source.path`: the checkout, or its folder of exercises. Raises BenchmarkError."""
        if source.path is None:
            raise BenchmarkError("aider needs --path: a checkout of exercism/python or of Aider's polyglot benchmark")
        folders = [source.path / place for place in PLACES]
        exercises = next((folder for folder in folders if any(folder.glob("*/.meta/config.json"))), None)
        if exercises is None:
            raise BenchmarkError(f"{source.path} contains no exercise (a folder with .meta/config.json)")
        self._path = exercises
        self.source = f"{source.path.name} {commit_of(source.path)}".strip()

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task] | str]]:
        for folder in sorted(file.parents[1] for file in self._path.glob("*/.meta/config.json")):
            if folder.name in REFACTORINGS:
                yield folder.name, "a refactoring: its stub passes the tests as given"
            else:
                yield folder.name, functools.partial(load_task, folder)


def load_task(folder: Path) -> Task:
    """Load one exercise. Raises BenchmarkError."""
    config = folder / ".meta" / "config.json"
    try:
        data = json.loads(read_text(config))
        parts = data["files"]
        solution, tests, example = (_names(parts, key) for key in ("solution", "test", "example"))
    except (ValueError, KeyError, TypeError) as error:
        raise BenchmarkError(f"{config} cannot be used ({type(error).__name__}: {error}): check it out again") from None
    files = read_tree(folder, [Pattern.glob(".*/")])
    for name in (*solution, *tests):
        if name not in files:
            raise BenchmarkError(f"{config} names {name}, which {folder} does not have")
    if len(example) != len(solution):
        raise BenchmarkError(
            f"{config} has {count_of(len(example), 'reference file')} for {count_of(len(solution), 'solution file')}"
        )
    reference = {}
    for name, path in zip(solution, example, strict=True):
        place = (folder / path).resolve()
        if not place.is_file() or not place.is_relative_to(folder.resolve()):
            raise BenchmarkError(f"{config} names {path}, which {folder} does not have")
        reference[name] = place.read_bytes()
    return Task(
        id=folder.name,
        benchmark=Aider.name,
        title=folder.name.replace("-", " "),
        statement=_instructions(folder) + CLOSING.format(files=", ".join(solution)),
        files=files,
        test_command=f"python -m pytest -q -p no:cacheprovider {shlex.join(tests)}",
        fix=make_diff(files, {**files, **reference}),
        faults=tuple(_whole_file(name, files[name]) for name in solution),
        editable=tuple(map(Pattern.literal, solution)),
        limits=Limits(timeout_s=60),
    )


def _names(parts: dict[str, list[str]], key: str) -> list[str]:
    names = parts[key]
    if not names or not all(isinstance(name, str) for name in names):
        raise KeyError(f"files.{key}")
    return names


def _instructions(folder: Path) -> str:
    parts = [folder / ".docs" / f"{name}.md" for name in ("introduction", "instructions", "instructions.append")]
    return "\n".join(read_text(part).strip() + "\n" for part in parts if part.is_file())


def _whole_file(name: str, content: bytes) -> Fault:
    lines = tuple(range(1, content.count(b"\n") + 2))
    return Fault(name, enclosing(content, lines), lines)
