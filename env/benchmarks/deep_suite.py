"""`deep`: faults far from their failures, in real libraries. One recipe per library, in `env/benchmarks/deep/`.

LIBRARY.yaml    what to take, and its tasks (`env.benchmarks.deep_recipe`)
LIBRARY.json    task -> how hard it is (`env.difficulty.measure`); written by `stackrank validate deep --record`

Nothing of a library is in this repository: pip downloads its source distribution once, checked by its hash, into
stackrank's home, where nothing in a sandbox finds it. An agent sees the library with the fault in it, without the test
files that notice the fault, and a user's report with a test. The verdict comes from both.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import shlex
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

from stackrank.env.benchmarks.base import BenchmarkError, Source, TaskByTask, own_name
from stackrank.env.benchmarks.deep_recipe import Recipe, TaskRecipe, digest_of, plant, read_recipe
from stackrank.env.benchmarks.testfiles import TEST_PATTERNS, without_tests
from stackrank.env.difficulty.measure import Measured, find_measured
from stackrank.env.environment import Environment
from stackrank.env.inject.leftovers import left_behind
from stackrank.env.patches import find_faults, make_diff
from stackrank.env.sandbox.environments import why
from stackrank.env.sandbox.python_env import ensure_sandbox_python, pip_variables
from stackrank.env.task import Limits, Task
from stackrank.errors import NotReady
from stackrank.home import home, locked, write_whole
from stackrank.wording import say

DATA = Path(__file__).parent / "deep"
REPORT, HIDDEN_REPORT = "test_report.py", "test_more_reports.py"
_FETCH_TIMEOUT_S = 300.0


class Deep(TaskByTask):
    """Deep faults in real libraries."""

    name = "deep"

    def __init__(self, source: Source | None = None) -> None:
        """`source.path`: another folder of recipes. Raises BenchmarkError."""
        self._source = source or Source()
        self._path = self._source.path or DATA
        if self._path.resolve() != DATA.resolve():
            self.name = own_name(self.name, self._path.absolute().name)
        if self._source.fetch:
            self.empty = f"{self._path} holds no recipe that can be used (a LIBRARY.yaml)"
        else:
            self.empty = f"{self.name} has its tasks when its libraries are here: `stackrank tasks deep` fetches them"
        self._recipes = {file: read_recipe(file) for file in sorted(self._path.glob("*.yaml"))}
        self.license = ", ".join(sorted({recipe.license for recipe in self._recipes.values()}))
        libraries = [f"{recipe.library} {recipe.version}" for recipe in self._recipes.values()]
        self.source = ", ".join(libraries) if len(libraries) <= 3 else f"{len(libraries)} libraries of a package index"

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task]]]:
        if not self._source.fetch and not any(_kept(recipe.sha256).is_file() for recipe in self._recipes.values()):
            return  # one sentence says it, not one for each task
        for file, recipe in self._recipes.items():
            measured = _read_measured(file)
            for task in recipe.tasks:
                yield (
                    task.id,
                    functools.partial(load_task, recipe, task, measured.get(task.id, ""), self._source.fetch),
                )


def load_task(recipe: Recipe, about: TaskRecipe, measured: str = "", fetch: bool = True) -> Task:
    """Load one task. Raises BenchmarkError."""
    library = library_files(recipe, fetch)
    files = without(library, recipe.omit)
    broken = plant(files, about.changes)
    if (made := digest_of(broken)) != about.broken:
        raise BenchmarkError(f"{about.id}: its changes create different files than before ({made}, not {about.broken})")
    noticing = dict.fromkeys(test.partition("::")[0] for test in about.hidden)
    if missing := [path for path in (*noticing, *about.suite) if path not in library]:
        raise BenchmarkError(f"{about.id}: {recipe.library} {recipe.version} has no {missing[0]}")
    hidden = {path: library[path] for path in noticing}
    shown = {path: without_tests(library[path], about.hidden, path) for path in about.suite}
    given = {path: content for path, content in {**files, **broken}.items() if path not in hidden}
    if noticing or shown:
        # Files that tests share go where the tests are: into the workspace only if some tests are there.
        (given if shown else hidden).update(_beside(library, (*noticing, *about.suite), recipe.tests_need, files))
    given.update(shown)
    if about.report:
        given[REPORT] = about.report.encode()
    own = [test for test in recipe.suite if test.partition("::")[0] not in hidden and test not in shown]
    visible = [*([REPORT] if about.report else ()), *shown, *own]
    scored = [*visible, *(test for test in about.hidden if test.partition("::")[0] not in shown)]
    if about.hidden_report:
        hidden[HIDDEN_REPORT] = about.hidden_report.encode()
        scored.append(HIDDEN_REPORT)
    pytest = f"python -m pytest -q -p no:cacheprovider {recipe.options}".strip()
    fix = make_diff(broken, {path: files[path] for path in broken})
    task = Task(
        id=about.id,
        benchmark=Deep.name,
        title=about.title,
        statement=about.statement.strip(),
        files=given,
        hidden_files=hidden,
        test_command=f"{pytest} {shlex.join(visible)}",
        score_command=f"{pytest} {shlex.join(scored)}",
        category=about.category,
        tags=(recipe.library,),
        fix=fix,
        faults=find_faults(given, fix),
        readonly=(*TEST_PATTERNS, "tests/", "test/"),
        editable=(f"/{recipe.package}/**" if "." not in recipe.package else f"/{recipe.package}",),
        failing_files=(REPORT,) if about.report else (),
        environment=Environment(requirements=tuple(recipe.requirements)) if recipe.requirements else None,
        limits=Limits(timeout_s=recipe.timeout_s),
        measured=measured,
    )
    # A task that was measured in exactly this form was checked then; the check takes half as long as all the rest.
    if find_measured(task) is None and (left := left_behind(files, broken)):
        raise BenchmarkError(f"{about.id}: its changes leave {left[0]} unused, which gives the fault away")
    return task


def library_files(recipe: Recipe, fetch: bool = True) -> Mapping[str, bytes]:
    """Return all files of a recipe's library. Raises BenchmarkError."""
    return _library(recipe.library, recipe.version, recipe.sha256, fetch)


