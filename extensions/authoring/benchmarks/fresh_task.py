"""A task of `fresh`: one change of a library, and half of the tests that notice it."""

from __future__ import annotations

import shlex

from pydantic import BaseModel, ConfigDict

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.testfiles import TEST_PATTERNS
from stackrank.env.environment import Environment
from stackrank.env.patches import find_faults, make_diff
from stackrank.env.patterns import Pattern, globs
from stackrank.env.sandbox.guest.testing.ids import function_of
from stackrank.env.task import Limits, Task
from stackrank.extensions.authoring.benchmarks.deep_recipe import Recipe, RecipeChange, digest_of, plant
from stackrank.extensions.authoring.benchmarks.deep_suite import library_files
from stackrank.extensions.authoring.inject.statement import statement
from stackrank.extensions.authoring.withheld import without_withheld


class FreshTask(BaseModel):
    """What one task is made of, apart from its library."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    library: str
    change: RecipeChange
    broken: str
    """Digest of the changed files."""
    category: str
    command: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    withheld: tuple[str, ...]
    """The test functions that agents do not see."""
    messages: dict[str, str] = {}
    """Failing test that agents see -> what its failure says."""

    @property
    def id(self) -> str:
        """Its name, which does not reveal where the fault is."""
        return f"{self.library}-{self.broken[:8]}"


def load_task(recipe: Recipe, fresh_task: FreshTask) -> Task:
    """Load one task. Raises BenchmarkError."""
    files = library_of(recipe)
    broken = plant(files, [fresh_task.change])
    if (digest := digest_of(broken)) != fresh_task.broken:
        raise BenchmarkError(
            f"{fresh_task.id}: its change creates a different file than before ({digest}, not {fresh_task.broken})"
        )
    visible_tests = without_withheld(files, fresh_task.withheld)
    visible = shlex.join(word for word in shlex.split(fresh_task.command) if word not in fresh_task.withheld)
    fix = make_diff(broken, {path: files[path] for path in broken})
    workspace = {**files, **broken, **visible_tests}
    faults = find_faults(workspace, fix)
    visible_failing = [test for test in fresh_task.fail_to_pass if function_of(test) not in fresh_task.withheld]
    opening = f"Since we use this copy of {recipe.library}, something is wrong with it that was right before"
    title, description = statement(
        opening, {test: fresh_task.messages.get(test, "") for test in visible_failing}, fresh_task.change.file, faults
    )
    return Task(
        id=fresh_task.id,
        benchmark="fresh",
        title=f"{recipe.library}: {title or 'something is wrong'}",
        statement=description,
        files=workspace,
        hidden_files={path: files[path] for path in visible_tests},
        test_command=visible,
        score_command=fresh_task.command,
        category=fresh_task.category,
        tags=(recipe.library,),
        fail_to_pass=fresh_task.fail_to_pass,
        pass_to_pass=fresh_task.pass_to_pass,
        fix=fix,
        faults=faults,
        readonly=(*TEST_PATTERNS, *globs(("tests/", "test/"))),
        editable=(Pattern.literal(recipe.package),),
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
