"""`releases`: several faults at once, on a library of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.env.patches import apply_patch
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from stackrank.extensions.authoring.benchmarks.deep_recipe import Recipe, RecipeChange
from tests.extensions.authoring.tiny_library import BOOK, REPORT_TEST, SLICE, recipe, stored
from tests.fixtures.env import usable


@pytest.fixture
def release(index: str, tmp_path: Path) -> Task:
    """A release of the tiny library with two faults."""
    first, second = recipe(index), recipe(index, RecipeChange(place=SLICE, operator="key-without-a-part", number=1))
    fields = {"id": "tinybook-few", "statement": "All are found,\nalthough few are wanted.\n", "hidden_report": ""}
    report = REPORT_TEST.replace(
        'find("") == ["a", "b"]', 'find("") == book.find("", 2)\n    assert not book.find("", 0)'
    )
    renamed = second.tasks[0].model_copy(update={**fields, "report": report, "hidden": ["tests/test_other.py"]})
    combined = first.model_copy(update={"tasks": [*first.tasks, renamed]})
    combined.releases["tinybook-release"] = [task.id for task in combined.tasks]
    releases = stored(tmp_path / "both", combined, "releases")
    assert releases.name == "releases/both" and len(stored(tmp_path / "both", combined).tasks()) == 2
    (task,) = releases.tasks()
    return task


def test_a_release_has_the_faults_and_the_tests_of_several_tasks(release: Task) -> None:
    assert (release.title, release.benchmark) == ("2 faults in one release of tinybook", "releases")
    assert "report:\n\n1. It is not found.\n\n2. All are found,\n   although few are wanted.\n\n" in release.statement
    assert {name for fault in release.faults for name in fault.functions} == {"Book.add", "Book.find"}
    assert apply_patch(release.files, release.fix)["src/tinybook/__init__.py"] == BOOK.encode()
    assert release.failing_files == ("test_report_1.py", "test_report_2.py")
    assert set(release.hidden_files) == {"tests/test_book.py", "tests/test_other.py", "test_more_reports_1.py"}
    assert release.test_command.endswith(" test_report_1.py test_report_2.py")
    hidden = "tests/test_book.py::test_find_after_add tests/test_other.py test_more_reports_1.py"
    assert release.score_command == f"{release.test_command} {hidden}"


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_release_is_resolved_when_all_of_it_is_mended(release: Task) -> None:
    backend = usable("bubblewrap")

    def resolved(book: str) -> bool:
        changes = Changes(files={"src/tinybook/__init__.py": book.encode()})
        return score(release, changes, lambda spec: Sandbox(backend, spec)).resolved

    assert resolved(BOOK)
    assert not resolved(BOOK.replace("self._found.clear()", "self._found.pop(name, None)"))
    assert not resolved(BOOK.replace("(start, most)", "(start,)"))


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