def _beside(
    library: Mapping[str, bytes], tests: Iterable[str], needed: Iterable[str], known: Container[str]
) -> dict[str, bytes]:
    """Return `needed` and what tests need from their folders: fixtures, data and helpers, but no other tests."""
    folders = tuple(f"{path.partition('/')[0]}/" for path in tests)
    named = tuple(f"{each}/" for each in needed)

    def belongs(path: str) -> bool:
        if f"{path}/".startswith(named):
            return True
        return path.startswith(folders) and not any(PurePosixPath(path).match(each) for each in TEST_PATTERNS[:2])

    return {path: content for path, content in library.items() if path not in known and belongs(path)}


def record(measured: Mapping[str, Measured], path: Path = DATA) -> None:
    """Write how hard tasks are, by name, into files next to their recipes."""
    for file in sorted(path.glob("*.yaml")):
        own = {task.id: measured[task.id].dump() for task in read_recipe(file).tasks if task.id in measured}
        known = {**_read_measured(file), **own}
        if own:
            kept = {name: json.loads(known[name]) for name in sorted(known)}
            write_whole(file.with_suffix(".json"), json.dumps(kept, indent=1) + "\n")


def _read_measured(file: Path) -> dict[str, str]:
    beside = file.with_suffix(".json")
    known = json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else {}
    return {name: json.dumps(each) for name, each in known.items()}


def without(files: Mapping[str, bytes], patterns: Iterable[str]) -> dict[str, bytes]:
    """Return the files that no gitignore pattern matches."""
    omitted = GitIgnoreSpec.from_lines(patterns)
    return {path: content for path, content in files.items() if not omitted.match_file(path)}


def _kept(sha256: str) -> Path:
    """Return where a source distribution is once it has been fetched."""
    return home() / "libraries" / f"{sha256}.tar.gz"


@functools.lru_cache(maxsize=4)
def _library(library: str, version: str, sha256: str, fetch: bool) -> Mapping[str, bytes]:
    """Return the files of a source distribution. Raises BenchmarkError."""
    kept = _kept(sha256)
    if not kept.is_file():
        if not fetch:
            raise BenchmarkError(f"{library} {version} has not been downloaded yet")
        with locked("libraries"):
            if not kept.is_file():
                _download(library, version, sha256, kept)
    content = kept.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise BenchmarkError(f"{kept} is damaged: delete it, and it is downloaded again")
    files = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive.getmembers():
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if member.isfile() and ".." not in path.parts and (opened := archive.extractfile(member)) is not None:
                files[str(path)] = opened.read()
    return files


def _download(library: str, version: str, sha256: str, kept: Path) -> None:
    """Download a source distribution; the caller holds the lock, and pip checks the hash. Raises BenchmarkError."""
    say(f"fetching {library} {version}")
    kept.parent.mkdir(parents=True, exist_ok=True)
    failed = f"{library} {version} cannot be fetched, which is needed once: check that pip reaches a package index"
    with tempfile.TemporaryDirectory(dir=kept.parent) as part:
        wanted = Path(part, "requirements.txt")
        wanted.write_text(f"{library}=={version} --hash=sha256:{sha256}\n", encoding="utf-8")
        try:
            command = [str(ensure_sandbox_python(say=say)), "-m", "pip", "download", "--quiet", "--dest", part]
            command += ["--disable-pip-version-check", "--no-deps", "--no-binary", library, "-r", str(wanted)]
            done = subprocess.run(
                command,
                env=pip_variables(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=_FETCH_TIMEOUT_S,
                check=False,
            )
        except (subprocess.TimeoutExpired, NotReady) as error:
            raise BenchmarkError(f"{failed} ({error})") from None
        found = list(Path(part).glob("*.tar.gz"))
        if done.returncode or not found:
            raise BenchmarkError(f"{failed} ({why(done.stdout)})")
        found[0].replace(kept)
