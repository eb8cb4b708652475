"""A task of `fresh`: one change of a library, and half of the tests that notice it."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.deep_recipe import Change, Recipe, digest_of, plant
from stackrank.env.benchmarks.deep_suite import library_files
from stackrank.env.benchmarks.testfiles import TEST_PATTERNS, defined_as, without_tests
from stackrank.env.environment import Environment
from stackrank.env.patches import find_faults, make_diff
from stackrank.env.scoring.contradictions import find_candidates
from stackrank.env.scoring.proof import Contradiction
from stackrank.env.task import Limits, Task


class FreshTask(BaseModel):
    """What one task is made of, apart from its library."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    library: str
    change: Change
    broken: str
    """Digest of the changed files."""
    category: str
    command: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    withheld: tuple[str, ...] = ()
    """The test functions that agents do not see. Empty only in nights of an earlier version, which are not loaded."""

    @property
    def id(self) -> str:
        """Its name, which does not reveal where the fault is."""
        return f"{self.library}-{self.broken[:8]}"


def load_task(recipe: Recipe, about: FreshTask) -> Task:
    """Load one task. Raises BenchmarkError."""
    files = library_of(recipe)
    broken = plant(files, [about.change])
    if (made := digest_of(broken)) != about.broken:
        raise BenchmarkError(
            f"{about.id}: its change creates a different file than before ({made}, not {about.broken})"
        )
    shown = without_withheld(files, about.withheld)
    about_it = _words(next(test for test in about.fail_to_pass if test.partition("[")[0] not in about.withheld))
    visible = shlex.join(word for word in shlex.split(about.command) if word not in about.withheld)
    fix = make_diff(broken, {path: files[path] for path in broken})
    given = {**files, **broken, **shown}
    return Task(
        id=about.id,
        benchmark="fresh",
        title=f"{recipe.library}: {about_it}",
        statement=f"Since we use this copy of {recipe.library}, something is wrong with it that was right before: "
        f"{about_it}. Nothing else has changed.",
        files=given,
        hidden_files={path: files[path] for path in shown},
        test_command=visible,
        score_command=about.command,
        category=about.category,
        tags=(recipe.library,),
        fail_to_pass=about.fail_to_pass,
        pass_to_pass=about.pass_to_pass,
        fix=fix,
        faults=find_faults(given, fix),
        readonly=(*TEST_PATTERNS, "tests/", "test/"),
        editable=(f"/{recipe.package}/**" if "." not in recipe.package else f"/{recipe.package}",),
        environment=environment_of(recipe),
        limits=Limits(timeout_s=recipe.timeout_s),
    )


def library_of(recipe: Recipe) -> dict[str, bytes]:
    """Return a library with its tests, without files that nobody needs."""
    files = library_files(recipe)
    folders = {path.partition("/")[0] for path in (f"{recipe.package}/", *recipe.own_tests, *recipe.tests_need)}
    return {path: content for path, content in files.items() if path.partition("/")[0] in folders}


def environment_of(recipe: Recipe) -> Environment | None:
    """Return the environment that a library's tests need."""
    requirements = (*recipe.requirements, *recipe.test_requirements)
    return Environment(requirements=requirements) if requirements else None


def to_withhold(
    files: Mapping[str, bytes], failing: Sequence[str], named: Iterable[str] = (), staying: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return half of the failing functions, which agents are not to see, and all others that stand where these do.

    `named`: all functions that the command names; several classes may inherit one. `staying`: the tests that pass.
    Functions that could seal a verdict are withheld first. Raises BenchmarkError if there is none, if fewer than two
    functions fail, or if the rest is not valid Python.
    """
    functions = dict.fromkeys(test.partition("[")[0] for test in (*failing, *named))
    defined = {each: defined_as(files[each.partition("::")[0]], each) for each in functions}
    stands = {each: place or each for each, place in defined.items()}
    found = list(dict.fromkeys(stands[test.partition("[")[0]] for test in failing))
    own = {test.partition("[")[0] for test in failing}
    by_text = could_seal(files, [*failing, *(test for test in staying if test.partition("[")[0] in own)])
    sealing = {stands[each] for each in by_text}
    found.sort(key=lambda each: each in sealing)
    cut = found[(len(found) + 1) // 2 :]
    if not cut:
        raise BenchmarkError("only one test detects it")
    names = {_name(each) for each in cut}
    if any(_name(each) in names for each, place in defined.items() if not place):
        # It may be inherited from another file, and be cut together with the others.
        raise BenchmarkError("its tests cannot be told apart")
    if not sealing:
        raise BenchmarkError("no expectation of its tests is written down that could be changed")
    withheld = tuple(each for each in functions if stands[each] in cut)
    without_withheld(files, withheld)
    return withheld


def without_withheld(files: Mapping[str, bytes], withheld: Iterable[str]) -> dict[str, bytes]:
    """Return the test files that define these functions, as agents see them. Raises BenchmarkError."""
    places = [defined_as(files[each.partition("::")[0]], each) or each for each in withheld]
    paths = sorted({each.partition("::")[0] for each in places})
    return {path: without_tests(files[path], places, path) for path in paths}


def could_seal(files: Mapping[str, bytes], tests: Iterable[str]) -> set[str]:
    """Return the functions of those of the tests that could seal a verdict, as far as their text tells."""
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        by_file[test.partition("::")[0]].append(test)
    return {
        test.partition("[")[0]
        for path, own in by_file.items()
        for each in find_candidates(path, files[path], own)
        if not each.telling and Contradiction(each.unit, {}, path, each.places[0][0], each.edit, each.old).both_ways
        for test in each.tests
    }


def _name(test: str) -> str:
    return test.partition("[")[0].rpartition("::")[2]


def _words(test: str) -> str:
    return _name(test).removeprefix("test_").replace("_", " ")
