"""Recipes of `deep`: one YAML file per library, which says what to take and where to break it. See `Recipe`.

A recipe contains nothing of the library but ids of its tests: it names the places that change by line and column, and
the new text there is ours.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.files import read_text
from stackrank.env.mutation.edits import Edit, apply_edits, difference
from stackrank.source import parse_python
from stackrank.yaml_text import load_yaml

if TYPE_CHECKING:
    from stackrank.extensions.authoring.inject.candidates import Mutant

_NAME = r"^[a-z0-9][a-z0-9-]*$"
_PLACE = re.compile(r"([^:]+):(\d+):(\d+)-(\d+):(\d+)")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RecipeChange(_Model):
    """One place in the original library, and what replaces it."""

    place: str = Field(pattern=f"^{_PLACE.pattern}$")
    """`file:line:column-line:column`, lines from 1, columns from 0 in characters; without width if text is added."""
    write: str | None = None
    """The text that replaces the place."""
    operator: str = ""
    """Instead of `write`: the operator of `inject.deep_operators` that makes the change."""
    number: int = Field(default=0, ge=0)
    """Which of the operator's proposals to take."""

    @model_validator(mode="after")
    def _one_of_both(self) -> RecipeChange:
        if (self.write is None) == (not self.operator):
            raise ValueError("it needs either `write` or `operator`")
        return self

    @property
    def file(self) -> str:
        """The file that changes."""
        return self.place.partition(":")[0]

    @property
    def key(self) -> str:
        """The key that `inject` gives to a change that an operator makes."""
        return f"{self.place} {self.operator} {self.number}"


class TaskRecipe(_Model):
    """One task."""

    id: str = Field(pattern=_NAME)
    title: str
    statement: str
    """What a user of the library reports."""
    category: str
    changes: list[RecipeChange] = Field(min_length=1)
    reworded: list[RecipeChange] = []
    """Comments and docstrings beside the fault that state the rule that it breaks, and what stands there instead."""
    broken: str
    """Digest of the changed files, see `digest_of`."""
    report: str = ""
    """A test that shows it through the library's public interface; agents see it."""
    suite: list[str] = []
    """Files of the library's own tests that agents see and every verdict runs, in addition to those of the recipe.
    Without a `report`, some of these tests show the fault.
    """
    hidden: list[str] = []
    """Ids of the library's own tests, or their files, that agents do not have and every verdict runs: some that notice
    the fault, and some that run the code around it and have to keep passing.
    """
    hidden_report: str = ""
    """More tests like the report, for the verdict."""

    @model_validator(mode="after")
    def _something_hidden(self) -> TaskRecipe:
        if not (self.report or self.suite):
            raise ValueError("it needs `report` or `suite`: agents need a test that shows the fault")
        if not (self.hidden or self.hidden_report):
            raise ValueError(
                "it needs `hidden` or `hidden_report`: a verdict from visible tests alone cannot be sealed"
            )
        return self


class Recipe(_Model):
    """One library and its tasks."""

    library: str
    version: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """The hash of its source distribution."""
    license: str
    package: str
    """The folder, or the file, with its code; nothing else may be edited."""
    requirements: list[str] = []
    """What else pip installs for it: pinned, with hashes, and complete."""
    options: str = ""
    """Options of pytest for every command."""
    omit: list[str] = []
    """Gitignore patterns of files that nobody needs."""
    suite: list[str] = []
    """The library's quick tests that agents can run, and that every verdict runs: files or ids."""
    own_tests: list[str] = []
    """The files, folders and classes (as ids) of the library's own tests that pass in a sandbox with only what the
    fields below name, and that measure no time. `fresh` looks for faults with them; if empty, for none here."""
    tests_need: list[str] = []
    """What else the library's own tests need from the source distribution: files and folders, such as a `conftest.py`
    at its top, or a test file that others import."""
    test_requirements: list[str] = []
    """What else pip installs for these tests: as in `requirements`."""
    timeout_s: float = Field(default=60, gt=0)
    tasks: list[TaskRecipe] = Field(min_length=1)
    releases: dict[str, list[str]] = {}
    """Tasks of `releases`: id -> ids of the tasks above whose faults it has."""

    @model_validator(mode="after")
    def _known_tasks(self) -> Recipe:
        task_ids = {task.id for task in self.tasks}
        for release, parts in self.releases.items():
            if not re.fullmatch(_NAME, release) or release in task_ids:
                raise ValueError(
                    f"{release!r} is no name for a release: it needs small letters, digits and hyphens, and "
                    "no task may have it"
                )
            if len(set(parts)) < max(len(parts), 2):
                raise ValueError(f"the release {release} needs at least two tasks, each of them once")
            if unknown := [part for part in parts if part not in task_ids]:
                raise ValueError(f"the release {release} names {unknown[0]}, which is no task of this library")
        return self

    def task(self, task_id: str) -> TaskRecipe:
        """Return the task of that name. Raises KeyError."""
        return {task.id: task for task in self.tasks}[task_id]


