"""`deep`: recipes, what is made of them, and how a verdict comes of it, on a library of our own."""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.benchmarks.bug_suite import CATEGORIES
from stackrank.env.difficulty import find_difficulty
from stackrank.env.localisation.spectrum import AT_IMPORT
from stackrank.env.patches import apply_patch
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.sandbox.python_env import REQUIREMENTS
from stackrank.env.scoring.proof import save_proof
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Fault, Task
from stackrank.env.validate import validate
from stackrank.extensions.authoring.benchmarks.deep_recipe import (
    RecipeChange,
    TaskRecipe,
    digest_of,
    plant,
    read_recipe,
)
from stackrank.extensions.authoring.benchmarks.deep_record import read_tests
from stackrank.extensions.authoring.benchmarks.deep_suite import DATA, HIDDEN_REPORT, REPORT, Deep, Releases
from stackrank.extensions.authoring.difficulty import measure
from stackrank.extensions.authoring.inject.reach import Reach
from stackrank.home import home
from tests.bench.scenarios.choose_hidden import choose, fill_in
from tests.extensions.authoring.tiny_library import BOOK, CLEAR, OWN_TEST, SLICE, recipe, stored
from tests.fixtures.env import usable

IN_PIP = {
    "pip", "setuptools", "cachecontrol", "certifi", "chardet", "colorama", "distlib", "distro", "idna", "msgpack",
    "platformdirs", "pyparsing", "requests", "resolvelib", "rich", "tenacity", "tomli", "urllib3", "webencodings",
    "more-itertools", "ordered-set", "typing-extensions",
}  # fmt: skip

HIDING = {"cattrs-converters-that-share", "pyrsistent-two-branches-of-a-vector"}
"""Faults that break so much that no test would show other faults of their release alone."""


def why_left_out(deep: Deep) -> str:
    """Of a benchmark whose one task cannot be used."""
    with pytest.raises(BenchmarkError) as raised:
        deep.tasks()
    return str(raised.value)


@pytest.fixture
def task(index: str, tmp_path: Path) -> Task:
    """The task of the tiny library."""
    deep = stored(tmp_path / "own", recipe(index))
    assert deep.name == "deep/own" and deep.source == "tinybook 1.0"
    (task,) = deep.tasks()
    return task


