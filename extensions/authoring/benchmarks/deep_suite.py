"""`deep`: faults far from their failures, in real libraries. `releases`: several of these faults at once.

There is one recipe per library, in `extensions/authoring/benchmarks/deep/`:

LIBRARY.yaml    what to take, and its tasks (`deep_recipe`)
LIBRARY.json    task or release -> how hard it is (`env.difficulty`); `stackrank validate --record` writes it

Nothing of a library is in this repository: its source distribution is downloaded once, checked by its hash, into
stackrank's home, where nothing in a sandbox finds it. An agent sees the library with the fault in it, without the test
files that notice the fault, and a user's report with a test. The verdict comes from both.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import shlex
import tarfile
import tempfile
import textwrap
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from stackrank.env.benchmarks.base import BenchmarkError, Source, TaskByTask, family_of, own_name
from stackrank.env.benchmarks.testfiles import TEST_NAMES, TEST_PATTERNS, without_tests
from stackrank.env.difficulty import find_difficulty
from stackrank.env.environment import Environment
from stackrank.env.patches import find_faults, make_diff
from stackrank.env.patterns import Matcher, Pattern, globs
from stackrank.env.task import Limits, Task
from stackrank.env.validate import Validation
from stackrank.extensions.authoring.benchmarks.deep_recipe import Recipe, TaskRecipe, digest_of, plant, read_recipe
from stackrank.extensions.authoring.benchmarks.source_archive import download
from stackrank.extensions.authoring.inject.leftovers import left_behind
from stackrank.home import home, locked, write_whole
from stackrank.wording import count_of, print_err

DATA = Path(__file__).parent / "deep"
REPORT, HIDDEN_REPORT = "test_report.py", "test_more_reports.py"
_LETTER = """\
Since we upgraded {library}, several things no longer work that worked before. So far our users report:

{reports}

Each of these has its own cause. The release is good when all of them are mended."""


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
        if not self._source.fetch and not any(
            _archive_path(recipe.sha256).is_file() for recipe in self._recipes.values()
        ):
            return  # `empty` reports it once, not for each task
        for file, recipe in self._recipes.items():
            measured = _read_measured(file)
            for task_id in self._ids(recipe):
                yield task_id, functools.partial(self._load, recipe, task_id, measured.get(task_id, ""))

    def to_record(self, task: Task) -> Task:
        """Return the task without its lists: the new ones must not depend on them."""
        return replace(task, fail_to_pass=(), pass_to_pass=())

    def record(self, validations: Sequence[Validation]) -> None:
        """Write how hard tasks are into files next to their recipes."""
        measured = {validation.task: validation.measured for validation in validations if validation.measured}
        for file, recipe in self._recipes.items():
            names = [*(task.id for task in recipe.tasks), *recipe.releases]
            new = {name: measured[name].dump() for name in names if name in measured}
            merged = {**_read_measured(file), **new}
            if new:
                stored = {name: json.loads(merged[name]) for name in sorted(merged)}
                write_whole(file.with_suffix(".json"), json.dumps(stored, indent=1) + "\n")

    def _ids(self, recipe: Recipe) -> Iterable[str]:
        return [task.id for task in recipe.tasks]

    def _load(self, recipe: Recipe, task_id: str, measured: str) -> Task:
        return load_task(recipe, recipe.task(task_id), measured, self._source.fetch)


class Releases(Deep):
    """Releases of real libraries with several deep faults each, all of which have to be mended."""

    name = "releases"

    def _ids(self, recipe: Recipe) -> Iterable[str]:
        return recipe.releases

    def _load(self, recipe: Recipe, task_id: str, measured: str) -> Task:
        parts = [recipe.task(part) for part in recipe.releases[task_id]]
        outline = _Outline(
            id=task_id,
            benchmark=Releases.name,
            title=f"{count_of(len(parts), 'fault')} in one release of {recipe.library}",
            statement=_LETTER.format(library=recipe.library, reports=_listed(part.statement for part in parts)),
            category="several faults",
        )
        return _load(recipe, outline, parts, measured, self._source.fetch)


def load_task(recipe: Recipe, task: TaskRecipe, measured: str = "", fetch: bool = True) -> Task:
    """Load one task. Raises BenchmarkError."""
    outline = _Outline(task.id, Deep.name, task.title, task.statement.strip(), task.category)
    return _load(recipe, outline, [task], measured, fetch)


def _load(recipe: Recipe, outline: _Outline, parts: Sequence[TaskRecipe], measured: str, fetch: bool) -> Task:
    """Load a task with the faults and the tests of all `parts`. Raises BenchmarkError."""
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
    noticing = dict.fromkeys(test.partition("::")[0] for test in hidden_tests)
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
    library_tests = [
        test for test in recipe.suite if test.partition("::")[0] not in hidden and test not in visible_suite
    ]
    visible = [*reports, *visible_suite, *library_tests]
    scored = [
        *visible,
        *(test for test in hidden_tests if test.partition("::")[0] not in visible_suite),
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
    )
    # A task that was measured in exactly this form was checked then; the check takes half as long as all the rest.
    if find_difficulty(task) is None and (unused := left_behind(right, broken)):
        raise BenchmarkError(f"{outline.id}: its changes leave {unused[0]} unused, which gives the fault away")
    return task


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


def _read_measured(file: Path) -> dict[str, str]:
    json_file = file.with_suffix(".json")
    measurements = json.loads(json_file.read_text(encoding="utf-8")) if json_file.is_file() else {}
    return {name: json.dumps(measurement) for name, measurement in measurements.items()}


def without(files: Mapping[str, bytes], patterns: Iterable[Pattern]) -> dict[str, bytes]:
    """Return the files that no pattern matches."""
    omitted = Matcher(patterns)
    return {path: content for path, content in files.items() if not omitted.matches(path)}


def _archive_path(sha256: str) -> Path:
    """Return where a source distribution is once it has been fetched."""
    return home() / "libraries" / f"{sha256}.tar.gz"


@functools.lru_cache(maxsize=4)
def _library(library: str, version: str, sha256: str, fetch: bool) -> Mapping[str, bytes]:
    """Return the files of a source distribution. Raises BenchmarkError."""
    archive_path = _archive_path(sha256)
    if not archive_path.is_file():
        if not fetch:
            raise BenchmarkError(f"{library} {version} has not been downloaded yet")
        with locked("libraries"):
            if not archive_path.is_file():
                _download(library, version, sha256, archive_path)
    content = archive_path.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise BenchmarkError(f"{archive_path} is damaged: delete it to download it again")
    files = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive.getmembers():
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if member.isfile() and ".." not in path.parts and (opened := archive.extractfile(member)) is not None:
                files[str(path)] = opened.read()
    return files


def _download(library: str, version: str, sha256: str, archive_path: Path) -> None:
    """Download a source distribution; the caller holds the lock. Raises BenchmarkError."""
    print_err(f"fetching {library} {version}")
    archive_path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive_path.parent) as part:
        file = Path(part, archive_path.name)
        file.write_bytes(download(library, version, sha256))
        file.replace(archive_path)
