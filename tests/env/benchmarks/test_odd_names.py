"""Folders whose names mean something else as patterns: what decides stays read-only, what is secret stays hidden."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from stackrank.env.benchmarks.aider import Aider
from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.repo import Repo
from stackrank.env.benchmarks.swebench.benchmark import SweBench, SweBenchDebug
from stackrank.env.patches import make_diff
from stackrank.env.patterns import Pattern
from stackrank.env.statement_alone import statement_alone
from stackrank.env.task import Task
from tests.support.repository import git, instance, make_repository, write, write_lines
from tests.support.session import sample

NAMES = (
    "[x]",
    "[!x]",
    "*",
    "?a",
    "!a",
    "#a",
    " a",
    "a ",
    "-a",
    "a\nb",
    "a\n",
    "\\a",
    "a\\",
    "é",
    "e\u0301",
    "a[1] (b)*",
)
PROGRAM = {"cart.py": "x = 1\n"}
TEST = "def test_x():\n    assert True\n"


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def one(benchmark: Repo | SweBench | Aider) -> Task:
    """The only task of a benchmark."""
    assert not benchmark.excluded()
    (task,) = benchmark.tasks()
    return task


def repo_task(folder: Path, **fields: object) -> Task:
    """A task of a tasks.yaml in a folder."""
    entry = {"id": "t", "statement": "s", "source": {"path": "."}, "test": "python -m pytest", **fields}
    (folder / "tasks.yaml").write_text(yaml.safe_dump({"schema": 1, "name": "m", "tasks": [entry]}, allow_unicode=True))
    return one(Repo(Source(folder)))


def test_tests_in_a_repo_task_stay_read_only(tmp_path: Path, name: str) -> None:
    path = f"{name}/check_x.py"
    write(tmp_path, {**PROGRAM, path: TEST, "a/cart.py": "y = 1\n", "x/cart.py": "z = 1\n"})
    task = repo_task(tmp_path, fail_to_pass=[f"{path}::test_x"])
    assert not task.may_edit(path)
    assert [file for file in task.files if task.may_edit(file)] == ["a/cart.py", "cart.py", "x/cart.py"]


def test_patches_of_a_repo_task_stay_hidden(tmp_path: Path, name: str) -> None:
    if "\n" in name:
        pytest.skip("a text of several lines is taken for the patch itself")
    fixed = {"cart.py": b"x = 2\n"}
    write(tmp_path, {**PROGRAM, "test_x.py": TEST, f"{name}/fix.txt": make_diff({"cart.py": b"x = 1\n"}, fixed)})
    test_patch = make_diff({}, {f"{name}/test_new.py": TEST.encode()})
    task = repo_task(tmp_path, fix=f"{name}/fix.txt", test_patch=test_patch)
    assert task.fix and f"{name}/fix.txt" not in task.files
    assert f"{name}/test_new.py" in task.files and not task.may_edit(f"{name}/test_new.py")


def test_hidden_files_of_a_repo_task_in_a_commit(tmp_path: Path, name: str) -> None:
    write(tmp_path / "code", {**PROGRAM, f"{name}/answer.py": "secret\n", "test_x.py": TEST})
    git(tmp_path / "code", "init", "--quiet")
    git(tmp_path / "code", "add", ".")
    git(tmp_path / "code", "commit", "--quiet", "-m", "One")
    source = {"git": "code", "commit": git(tmp_path / "code", "rev-parse", "HEAD").strip()}
    task = repo_task(tmp_path, source=source, hidden=[Pattern.literal(f"{name}/answer.py").text])
    assert set(task.files) == {"cart.py", "test_x.py"} and set(task.hidden_files) == {f"{name}/answer.py"}


def test_solutions_of_aider_may_be_edited_and_nothing_else(tmp_path: Path, name: str) -> None:
    exercise = tmp_path / "exercises" / "practice" / "one"
    config = {"files": {"solution": [f"{name}/cart.py"], "test": ["cart_test.py"], "example": [".meta/example.py"]}}
    write(exercise, {f"{name}/cart.py": "x = 1\n", "cart_test.py": TEST, "a/cart.py": "", "x/cart.py": ""})
    write(exercise, {".meta/config.json": json.dumps(config), ".docs/instructions.md": "Do it.\n"})
    write(exercise, {".meta/example.py": "x = 2\n"})
    task = one(Aider(Source(tmp_path)))
    assert [path for path in task.files if task.may_edit(path)] == [f"{name}/cart.py"]


@pytest.mark.parametrize("kind", sample([SweBench, SweBenchDebug], [SweBench]))
def test_tests_of_swebench_stay_read_only(tmp_path: Path, name: str, kind: type[SweBench]) -> None:
    repo = make_repository(tmp_path / "repos" / "acme" / "shop")
    path = f"tests/{name}/test_more.py"
    patch = make_diff({}, {path: TEST.encode()})
    row = instance(repo, test_patch=patch, FAIL_TO_PASS=json.dumps([f"{path}::test_x"]), PASS_TO_PASS="[]")
    file = write_lines(tmp_path / "rows.jsonl", [row])
    task = one(kind(Source(file, repos=tmp_path / "repos")))
    assert not task.may_edit(path) and task.may_edit("src/shop/cart.py")


def test_a_reproduction_may_be_written_where_everything_else_is_chosen(name: str) -> None:
    files = {"cart.py": b"x = 1\n", f"{name}/test_x.py": TEST.encode()}
    task = Task("t", "b", "s", files, "python -m pytest", fail_to_pass=(f"{name}/test_x.py::test_x",))
    view = statement_alone(replace(task, failing_files=(f"{name}/test_x.py",)))
    assert set(view.task.files) == {"cart.py"} and view.task.may_edit(view.own_test)
