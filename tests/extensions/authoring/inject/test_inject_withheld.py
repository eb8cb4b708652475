"""Injected bugs as agents see them: half of the tests that notice a bug, and a statement without names of the fault."""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.python_project.guess_setup import setup_of
from stackrank.env.benchmarks.repo import Repo
from stackrank.env.environment import Environment
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Task
from stackrank.env.validate import validate
from stackrank.extensions.authoring.inject.candidates import find_candidates
from stackrank.extensions.authoring.inject.verify import Verified
from stackrank.extensions.authoring.inject.write import write_benchmark, write_source
from tests.extensions.authoring.inject.test_inject import project, session, silent
from tests.fixtures.env import usable

pytestmark = pytest.mark.slow


def assert_withheld(task: Task) -> None:
    """Agents see about half of the functions that notice a bug if there are several, and a statement without names."""
    functions = {test.partition("[")[0].rpartition("::")[2] for test in task.fail_to_pass}
    visible = {function for function in functions if f"def {function}(" in task.files["tests/test_stock.py"].decode()}
    assert visible and task.shows_bug
    if task.hidden_files:
        assert len(functions) > 1 and len(visible) == (len(functions) + 1) // 2
    assert all(
        f"def {function}(" in task.hidden_files["tests/test_stock.py"].decode() for function in functions - visible
    )
    for fault in task.faults:
        assert all(name.rpartition(".")[2] not in task.statement for name in fault.functions)
    assert "stock.py" not in task.statement


def test_tests_are_named_one_by_one(tmp_path: Path) -> None:
    """A command that names withheld functions is shown without them."""
    files = project()
    candidates = find_candidates(files, session(tmp_path, files).reach(), 1)
    names = ("test_price", "test_take")
    tests = tuple(f"tests/test_stock.py::{test}" for test in names)
    verified = Verified("k", "", f"python -m pytest -q -o pythonpath=src {' '.join(tests)}", tests, ())
    bug = next(test for test in candidates if test.file == "src/shop/stock.py")
    write_source(tmp_path, files)
    write_benchmark(tmp_path, "shop", files, [(bug, verified)], Environment(), 30)
    (task,) = Repo(Source(tmp_path)).tasks()
    visible = [test for test in tests if test in task.test_command]
    assert len(visible) == 1 and task.score_command is not None and all(test in task.score_command for test in tests)


@pytest.mark.exhaustive
def test_half_of_the_tests_that_notice_a_bug_are_withheld(tmp_path: Path) -> None:
    files = project()
    injection = session(tmp_path, files, count=6)
    bugs = injection.bugs(injection.reach(), silent)
    write_source(tmp_path, files)
    write_benchmark(tmp_path, "shop", files, bugs, Environment(), 30)
    tasks = Repo(Source(tmp_path)).tasks()
    for task in tasks:
        assert_withheld(task)
    hidden = next(task for task in tasks if task.hidden_files)
    result = validate(hidden, lambda spec: Sandbox(usable("bubblewrap"), spec), rounds=1)
    assert result.valid and result.proof is not None, result.reason


@pytest.mark.parametrize(
    ("pyproject", "needs"),
    [
        (
            "[tool.poetry]\nname = 'x'\n[tool.poetry.group.test.dependencies]\npytest-mock = '^3'\npython = '3'",
            "pytest-mock",
        ),
        ("[tool.poetry]\nname = 'x'\n[tool.poetry.dev-dependencies]\nfreezegun = '*'", "freezegun"),
        ("[project]\nname = 'x'\n[tool.pdm.dev-dependencies]\ntest = ['attrs>=1', '-e file:.']", "'attrs>=1'"),
        ("[project]\nname = 'x'\n[tool.uv]\ndev-dependencies = ['attrs>=1']", "'attrs>=1'"),
        ("[project]\nname = 'x'\n[tool.rye]\nmanaged = true\ndev-dependencies = ['attrs']", "attrs"),
        ("[project]\nname = 'x'\n[tool.uv]\nmanaged = true\n[tool.pdm.dev-dependencies]\ndev = ['attrs']", "attrs"),
    ],
)
def test_what_tests_need_of_poetry_and_pdm(pyproject: str, needs: str) -> None:
    text = f"{pyproject}\n[build-system]\nrequires = []\n"
    assert setup_of({"pyproject.toml": text.encode()}) == [f"python -m pip install -q -e . {needs}"]


def test_what_tests_need_of_setuptools() -> None:
    files = {"setup.py": b"", "setup.cfg": b"[metadata]\nname = x\n[options.extras_require]\ntesting =\n    mock\n"}
    assert setup_of(files) == ["python -m pip install -q -e '.[testing]'"]


def test_a_test_that_fails_only_while_it_is_measured_is_left_out(tmp_path: Path) -> None:
    untraced = "import sys\n\ndef test_untraced():\n    assert sys.gettrace() is None\n"
    reach = session(tmp_path, {**project(), "tests/test_untraced.py": untraced.encode()}).reach()
    assert len(reach.tests) == 5 and not any("untraced" in test for test in reach.tests)


def test_what_tests_import_is_taken_from_other_extras() -> None:
    text = """
        [project]
        name = "a"
        [project.optional-dependencies]
        test = ["pytest"]
        cli = ["click~=8.1", "PyYAML>=6; python_version > '3'", "rich"]
        docs = ["sphinx"]
        [dependency-groups]
        dev = ["numpy", {include-group = "lint"}]
    """
    test = b"try:\n    import click.testing\nexcept ImportError:\n    pass\nfrom yaml import load\nimport numpy as np\n"
    files = {
        "pyproject.toml": textwrap.dedent(text).encode(),
        "tests/test_a.py": test,
        "a/rich_text.py": b"import rich\n",
    }
    (command,) = setup_of(files)
    assert shlex.split(command)[6:] == [".[test]", "numpy", "click~=8.1", "PyYAML>=6; python_version > '3'"]
    # tox.ini, setup.py, and a version that git would know.
    files = {
        "setup.py": b"NEEDS = ['hypothesis>=6', 'mock']\nsetup(use_scm_version=True, tests_require=NEEDS, "
        b"extras_require={'web': ['flask']}, cmdclass=made())\n",
        "tox.ini": b"[testenv]\ndeps =\n    {[base]deps}\n    py{311,312}: freezegun >= 1\n    pytest\n",
        "PKG-INFO": b"Metadata-Version: 2.1\nName: a\nVersion: 3.1\n\nVersion: 9\n",
        "tests/test_a.py": b"from hypothesis import given\nimport flask\nimport freezegun\n",
    }
    assert setup_of(files) == [
        "SETUPTOOLS_SCM_PRETEND_VERSION=3.1 python -m pip install -q -e . 'hypothesis>=6' flask 'freezegun >= 1'"
    ]
    cfg = b"[metadata]\nname = a\n[options.extras_require]\ntests =\n    pytest\ncrypto =\n    cryptography>=3\n"
    files = {"setup.cfg": cfg, "setup.py": b"", "tests/test_a.py": b"from cryptography import x509\n"}
    assert setup_of(files) == ["python -m pip install -q -e '.[tests]' 'cryptography>=3'"]