def test_what_an_agent_gets(task: Task, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert {REPORT, "tests/test_other.py", "src/tinybook/__init__.py"} < set(task.files)
    assert not {"tests/test_book.py", "docs/index.md", HIDDEN_REPORT} & set(task.files)
    assert set(task.hidden_files) == {"tests/test_book.py", HIDDEN_REPORT}
    assert task.test_command.endswith(f"-o pythonpath=src {REPORT} tests/test_other.py")
    hidden = f"tests/test_book.py::test_find_after_add {HIDDEN_REPORT}"
    assert task.score_command == f"{task.test_command} {hidden}"
    assert BOOK.encode() not in task.files.values()
    assert apply_patch(task.files, task.fix)["src/tinybook/__init__.py"] == BOOK.encode()
    assert [fault.functions for fault in task.faults] == [("Book.add",)]
    assert [path for path in task.files if task.may_edit(path)] == ["src/tinybook/__init__.py"]
    # Once fetched it is here, whatever becomes of the index.
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nowhere"))
    (reloaded,) = Deep(Source(tmp_path / "own", fetch=False)).tasks()
    assert reloaded.digest == task.digest


def test_own_tests_are_hidden_although_agents_have_no_tests(index: str, tmp_path: Path) -> None:
    changed = recipe(index, omit=["/*", "!/src/"], suite=[])
    (task,) = stored(tmp_path / "bare", changed).tasks()
    assert not [path for path in task.files if path.startswith("tests/")]
    # With what tests share, and without the other tests.
    assert set(task.hidden_files) == {"tests/test_book.py", "tests/names.txt", HIDDEN_REPORT}
    assert task.score_command and "tests/test_book.py::test_find_after_add" in task.score_command


def test_agents_see_own_tests_without_the_hidden_ones(index: str, tmp_path: Path) -> None:
    changed = recipe(index, omit=["/*", "!/src/"], suite=[])
    hidden = "tests/test_book.py::test_second_find"
    fields = {"report": "", "hidden_report": "", "suite": ["tests/test_book.py"], "hidden": [hidden]}
    changed.tasks[0] = changed.tasks[0].model_copy(update=fields)
    (task,) = stored(tmp_path / "own", changed).tasks()
    visible = task.files["tests/test_book.py"].decode()
    assert "def test_find_after_add" in visible and "def test_second_find" not in visible
    assert task.files["tests/names.txt"] == b"ada" and "tests/test_other.py" not in task.files
    assert task.hidden_files == {"tests/test_book.py": OWN_TEST.encode()}
    assert task.test_command.endswith(" tests/test_book.py") and task.score_command == task.test_command


def test_a_task_shows_something() -> None:
    with pytest.raises(ValueError, match="agents need a test that shows the fault"):
        TaskRecipe(id="a", title="", statement="", category="", broken="", hidden=["t.py"], changes=[
            RecipeChange(place="a.py:1:0-1:0", write="x")
        ])  # fmt: skip


def test_hidden_tests_are_chosen_by_what_they_run() -> None:
    files = {"a.py": b"def f():\n    x = 1\n    return x\n\n\ndef g():\n    return 2\n"}
    tests = ("t.py::exact", "t.py::case[1]", "t.py::case[2]", "t.py::slow", "t.py::far")
    groups = (frozenset({0, 3}), frozenset({1, 2}), frozenset({4}), frozenset({AT_IMPORT}))
    reach = Reach(tests, (0.1, 0.1, 0.1, 9.0, 0.1), groups, {"a.py": {1: 3, 2: 0, 3: 1, 7: 2}})
    faults = (Fault("a.py", ("f",), (2,)),)
    assert choose(files, faults, reach) == ["t.py::case", "t.py::exact"]


def test_a_recipe_is_filled_in_where_it_stands() -> None:
    text = "# first\ntasks:\n- id: a\n  broken: x\n  report: |\n    1\n- id: b\n  broken: y\n  hidden:\n  - t.py::1\n"
    expected = text.replace("broken: x\n", "broken: x\n  hidden:\n  - t.py::1\n")
    expected = expected.replace("y\n  hidden:\n", "y\n  hidden:\n  - t.py::2\n")
    assert fill_in(text, {"a": ["t.py::1"], "b": ["t.py::1", "t.py::2"]}) == expected


def test_operators_and_texts_change_one_file_together(index: str, tmp_path: Path) -> None:
    dropped = RecipeChange(place=SLICE, operator="key-without-a-part", number=1)
    changes = (dropped, RecipeChange(place=CLEAR, write="pass"))
    (task,) = stored(tmp_path / "two", recipe(index, *changes)).tasks()
    broken = task.files["src/tinybook/__init__.py"].decode()
    assert "key = (start,)\n" in broken and "self._found.clear()" not in broken
    assert {name for fault in task.faults for name in fault.functions} == {"Book.add", "Book.find"}


def test_what_states_the_broken_rule_is_reworded(index: str, tmp_path: Path) -> None:
    tiny = recipe(index)
    reworded = RecipeChange(place="src/tinybook/__init__.py:1:3-1:27", write="Names, as text\nand number.")
    broken = digest_of(plant({"src/tinybook/__init__.py": BOOK.encode()}, [*tiny.tasks[0].changes, reworded]))
    tiny.tasks[0] = tiny.tasks[0].model_copy(update={"reworded": [reworded], "broken": broken})
    (task,) = stored(tmp_path / "own", tiny).tasks()
    text = task.files["src/tinybook/__init__.py"].decode()
    assert text.startswith('"""Names, as text\nand number."""\n') and "self._found.clear()" not in text
    # The fix leaves the words alone.
    fixed = apply_patch(task.files, task.fix)["src/tinybook/__init__.py"].decode()
    assert fixed == BOOK.replace("Names and their numbers.", "Names, as text\nand number.")
    assert [fault.functions for fault in task.faults] == [("Book.add",)]


FILE = {"a.py": b"x = 1\ny = (x, 2)\n"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ([RecipeChange(place="b.py:1:0-1:1", write="z")], "there is no such file"),
        ([RecipeChange(place="a.py:9:0-9:1", write="z")], "there is no such place"),
        ([RecipeChange(place="a.py:1:0-1:77", write="z")], "there is no such place"),
        ([RecipeChange(place="a.py:2:0-1:0", write="z")], "it ends before it begins"),
        ([RecipeChange(place="a.py:1:4-1:5", write="(")], "it is not valid Python"),
        ([RecipeChange(place="a.py:1:0-1:5", write="z = 1"), RecipeChange(place="a.py:1:4-1:5", write="2")], "overlap"),
        ([RecipeChange(place="a.py:2:4-2:10", operator="key-without-a-part")], "no such change is possible"),
    ],
)
def test_changes_that_are_not_possible(changes: list[RecipeChange], problem: str) -> None:
    with pytest.raises(BenchmarkError, match=problem):
        plant(FILE, changes)


