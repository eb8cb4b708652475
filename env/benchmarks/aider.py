"""`aider`: Exercism's practice exercises, as Aider's benchmark uses them.

From a checkout of Aider's polyglot benchmark, or of one of Exercism's tracks (https://github.com/exercism/python).
In an exercise, `.meta/config.json` says which files are the solution, the tests and the reference; `.docs/` has the
instructions. Agents see the stub, the tests and the instructions, and never `.meta/`, where the reference is.

Python's exercises are played by this module. Those of another language are played by a plug-in of the group
`stackrank.exercises`, whose name is the suffix of the solution's files (`go`): a function that takes an `Exercise` and
the `Source`, and returns the task or raises BenchmarkError with the reason why it cannot be played here.
"""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackrank.env.benchmarks.base import BenchmarkError, Source, TaskByTask
from stackrank.env.benchmarks.files import commit_of, read_file, read_text, read_tree
from stackrank.env.patches import enclosing, make_diff
from stackrank.env.patterns import Pattern
from stackrank.env.task import Fault, Limits, Task
from stackrank.plugins import load_plugin
from stackrank.wording import count_of

GROUP = "stackrank.exercises"
# Exercises in rewriting code that works: there is nothing to fix.
REFACTORINGS = ("ledger", "markdown")
PLACES = ("exercises/practice", ".")
CLOSING = """
Change {files} so that the tests pass. Do not rename what the tests import; use the standard library only."""


class Aider(TaskByTask):
    """Exercism's practice exercises."""

    name = "aider"
    license = "MIT"

    def __init__(self, source: Source) -> None:
        """`source.path`: the checkout, or its folder of exercises. Raises BenchmarkError."""
        if source.path is None:
            raise BenchmarkError("aider needs --path: a checkout of Aider's polyglot benchmark or of an Exercism track")
        tracks = {f"{folder.parts[-3]}/": folder for folder in sorted(source.path.glob(f"*/{PLACES[0]}"))}
        places = [*tracks.items()] or [("", source.path / place) for place in PLACES]
        configs = ((track, file) for track, place in places for file in sorted(place.glob("*/.meta/config.json")))
        self._folders = {f"{track}{file.parents[1].name}": file.parents[1] for track, file in configs}
        if not self._folders:
            raise BenchmarkError(f"{source.path} contains no exercise (a folder with .meta/config.json)")
        self._source = source
        self.source = f"{source.path.name} {commit_of(source.path)}".strip()

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task] | str]]:
        for name, folder in self._folders.items():
            yield name, functools.partial(load_task, folder, name, self._source)


@dataclass(frozen=True)
class Exercise:
    """One exercise, as its folder describes it."""

    id: str
    folder: Path
    statement: str
    files: Mapping[str, bytes]
    """The files that agents see."""
    solution: tuple[str, ...]
    """The files that agents write."""
    tests: tuple[str, ...]
    example: tuple[str, ...]
    """The files of the reference, relative to the folder."""

    def read(self, path: str) -> bytes:
        """Return a file of the reference. Raises BenchmarkError."""
        place = self.folder / path
        if not place.is_file():
            raise BenchmarkError(f"{self.folder / '.meta/config.json'} names {path}, which {self.folder} does not have")
        return read_file(place, inside=self.folder)

    def task(self, reference: Mapping[str, bytes], test_command: str, **fields: Any) -> Task:
        """Return the task. `reference`: files that solve it. `fields`: those of `Task` that differ from Python's."""
        files: Mapping[str, bytes] = fields.pop("files", self.files)
        defaults: dict[str, Any] = {
            "title": self.folder.name.replace("-", " "),
            "statement": self.statement + CLOSING.format(files=", ".join(self.solution)),
            "faults": tuple(_whole_file(name, files[name]) for name in self.solution),
            "editable": tuple(map(Pattern.literal, self.solution)),
            "limits": Limits(timeout_s=60),
        }
        fix = make_diff(files, {**files, **reference})
        fields = {**defaults, **fields}
        return Task(self.id, Aider.name, files=files, test_command=test_command, fix=fix, **fields)


def read_exercise(folder: Path, name: str) -> Exercise:
    """Read one exercise. Raises BenchmarkError."""
    config = folder / ".meta" / "config.json"
    try:
        data = json.loads(read_text(config, inside=folder))
        parts = data["files"]
        solution, tests, example = (_names(parts, key) for key in ("solution", "test", "example"))
    except (ValueError, KeyError, TypeError) as error:
        raise BenchmarkError(f"{config} cannot be used ({type(error).__name__}: {error}): check it out again") from None
    files = read_tree(folder, [Pattern.glob(".*/")])
    for file in (*solution, *tests):
        if file not in files:
            raise BenchmarkError(f"{config} names {file}, which {folder} does not have")
    return Exercise(name, folder, _instructions(folder), files, tuple(solution), tuple(tests), tuple(example))


def load_task(folder: Path, name: str, source: Source) -> Task:
    """Load the task of one exercise. Raises BenchmarkError, PluginError."""
    if folder.name in REFACTORINGS:
        raise BenchmarkError("a refactoring: its stub passes the tests as given")
    exercise = read_exercise(folder, name)
    suffix = Path(exercise.solution[0]).suffix.removeprefix(".")
    if suffix != "py":
        load: Callable[[Exercise, Source], Task] | None = load_plugin(GROUP, suffix)
        if load is None:
            raise BenchmarkError(f"no plug-in plays exercises whose files end with .{suffix}")
        return load(exercise, source)
    solution, example = exercise.solution, exercise.example
    if len(example) != len(solution):
        raise BenchmarkError(
            f"{folder / '.meta/config.json'} has {count_of(len(example), 'reference file')} for "
            f"{count_of(len(solution), 'solution file')}"
        )
    reference = {name: exercise.read(path) for name, path in zip(solution, example, strict=True)}
    command = f"python -m pytest -q -p no:cacheprovider {shlex.join(exercise.tests)}"
    return exercise.task(reference, command, tags=("python",))


def _names(parts: dict[str, list[str]], key: str) -> list[str]:
    names = parts[key]
    if not names or not all(isinstance(name, str) for name in names):
        raise KeyError(f"files.{key}")
    return names


def _instructions(folder: Path) -> str:
    parts = [folder / ".docs" / f"{name}.md" for name in ("introduction", "instructions", "instructions.append")]
    return "\n".join(read_text(part, inside=folder).strip() + "\n" for part in parts if part.is_file())


def _whole_file(name: str, content: bytes) -> Fault:
    lines = tuple(range(1, content.count(b"\n") + 2))
    return Fault(name, enclosing(content, lines), lines)
