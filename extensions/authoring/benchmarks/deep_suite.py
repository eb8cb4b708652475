"""`deep`: faults far from their failures, in real libraries. `releases`: several of these faults at once.

There is one recipe per library, in `extensions/authoring/benchmarks/deep/`:

LIBRARY.yaml    what to take, and its tasks (`deep_recipe`)
LIBRARY.json    what lists show of them, LIBRARY.proofs, what their verdicts are sealed with, and LIBRARY.faults, which
                tests judge which fault of a release (`deep_record`); `stackrank validate --record` writes them
changes.jsonl   labelled changes of the tasks of `deep`, and rates.json, the error rates of their verdicts
                (`authoring.rates`)

Nothing of a library is in this repository: its source distribution is downloaded once, checked by its hash, into
stackrank's home, where nothing in a sandbox finds it. An agent sees the library with the fault in it, without the test
files that notice the fault, and a user's report with a test. The verdict comes from both.
"""

from __future__ import annotations

import functools
import io
import shlex
import tarfile
import textwrap
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from stackrank.env.benchmarks.base import BenchmarkError, Source, TaskByTask, family_of, own_name
from stackrank.env.benchmarks.description import TaskDescription, describe
from stackrank.env.benchmarks.testfiles import TEST_NAMES, TEST_PATTERNS, without_tests
from stackrank.env.difficulty import find_difficulty
from stackrank.env.environment import Environment
from stackrank.env.patches import find_faults, make_diff
from stackrank.env.patterns import Matcher, Pattern, globs
from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.env.scoring.by_fault.tests_of_faults import TestsOfFaults, with_tests
from stackrank.env.task import Limits, Part, Task
from stackrank.env.validate import Validation
from stackrank.extensions.authoring.benchmarks.deep_recipe import Recipe, TaskRecipe, digest_of, plant, read_recipe
from stackrank.extensions.authoring.benchmarks.deep_record import (
    TaskRecord,
    digest_of_recipe,
    read_proofs,
    read_records,
    read_tests,
    write_proofs,
    write_records,
    write_tests,
)
from stackrank.extensions.authoring.benchmarks.source_archive import archive_path, fetch_missing, read_archive
from stackrank.extensions.authoring.inject.leftovers import left_behind
from stackrank.wording import count_of

DATA = Path(__file__).parent / "deep"
REPORT, HIDDEN_REPORT = "test_report.py", "test_more_reports.py"
_LETTER = """\
Since we upgraded {library}, several things no longer work that worked before. So far our users report:

{reports}

Each of these has its own cause. Fix as many of them as you can: each one counts by itself, as long as nothing breaks
that works now. If the number of actions is too short for all of them, leave some as they are."""


@dataclass(frozen=True, slots=True)
class _Outline:
    id: str
    benchmark: str
    title: str
    statement: str
    category: str


