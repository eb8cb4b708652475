"""What `stackrank validate --record` stores beside a recipe.

LIBRARY.json    task or release -> what lists show of it, how hard it is (`env.difficulty`) included
LIBRARY.proofs  task or release -> its proof (`env.scoring.proof`): compressed, because proofs are long, and because
                they hold expected values of the library's own tests, which crawlers should not read
LIBRARY.faults  release -> which tests judge which of its faults (`tests_of_faults`): compressed, because they are many
"""

from __future__ import annotations

import functools
import hashlib
import json
import lzma
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stackrank.env.benchmarks.description import TaskDescription, read_description
from stackrank.env.difficulty import VERSION as DIFFICULTY_VERSION
from stackrank.env.scoring.by_fault.tests_of_faults import TestsOfFaults
from stackrank.env.scoring.proof import is_stored
from stackrank.extensions.authoring.benchmarks.deep_recipe import Recipe
from stackrank.home import write_whole

_VERSION = f"2.{DIFFICULTY_VERSION}"


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """What is stored of one task."""

    recipe: str
    """Digest of the part of the recipe that makes the task, see `digest_of_recipe`."""
    description: TaskDescription

    def is_complete(self, recipe: Recipe) -> bool:
        """Whether the description is what loading the task would give: of this recipe, and with all known proofs."""
        if self.recipe != digest_of_recipe(recipe, self.description.id):
            return False
        return self.description.deciding is not None or not is_stored(self.description.digest)

    @property
    def measured(self) -> str:
        """The difficulty, as a task takes it; empty if it was not measured."""
        return self.description.measured.dump() if self.description.measured else ""


def digest_of_recipe(recipe: Recipe, task_id: str) -> str:
    """Return the digest of all that a recipe says about a task or a release."""
    parts = recipe.releases.get(task_id, [task_id])
    shared = recipe.model_dump(mode="json", exclude={"tasks", "releases"})
    text = json.dumps([shared, [recipe.task(part).model_dump(mode="json") for part in parts]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_records(recipe_file: Path) -> dict[str, TaskRecord]:
    """Return what is stored of the tasks of a recipe."""
    file = recipe_file.with_suffix(".json")
    document = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if document.get("version") != _VERSION:
        return {}
    return {
        name: TaskRecord(row["recipe"], read_description(row["description"])) for name, row in document["tasks"].items()
    }


def write_records(recipe_file: Path, records: Mapping[str, TaskRecord]) -> None:
    """Store these records, in the place of all others of the recipe."""
    rows: dict[str, Any] = {
        name: {"recipe": records[name].recipe, "description": records[name].description.document()}
        for name in sorted(records)
    }
    text = json.dumps({"version": _VERSION, "tasks": rows}, indent=1) + "\n"
    write_whole(recipe_file.with_suffix(".json"), text)


@functools.lru_cache(maxsize=64)
def read_proofs(recipe_file: Path) -> Mapping[str, str]:
    """Return the stored proofs of the tasks of a recipe, as JSON."""
    file = recipe_file.with_suffix(".proofs")
    return dict(json.loads(lzma.decompress(file.read_bytes()))) if file.is_file() else {}


def write_proofs(recipe_file: Path, proofs: Mapping[str, str]) -> None:
    """Store these proofs, in the place of all others of the recipe."""
    text = json.dumps({name: proofs[name] for name in sorted(proofs)})
    write_whole(recipe_file.with_suffix(".proofs"), lzma.compress(text.encode()))
    read_proofs.cache_clear()


@functools.lru_cache(maxsize=64)
def _read_faults(recipe_file: Path) -> Mapping[str, Any]:
    file = recipe_file.with_suffix(".faults")
    return dict(json.loads(lzma.decompress(file.read_bytes()))) if file.is_file() else {}


def read_tests(recipe_file: Path, recipe: Recipe) -> dict[str, TestsOfFaults]:
    """Return which tests judge the faults of releases, of those that are still as they were when this was found out."""
    return {
        name: TestsOfFaults({fault: tuple(own) for fault, own in row["shown"].items()}, tuple(row["kept"]))
        for name, row in _read_faults(recipe_file).items()
        if name in recipe.releases and row["recipe"] == digest_of_recipe(recipe, name)
    }


def write_tests(recipe_file: Path, recipe: Recipe, tests: Mapping[str, TestsOfFaults]) -> None:
    """Store which tests judge the faults of these releases, in the place of all others of the recipe."""
    rows = {name: {"recipe": digest_of_recipe(recipe, name), **asdict(tests[name])} for name in sorted(tests)}
    write_whole(recipe_file.with_suffix(".faults"), lzma.compress(json.dumps(rows).encode()))
    _read_faults.cache_clear()
