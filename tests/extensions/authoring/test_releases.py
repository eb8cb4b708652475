"""`releases`: several faults at once, on a library of our own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.verdict_rates import ErrorRate, VerdictRates, find_rates, save_rates
from stackrank.env.patches import apply_patch
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.judge import Score
from stackrank.env.scoring.proof import find_proof
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from stackrank.env.validate import Standing, validate
from stackrank.extensions.authoring.benchmarks.deep_recipe import Recipe, RecipeChange
from stackrank.extensions.authoring.benchmarks.deep_suite import Deep, Releases
from tests.extensions.authoring.tiny_library import BOOK, SLICE, recipe, stored
from tests.fixtures.env import usable

FEW_TEST = """\
from tinybook import Book


def test_few():
    book = Book()
    book.add("a", 1)
    book.add("b", 2)
    assert book.find("") == ["a", "b"]
    assert book.find("", 1) == ["a"]
"""


@pytest.fixture
def releases(index: str, tmp_path: Path) -> Deep:
    """A set with one release of the tiny library, which has two faults."""
    first, second = recipe(index), recipe(index, RecipeChange(place=SLICE, operator="key-without-a-part", number=1))
    fields = {"id": "tinybook-few", "statement": "All are found,\nalthough few are wanted.\n"}
    hidden_report = FEW_TEST.replace('"a"', '"e"').replace('"b"', '"f"')
    tests = {"report": FEW_TEST, "hidden": ["tests/test_other.py"], "hidden_report": hidden_report}
    renamed = second.tasks[0].model_copy(update={**fields, **tests})
    combined = first.model_copy(update={"tasks": [*first.tasks, renamed]})
    combined.releases["tinybook-release"] = [task.id for task in combined.tasks]
    releases = stored(tmp_path / "both", combined, "releases")
    assert releases.name == "releases/both" and len(stored(tmp_path / "both", combined).tasks()) == 2
    return releases


@pytest.fixture
def release(releases: Deep) -> Task:
    """That release."""
    (task,) = releases.tasks()
    return task


def test_a_release_has_the_faults_and_the_tests_of_several_tasks(release: Task) -> None:
    assert (release.title, release.benchmark) == ("2 faults in one release of tinybook", "releases")
    assert "report:\n\n1. It is not found.\n\n2. All are found,\n   although few are wanted.\n\n" in release.statement
    assert {name for fault in release.faults for name in fault.functions} == {"Book.add", "Book.find"}
    assert apply_patch(release.files, release.fix)["src/tinybook/__init__.py"] == BOOK.encode()
    assert release.failing_files == ("test_report_1.py", "test_report_2.py")
    hidden_reports = "test_more_reports_1.py test_more_reports_2.py"
    assert {*release.hidden_files} == {"tests/test_book.py", "tests/test_other.py", *hidden_reports.split()}
    assert release.test_command.endswith(" test_report_1.py test_report_2.py")
    hidden = f"tests/test_book.py::test_find_after_add tests/test_other.py {hidden_reports}"
    assert release.score_command == f"{release.test_command} {hidden}"
    assert release.parts == (), "nothing says yet which tests judge which fault"


def test_rates_of_the_single_faults_are_not_those_of_releases(releases: Deep) -> None:
    recipes = releases.folder.parent
    nothing = ErrorRate(changes=0, errors=0, tasks=0, authors=0, rate=None, low=None, high=None)
    save_rates(VerdictRates("abcdef0123456789", "2026-11-27", nothing, nothing), recipes)
    assert find_rates(Deep(Source(recipes, fetch=False)), []) is not None
    assert find_rates(Releases(Source(recipes, fetch=False)), []) is None


@pytest.mark.slow
def test_a_recorded_release_is_judged_fault_by_fault(releases: Deep, release: Task) -> None:
    backend = usable("bubblewrap")

    def new_sandbox(spec: SandboxSpec) -> Sandbox:
        return Sandbox(backend, spec)

    validation = validate(releases.to_record(release), new_sandbox, rounds=1)
    assert validation.standing is Standing.VALID and validation.by_fault is not None
    assert validation.by_fault.shown == {
        "tinybook-new-name": (
            "test_more_reports_1.py::test_the_new_name_is_found",
            "test_report_1.py::test_the_new_name_is_found",
            "tests/test_book.py::test_find_after_add",
        ),
        "tinybook-few": (
            "test_more_reports_2.py::test_few",
            "test_report_2.py::test_few",
        ),
    }
    assert validation.by_fault.kept == ("tests/test_other.py::test_empty",)
    releases.record([validation])
    (task,) = Releases(Source(releases.folder.parent, fetch=False)).tasks()
    assert find_proof(task) is not None and [part.name for part in task.parts] == [*validation.by_fault.shown]
    assert validate(task, new_sandbox, rounds=1).standing is Standing.VALID

    def judged(book: str) -> Score:
        return score(task, Changes(files={"src/tinybook/__init__.py": book.encode()}), new_sandbox)

    assert judged(BOOK).resolved and judged(BOOK).mended == (2, 2)
    first = judged(BOOK.replace("(start, most)", "(start,)"))
    assert [fault.mended for fault in first.faults] == [True, False] and not first.resolved
    assert first.faults[0].sealed > 0
    second = judged(BOOK.replace("self._found.clear()", "self._found.pop(name, None)"))
    assert [fault.mended for fault in second.faults] == [False, True]
    breaking = BOOK.replace("(start, most)", "(start,)").replace("[:most]", "[:most] or None")
    assert judged(breaking).mended == (0, 2), "a test that passed fails now"


@pytest.mark.slow
def test_a_fault_that_no_hidden_test_shows_alone_makes_a_release_invalid(releases: Deep, release: Task) -> None:
    task = releases.to_record(release)
    first, second = task.parts
    both = replace(task, parts=(first, replace(second, task=replace(second.task, fix=first.task.fix))))
    backend = usable("bubblewrap")
    validation = validate(both, lambda spec: Sandbox(backend, spec), rounds=1)
    assert validation.standing is Standing.INVALID
    assert validation.reason == "tinybook-new-name: no hidden test starts to pass when it alone is mended"


@pytest.mark.parametrize(
    ("releases", "problem"),
    [
        ({"r": ["a"]}, "at least two"),
        ({"r": ["a", "b"]}, "names b, which is no task"),
        ({"r": ["a", "a"]}, "each of them once"),
        ({"a": ["a", "b"]}, "'a' is no name for a release"),
        ({"../r": ["a", "b"]}, "'../r' is no name for a release"),
    ],
)
def test_a_release_that_cannot_be_is_refused(releases: dict[str, list[str]], problem: str) -> None:
    tiny = recipe("0" * 64)
    tiny.tasks[0].id = "a"
    with pytest.raises(ValueError, match=problem):
        Recipe.model_validate({**tiny.model_dump(exclude_defaults=True), "releases": releases})
