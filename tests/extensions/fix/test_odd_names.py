"""Folders whose names mean something else as patterns, in a repository that `stackrank fix` mends."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.repo import Repo
from stackrank.extensions.fix.finding.problems import Problem, write_problems
from stackrank.extensions.fix.finding.project import TestOptions, open_project
from stackrank.extensions.fix.finding.suite import Suite
from tests.env.benchmarks.test_odd_names import NAMES, PROGRAM, TEST, one
from tests.support.repository import git, write


@pytest.mark.parametrize("name", NAMES)
def test_what_fix_gives_an_agent(tmp_path: Path, name: str) -> None:
    write(
        tmp_path / "code",
        {**PROGRAM, f"{name}/tests/test_x.py": TEST, f"{name}/tests/data.txt": "1", "test_y.py": TEST},
    )
    git(tmp_path / "code", "init", "--quiet")
    git(tmp_path / "code", "add", ".")
    git(tmp_path / "code", "commit", "--quiet", "-m", "One")
    project = open_project(tmp_path / "code", TestOptions(setup=()))
    test = "test_y.py::test_x"
    problem = Problem("p", "", "", (test,), Suite(frozenset(), {test: ""}, ()))
    task = one(Repo(Source(write_problems(project, [problem], tmp_path / "out"))))
    assert not task.may_edit(f"{name}/tests/data.txt") and task.may_edit("cart.py")