class Deep(TaskByTask):
    """Deep faults in real libraries."""

    name = "deep"

    def __init__(self, source: Source | None = None) -> None:
        """`source.path`: another folder of recipes. Raises BenchmarkError."""
        self._source = source or Source()
        self.folder = self._source.path or DATA
        if self.folder.resolve() != DATA.resolve():
            self.name = own_name(self.name, self.folder.absolute().name)
        if self._source.fetch:
            self.empty = f"{self.folder} contains no usable recipe (LIBRARY.yaml)"
        else:
            command = f"stackrank tasks {family_of(self.name)}"
            self.empty = f"the libraries of {self.name} have not been downloaded: run `{command}`"
        self._recipes = {file: read_recipe(file) for file in sorted(self.folder.glob("*.yaml"))}
        self.license = ", ".join(sorted({recipe.license for recipe in self._recipes.values()}))
        libraries = [f"{recipe.library} {recipe.version}" for recipe in self._recipes.values()]
        self.source = (
            ", ".join(libraries) if len(libraries) <= 3 else f"{count_of(len(libraries), 'library')} of a package index"
        )

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task]]]:
        recipes = [recipe for recipe in self._recipes.values() if self._ids(recipe)]
        if self._source.fetch:
            fetch_missing(recipes)
        elif not any(archive_path(recipe.sha256).is_file() for recipe in recipes):
            return  # `empty` reports it once, not for each task
        for file, recipe in self._recipes.items():
            for task_id in self._ids(recipe):
                yield task_id, functools.partial(self._load_recorded, file, task_id)

    def descriptions(self) -> tuple[Sequence[TaskDescription], Mapping[str, str]]:
        """Return what lists show of the tasks; a task is loaded only if the record says too little about it."""
        described: list[TaskDescription] = []
        excluded: dict[str, str] = {}
        for file, recipe in self._recipes.items():
            records = read_records(file)
            for task_id in self._ids(recipe):
                record = records.get(task_id)
                if record is not None and record.is_complete(recipe):
                    described.append(record.description)
                    continue
                try:
                    described.append(describe(self._load_recorded(file, task_id)))
                except BenchmarkError as error:
                    excluded[task_id] = " ".join(str(error).split())
        return described, excluded

    def to_record(self, task: Task) -> Task:
        """Return the task without its lists: the new ones must not depend on them."""
        return replace(task, fail_to_pass=(), pass_to_pass=())

    def record(self, validations: Sequence[Validation]) -> None:
        """Write what lists show of tasks, and their proofs, into files next to their recipes."""
        by_task = {validation.task: validation for validation in validations}
        for file, recipe in self._recipes.items():
            names = [name for name in self._ids(recipe) if name in by_task]
            if not names:
                continue
            known = {*(task.id for task in recipe.tasks), *recipe.releases}
            proofs = {name: text for name, text in read_proofs(file).items() if name in known}
            records = {name: record for name, record in read_records(file).items() if name in known}
            for name in names:
                if proof := by_task[name].proof:
                    proofs[name] = proof.dump()
                measured = by_task[name].measured
                task = self._load(recipe, name, measured.dump() if measured else "", proofs.get(name, ""))
                records[name] = TaskRecord(digest_of_recipe(recipe, name), describe(task))
            write_proofs(file, proofs)
            write_records(file, records)

    def _ids(self, recipe: Recipe) -> Iterable[str]:
        return [task.id for task in recipe.tasks]

    def _load_recorded(self, file: Path, task_id: str) -> Task:
        record = read_records(file).get(task_id)
        return self._load(
            self._recipes[file], task_id, record.measured if record else "", read_proofs(file).get(task_id, "")
        )

    def _load(self, recipe: Recipe, task_id: str, measured: str, proof: str) -> Task:
        return load_task(recipe, recipe.task(task_id), measured, proof, self._source.fetch)


class Releases(Deep):
    """Releases of real libraries with several deep faults each; the outcome is the share of them that are mended."""

    name = "releases"

    def __init__(self, source: Source | None = None) -> None:
        """`source.path`: another folder of recipes. Raises BenchmarkError."""
        super().__init__(source)
        self.folder /= Releases.name  # next to the recipes are the labelled changes of `deep`

    def to_record(self, task: Task) -> Task:
        """Return the task with its faults, but without their tests: validation finds out which these are."""
        recipe = next(recipe for recipe in self._recipes.values() if task.id in recipe.releases)
        return self._compose(recipe, task.id, "", "", None)

    def record(self, validations: Sequence[Validation]) -> None:
        """Write which tests judge which fault, and what is written of any task."""
        for file, recipe in self._recipes.items():
            new = {row.task: row.by_fault for row in validations if row.task in recipe.releases and row.by_fault}
            if new:
                write_tests(file, recipe, {**read_tests(file, recipe), **new})
        super().record(validations)

    def _ids(self, recipe: Recipe) -> Iterable[str]:
        return recipe.releases

    def _load(self, recipe: Recipe, task_id: str, measured: str, proof: str) -> Task:
        """Load a release. Until it is recorded, all of its tests judge it as if it had one fault."""
        file = next(file for file, other in self._recipes.items() if other is recipe)
        tests = read_tests(file, recipe).get(task_id)
        task = self._compose(recipe, task_id, measured, proof, tests)
        return task if tests else replace(task, parts=())

    def _compose(self, recipe: Recipe, task_id: str, measured: str, proof: str, tests: TestsOfFaults | None) -> Task:
        parts = [recipe.task(part) for part in recipe.releases[task_id]]
        outline = _Outline(
            id=task_id,
            benchmark=Releases.name,
            title=f"{count_of(len(parts), 'fault')} in one release of {recipe.library}",
            statement=_LETTER.format(library=recipe.library, reports=_listed(part.statement for part in parts)),
            category="several faults",
        )
        return _load(recipe, outline, parts, measured, proof, self._source.fetch, tests)


