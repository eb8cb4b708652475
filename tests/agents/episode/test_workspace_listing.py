"""The description of the workspace that agents get before their first step."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from stackrank.agents.episode.workspace import find_failing_file, list_files
from stackrank.env.state import State
from stackrank.env.task import Task
from tests.fixtures.env import make_task


def failed(*tests: str) -> State:
    ids = dict.fromkeys(tests, "failed")
    report = {"passed": 0, "failed": len(ids), "ids": ids}
    return cast(State, {"kind": "tests", "exit": 1, "timed_out": False, "solved": False, "tests": report})


def library(modules: int) -> Task:
    modules_by_path = {f"lib/{folder}/m{number}.py": "" for folder in ("a", "b") for number in range(modules)}
    tests = {f"tests/data/{number}.txt": "" for number in range(9)}
    return make_task(
        {"setup.cfg": "", "lib/__init__.py": "", **modules_by_path, **tests, "tests/test_a.py": "ROW = 1\n"}
    )


def _names(modules: int) -> str:
    return " ".join(sorted(f"m{number}.py" for number in range(modules)))


def test_the_program_comes_first_and_folders_of_tests_are_one_line() -> None:
    lines = list_files(library(2))
    assert lines[:2] == ("setup.cfg", "lib/__init__.py") and "lib/b/m1.py" in lines
    assert lines[-2:] == ("tests/test_a.py  (read-only)", "tests/data/  (9 files, read-only)")


def test_every_folder_of_a_large_program_is_listed() -> None:
    lines = list_files(library(50))
    assert lines[1:4] == ("lib/__init__.py", *(f"lib/{folder}/  {_names(50)}" for folder in ("a", "b")))
    assert len(lines) <= 60
    assert len(list_files(make_task({f"m{number}.py": "" for number in range(99)}))) == 61


def test_deep_folders_of_a_very_large_program_are_only_counted() -> None:
    modules = {f"lib/{folder}/m{number}.py": "" for folder in ("a/deep", "b/deep", "b") for number in range(150)}
    lines = list_files(make_task({**modules, "lib/b/deep/more.py": "", "lib/core.py": "", "lib/first.py": ""}))
    assert lines[0] == "lib/  core.py first.py"
    assert lines[1:] == (f"lib/a/deep/  {_names(150)}", f"lib/b/  {_names(150)}", "lib/b/deep/  (151 files)")


def test_the_failing_test_file_is_shown_if_it_is_the_only_one_and_short() -> None:
    short = b"\nROW = 1\n\ndef test(): assert not ROW\n"
    task = replace(make_task({}), files={"tests/test_a.py": short, "tests/test_b.py": b"#" * 3000})
    assert find_failing_file(task, failed("tests/test_a.py::test")) == (
        "tests/test_a.py:\n1  \n2  ROW = 1\n3  \n4  def test(): assert not ROW"
    )
    assert find_failing_file(task, failed("tests/test_a.py::test", "tests/test_b.py::test")) == ""
    assert find_failing_file(task, failed("tests/test_b.py::test")) == ""
    assert find_failing_file(task, failed("gone.py::test")) == find_failing_file(task, failed()) == ""