def read_recipe(file: Path) -> Recipe:
    """Read a recipe. Raises BenchmarkError, which names the file and the field."""
    try:
        return Recipe.model_validate(load_yaml(read_text(file, inside=file.parent)))
    except yaml.YAMLError as error:
        raise BenchmarkError(f"{file} is not YAML: {' '.join(str(error).split())[:200]}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise BenchmarkError(f"{file}: {place}: {first['msg'].removeprefix('Value error, ')}") from None


def plant(files: Mapping[str, bytes], changes: Sequence[RecipeChange]) -> dict[str, bytes]:
    """Return the files that change, with the changes. Raises BenchmarkError for a change that is not possible."""
    edits: dict[str, list[Edit]] = defaultdict(list)
    for change in changes:
        if change.file not in files:
            raise BenchmarkError(f"{change.place}: there is no such file")
        edits[change.file].append(_edit(files[change.file], change))
    return {file: _changed(file, files[file].decode(), file_edits) for file, file_edits in edits.items()}


def digest_of(broken: Mapping[str, bytes]) -> str:
    """Return a digest of the changed files, to notice a recipe that no longer makes the same files."""
    sha256 = hashlib.sha256()
    for path in sorted(broken):
        sha256.update(path.encode() + b"\0" + broken[path] + b"\0")
    return sha256.hexdigest()[:16]


def _changed(file: str, text: str, edits: list[Edit]) -> bytes:
    if any(first.end > second.start for first, second in pairwise(sorted(edits))):
        raise BenchmarkError(f"{file}: its changes overlap")
    text = apply_edits(text, edits)
    try:
        parse_python(text.encode())
    except (SyntaxError, ValueError) as error:
        raise BenchmarkError(f"{file}: with this change it is not valid Python ({error})") from None
    return text.encode()


def _edit(content: bytes, change: RecipeChange) -> Edit:
    """Return the start and the end of the change in characters, and its new text."""
    text = content.decode()
    if change.write is None:
        return difference(text, _by_operator(change, content))
    location = _PLACE.fullmatch(change.place)
    assert location is not None
    lines = text.split("\n")
    line, column, last_line, last_column = (int(number) for number in location.groups()[1:])
    offsets = []
    for row, place in ((line, column), (last_line, last_column)):
        if not 1 <= row <= len(lines) or place > len(lines[row - 1]):
            raise BenchmarkError(f"{change.place}: there is no such place")
        offsets.append(sum(len(number) + 1 for number in lines[: row - 1]) + place)
    if offsets[0] > offsets[1]:
        raise BenchmarkError(f"{change.place}: it ends before it begins")
    return Edit(offsets[0], offsets[1], change.write)


def _by_operator(change: RecipeChange, content: bytes) -> str:
    mutant = _proposals(change.file, content).get(change.key)
    if mutant is None:
        raise BenchmarkError(f"{change.key}: no such change is possible there")
    return mutant.source().decode()


@functools.lru_cache(maxsize=8)
def _proposals(file: str, content: bytes) -> Mapping[str, Mutant]:
    # Imported late, because most commands read no syntax tree.
    from stackrank.extensions.authoring.inject.candidates import of_file
    from stackrank.extensions.authoring.inject.deep_operators import DEEP
    from stackrank.extensions.authoring.inject.reach import Reach

    everywhere = dict.fromkeys(range(1, content.count(b"\n") + 2), 0)
    reach = Reach(("any",), (0.0,), (frozenset({0}),), {file: everywhere})
    return {mutant.key: mutant for mutant in of_file(file, content, reach, DEEP)}