def load_task(recipe: Recipe, task: TaskRecipe, measured: str = "", proof: str = "", fetch: bool = True) -> Task:
    """Load one task. Raises BenchmarkError."""
    outline = _Outline(task.id, Deep.name, task.title, task.statement.strip(), task.category)
    return _load(recipe, outline, [task], measured, proof, fetch)


def _load(
    recipe: Recipe,
    outline: _Outline,
    parts: Sequence[TaskRecipe],
    measured: str,
    proof: str,
    fetch: bool,
    tests: TestsOfFaults | None = None,
) -> Task:
    """Load a task with the faults and the tests of all `parts`. Raises BenchmarkError.

    With several, each part of the task has the fix of its fault alone, and its tests if `tests` says which they are.
    """
    library = library_files(recipe, fetch)
    files = without(library, globs(recipe.omit))
    planted = [plant(files, [*part.changes, *part.reworded]) for part in parts]
    for part, part_digest in zip(parts, map(digest_of, planted), strict=True):
        if part_digest != part.broken:
            raise BenchmarkError(
                f"{part.id}: its changes create different files than before ({part_digest}, not {part.broken})"
            )
    reworded = [change for part in parts for change in part.reworded]
    changes = [change for part in parts for change in part.changes]
    broken = planted[0] if len(parts) == 1 else plant(files, [*changes, *reworded])
    right = {**files, **plant(files, reworded)}
    hidden_tests = list(dict.fromkeys(test for part in parts for test in part.hidden))
    suite = list(dict.fromkeys(path for part in parts for path in part.suite))
    noticing = dict.fromkeys(path_of(test) for test in hidden_tests)
    if missing := [path for path in (*noticing, *suite) if path not in library]:
        raise BenchmarkError(f"{outline.id}: {recipe.library} {recipe.version} has no {missing[0]}")
    hidden = {path: library[path] for path in noticing}
    visible_suite = {path: without_tests(library[path], hidden_tests, path) for path in suite}
    workspace = {path: content for path, content in {**files, **broken}.items() if path not in hidden}
    if noticing or visible_suite:
        # Files that tests share go where the tests are: into the workspace only if some tests are there.
        (workspace if visible_suite else hidden).update(
            _files_around(library, (*noticing, *suite), recipe.tests_need, files)
        )
    reports = _files_of_texts(REPORT, [part.report for part in parts])
    hidden_reports = _files_of_texts(HIDDEN_REPORT, [part.hidden_report for part in parts])
    workspace |= visible_suite | reports
    hidden |= hidden_reports
    library_tests = [test for test in recipe.suite if path_of(test) not in hidden and test not in visible_suite]
    visible = [*reports, *visible_suite, *library_tests]
    scored = [
        *visible,
        *(test for test in hidden_tests if path_of(test) not in visible_suite),
        *hidden_reports,
    ]
    pytest = f"python -m pytest -q -p no:cacheprovider {recipe.options}".strip()
    fix = make_diff(broken, {path: right[path] for path in broken})
    task = Task(
        id=outline.id,
        benchmark=outline.benchmark,
        title=outline.title,
        statement=outline.statement,
        files=workspace,
        hidden_files=hidden,
        test_command=f"{pytest} {shlex.join(visible)}",
        score_command=f"{pytest} {shlex.join(scored)}",
        category=outline.category,
        tags=(recipe.library,),
        fix=fix,
        faults=find_faults(workspace, fix),
        readonly=(*TEST_PATTERNS, *globs(("tests/", "test/"))),
        editable=(Pattern.literal(recipe.package),),
        failing_files=tuple(reports),
        environment=Environment(requirements=tuple(recipe.requirements)) if recipe.requirements else None,
        limits=Limits(timeout_s=recipe.timeout_s),
        measured=measured,
        proof=proof,
    )
    if len(parts) > 1:
        task = replace(task, parts=tuple(_part(task, part, parts, files, broken, right) for part in parts))
        task = with_tests(task, tests) if tests else task
    # A task that was measured in exactly this form was checked then; the check takes half as long as all the rest.
    if find_difficulty(task) is None and (unused := left_behind(right, broken)):
        raise BenchmarkError(f"{outline.id}: its changes leave {unused[0]} unused, which gives the fault away")
    return task