def test_text_is_put_in_as_it_stands() -> None:
    replaced, inserted = (
        RecipeChange(place="a.py:1:4-1:5", write="[\n    3]"),
        RecipeChange(place="a.py:2:0-2:0", write="x += 1\n"),
    )
    assert plant(FILE, [inserted, replaced]) == {"a.py": b"x = [\n    3]\nx += 1\ny = (x, 2)\n"}


def test_what_cannot_be_fetched_is_said_in_a_sentence(index: str, tmp_path: Path) -> None:
    wrong_hash = hashlib.sha256(b"another file").hexdigest()
    assert "cannot be fetched" in why_left_out(stored(tmp_path / "a", recipe(wrong_hash)))
    assert not (home() / "libraries" / f"{wrong_hash}.tar.gz").exists()
    missing = why_left_out(stored(tmp_path / "b", recipe(wrong_hash, library="tinybooks")))
    assert "check that pip reaches a package index" in missing and "\n" not in missing
    assert "run `stackrank tasks deep`" in why_left_out(Deep(Source(tmp_path / "a", fetch=False)))


def test_a_damaged_archive_is_noticed(task: Task, index: str, tmp_path: Path) -> None:
    from stackrank.extensions.authoring.benchmarks.deep_suite import _library

    archive = home() / "libraries" / f"{index}.tar.gz"
    content = archive.read_bytes()
    try:
        archive.write_bytes(content[:-9])
        _library.cache_clear()
        assert "is damaged: delete it" in why_left_out(Deep(Source(tmp_path / "own")))
    finally:
        archive.write_bytes(content)


def test_what_changes_make_otherwise_by_now_is_left_out(index: str, tmp_path: Path) -> None:
    tiny = recipe(index)
    tiny.tasks[0].broken = "0" * 16
    assert "create different files than before" in why_left_out(stored(tmp_path / "old", tiny))
    tiny.tasks[0].hidden = ["tests/test_none.py"]
    tiny.tasks[0].broken = recipe(index).tasks[0].broken
    assert "tinybook 1.0 has no tests/test_none.py" in why_left_out(stored(tmp_path / "old", tiny))


def test_a_change_that_leaves_something_unused_is_left_out(index: str, tmp_path: Path) -> None:
    tiny = recipe(index, RecipeChange(place=SLICE, operator="key-without-a-part", number=1))
    (task,) = stored(tmp_path / "a", tiny).tasks()
    assert b"key = (start,)" in task.files["src/tinybook/__init__.py"]
    tiny = recipe(index, RecipeChange(place="src/tinybook/__init__.py:10:8-10:36", write="self._numbers[name] = 0"))
    assert "its changes leave number unused, which gives the fault away" in why_left_out(stored(tmp_path / "b", tiny))