def _part(
    task: Task,
    part: TaskRecipe,
    parts: Sequence[TaskRecipe],
    files: Mapping[str, bytes],
    broken: Mapping[str, bytes],
    right: Mapping[str, bytes],
) -> Part:
    """Return one of several faults with its own fix, after which all others are still there."""
    others = [change for other in parts if other is not part for change in other.changes]
    left = plant(files, [*others, *(change for other in parts for change in other.reworded)])
    fix = make_diff(broken, {path: left.get(path, right[path]) for path in broken})
    return Part(part.id, "", replace(task, fix=fix))


def _files_of_texts(name: str, texts: Sequence[str]) -> dict[str, bytes]:
    """Return texts that are not empty as files; with several texts, their names have numbers."""
    stem, dot, suffix = name.partition(".")
    names = [name] if len(texts) == 1 else [f"{stem}_{number}{dot}{suffix}" for number in range(1, len(texts) + 1)]
    return {path: text.encode() for path, text in zip(names, texts, strict=True) if text}


def _listed(statements: Iterable[str]) -> str:
    """Return statements as a numbered list, one paragraph each."""
    indented = (textwrap.indent(text.strip(), "   ") for text in statements)
    return "\n\n".join(f"{number}. {text.lstrip()}" for number, text in enumerate(indented, 1))


def library_files(recipe: Recipe, fetch: bool = True) -> Mapping[str, bytes]:
    """Return all files of a recipe's library. Raises BenchmarkError."""
    return _library(recipe.library, recipe.version, recipe.sha256, fetch)


def _files_around(
    library: Mapping[str, bytes], tests: Iterable[str], required: Iterable[str], present: Container[str]
) -> dict[str, bytes]:
    """Return `needed` and what tests need from their folders: fixtures, data and helpers, but no other tests."""
    folders = tuple(f"{path.partition('/')[0]}/" for path in tests)
    prefixes = tuple(f"{path}/" for path in required)

    def belongs(path: str) -> bool:
        if f"{path}/".startswith(prefixes):
            return True
        return path.startswith(folders) and not any(PurePosixPath(path).match(name) for name in TEST_NAMES[:2])

    return {path: content for path, content in library.items() if path not in present and belongs(path)}


def without(files: Mapping[str, bytes], patterns: Iterable[Pattern]) -> dict[str, bytes]:
    """Return the files that no pattern matches."""
    omitted = Matcher(patterns)
    return {path: content for path, content in files.items() if not omitted.matches(path)}


@functools.lru_cache(maxsize=4)
def _library(library: str, version: str, sha256: str, fetch: bool) -> Mapping[str, bytes]:
    """Return the files of a source distribution. Raises BenchmarkError."""
    content = read_archive(library, version, sha256, fetch)
    files = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive.getmembers():
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if member.isfile() and ".." not in path.parts and (opened := archive.extractfile(member)) is not None:
                files[str(path)] = opened.read()
    return files