@pytest.mark.parametrize(
    ("text", "problem"),
    [("library: [", "is not YAML"), ("library: x\n", "version: Field required"), ("", "it: Input should be a valid")],
)
def test_a_bad_recipe_is_named(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(BenchmarkError) as raised:
        read_recipe(tmp_path / "bad.yaml")
    assert str(tmp_path / "bad.yaml") in str(raised.value) and problem in str(raised.value)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"place": "a.py:1", "write": "z"}, "String should match pattern"),
        ({"place": "a.py:1:0-1:1"}, "either `write` or `operator`"),
        ({"place": "a.py:1:0-1:1", "write": "z", "operator": "boundary"}, "either `write` or `operator`"),
    ],
)
def test_a_change_says_one_thing(change: dict[str, str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        RecipeChange.model_validate(change)


@pytest.mark.slow
def test_it_is_proved_and_sealed(task: Task) -> None:
    backend = usable("bubblewrap")

    def new(spec: object) -> Sandbox:
        return Sandbox(backend, spec)  # type: ignore[arg-type]

    result = validate(task, new, rounds=1, measure=measure)
    assert result.valid, result.reason
    assert result.fail_to_pass == (
        f"{REPORT}::test_the_new_name_is_found",
        "tests/test_book.py::test_find_after_add",
        f"{HIDDEN_REPORT}::test_the_new_name_is_found",
    )
    assert result.measured and not result.measured.in_traceback and not result.measured.in_named_file
    assert result.proof
    save_proof(task, result.proof)
    fixed = score(task, Changes(files={"src/tinybook/__init__.py": BOOK.encode()}), new)
    assert fixed.resolved and fixed.sealed >= 2
    forged = score(task, Changes(files={REPORT: b"", "tests/test_other.py": b""}), new)
    assert not forged.resolved


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("library", ["parso", "simpy"])
def test_real_libraries_with_the_fault_in_them(library: str, tmp_path: Path) -> None:
    for file in (f"{library}.yaml", f"{library}.json", f"{library}.faults"):
        (tmp_path / file).write_bytes((DATA / file).read_bytes())
    deep = Deep(Source(tmp_path))
    try:
        tasks = deep.tasks()
    except BenchmarkError as error:
        if "cannot be fetched" in str(error):
            pytest.skip("pip reaches no package index")
        raise
    shipped = read_recipe(DATA / f"{library}.yaml")
    assert len(tasks) == len(shipped.tasks) and not deep.excluded()
    releases = Releases(Source(tmp_path))
    assert len(releases.tasks()) == len(shipped.releases) and not releases.excluded()
    assert all(find_difficulty(task) for task in (*tasks, *releases.tasks())), (
        "`stackrank validate --record` measures them"
    )


def test_recipes_keep_the_rules() -> None:
    files = sorted(DATA.glob("*.yaml"))
    recipes = [read_recipe(file) for file in files]
    tasks = [(requirement, task) for requirement in recipes for task in requirement.tasks]
    assert len({task.id for _, task in tasks}) == len(tasks)
    # A sandbox has these, or pip and setuptools have them within: an agent could read there what is right.
    installed = set(re.findall(r"^([\w-]+)==", REQUIREMENTS.read_text(encoding="utf-8"), re.M))
    assert "pytest" in installed
    for file, shipped in zip(files, recipes, strict=True):
        assert shipped.library not in installed | IN_PIP
        # Another version of what the sandbox has would take its place; what pip has within is not in the way.
        assert not {requirement.partition("==")[0] for requirement in shipped.requirements} & installed
        assert file.read_text(encoding="utf-8").startswith("# stackrank-canary ")
        assert file.stem == shipped.library
        assert all("--hash=sha256:" in requirement and "==" in requirement for requirement in shipped.requirements)
        # Every fault is in one release, and every fault of a release has tests of its own.
        assert sorted(part for parts in shipped.releases.values() for part in parts) == sorted(
            t.id for t in shipped.tasks if t.id not in HIDING
        )
        tests = read_tests(file, shipped)
        assert {name: [*tests[name].shown] for name in tests} == shipped.releases
        assert all(own and found.kept for found in tests.values() for own in found.shown.values())
        assert all(name.startswith(f"{shipped.library}-release") for name in shipped.releases)
    for shipped, task in tasks:
        assert task.id.startswith(f"{shipped.library}-"), task.id
        assert task.category in CATEGORIES, task.id
        for report in filter(None, (task.report, task.hidden_report)):
            asserts = [node for node in ast.walk(ast.parse(report)) if isinstance(node, ast.Assert)]
            assert len(asserts) >= 2, task.id
        for change in (*task.changes, *task.reworded):
            assert f"/{change.file}".startswith(f"/{shipped.package}"), task.id
            assert change.file.rpartition("/")[2] not in task.statement, f"{task.id} says where it is"
