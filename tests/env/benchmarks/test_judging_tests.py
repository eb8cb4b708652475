"""Which tests of a user's task judge, which of them agents see, and how their lists are recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from stackrank.env.actions import Action
from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.benchmarks.testfiles import find_unrun, test_files, visible_command
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.scoring.proof import find_proof
from stackrank.env.validate import RecordsValidations, validate
from tests.env.benchmarks.test_repo import GOOD, folder, load, only
from tests.fixtures.env import EVERYTHING, usable
from tests.support.repository import write

__all__ = ["folder"]
pytestmark = pytest.mark.slow
test_files.__test__ = False  # type: ignore[attr-defined]

FILES = {
    "tests/test_a.py": b"def test_a(): pass",
    "tests/unit/test_b.py": b"",
    "src/x.py": b"",
    "sub/tests/test_c.py": b"",
}
HIDDEN = {"tests/test_new.py": b"", "answers/one_test.py": b"", "sub/tests/test_d.py": b"", "hidden/test_e.py": b""}


@pytest.mark.parametrize(
    ("command", "visible"),
    [
        ("pytest tests/test_a.py tests/test_new.py", "pytest tests/test_a.py"),
        ("pytest -q tests", "pytest -q tests"),
        ("pytest -q", "pytest -q"),
        ("cd sub && pytest tests/test_c.py tests/test_d.py", "cd sub && python -m pytest tests/test_c.py"),
        ("A=1 pytest -k 'a b' tests/test_new.py tests/unit", "A=1 python -m pytest -k 'a b' tests/unit"),
        ("pytest tests/test_a.py::test_a tests/test_a.py::test_z", "pytest tests/test_a.py::test_a"),
        # Nothing takes the place of what is hidden.
        ("pytest -q tests/test_new.py::test_x", ""),
        ("pytest -p no:cacheprovider hidden", ""),
        ("cd sub && pytest tests/test_d.py", ""),
        ("pytest ./hidden/", ""),
        ("python answers/one_test.py", ""),
    ],
)
def test_a_visible_command_is_the_command_without_what_is_hidden(command: str, visible: str) -> None:
    secret = {**HIDDEN, "tests/test_a.py": b"def test_a(): pass\n\ndef test_z(): pass"}
    assert visible_command(command, FILES, secret) == visible


def test_with_every_test_hidden_nothing_is_visible() -> None:
    hidden = {path: content for path, content in FILES.items() if path.startswith("tests/")}
    assert visible_command("pytest", {"src/x.py": b"", "conftest.py": b""}, hidden) == ""
    assert visible_command("pytest tests", {"src/x.py": b""}, hidden) == ""
    assert visible_command("pytest", {"src/x.py": b"", "test_own.py": b""}, hidden) == "pytest"


def test_listed_tests_that_the_command_does_not_run_are_found() -> None:
    ids = ["tests/test_a.py::test_a", "tests/unit/test_b.py::t", "not a path", "gone.py::t"]
    assert find_unrun("pytest -q tests/test_a.py", ids, FILES) == ["tests/unit/test_b.py::t"]
    assert not find_unrun("pytest -q tests", ids, FILES) and not find_unrun("pytest", ids, FILES)
    assert not find_unrun("cd sub && pytest tests", ["tests/test_c.py::t", "sub/tests/test_c.py::t"], FILES)
    assert find_unrun("cd sub && pytest tests", ids, FILES) == ids[:2]


def test_patterns_of_test_files() -> None:
    patterns = test_files("pytest tests/test_a.py", ["tests/unit/test_b.py::t"], FILES)
    assert [pattern.text for pattern in patterns] == ["/tests/test_a.py", "/tests/unit/test_b.py"]


NAMED = "id: good, source: {path: code}, test: pytest tests/test_cart.py"


@pytest.mark.parametrize("hidden", ["'others/**'", "'others/deep/x_test.py', 'others/test_y.py'"])
def test_what_the_test_names_judges_and_nothing_hidden_is_added(folder: Path, hidden: str) -> None:
    broken = "import no_such_module\n\ndef test_it():\n    assert False\n"
    write(folder, {"code/others/test_y.py": broken, "code/others/deep/x_test.py": broken})
    task = only(load(folder, f"{NAMED}, apply: bug.patch, test_patch: tests.patch, hidden: [{hidden}]"))
    assert sorted(task.hidden_files) == ["others/deep/x_test.py", "others/test_y.py"]
    assert task.score_command is None and task.test_command == "pytest tests/test_cart.py" and task.shows_bug
    assert validate(task, lambda spec: Sandbox(usable("local"), spec), 1).valid


def test_a_hidden_test_leaves_the_statement_alone(folder: Path) -> None:
    write(folder, {"code/tests/test_other.py": "def test_other():\n    assert False\n"})
    patches = "apply: bug.patch, test_patch: tests.patch"
    task = only(load(folder, f"{NAMED}, {patches}, hidden: ['tests/test_cart.py'], statement: Totals are wrong."))
    assert (task.test_command, task.score_command, task.shows_bug) == ("", "pytest tests/test_cart.py", False)
    assert validate(task, lambda spec: Sandbox(usable("local"), spec), 1).valid
    with DebugEnv(task, EVERYTHING, lambda spec: Sandbox(usable("local"), spec)) as env:
        first, _ = env.reset()
        assert "Totals are wrong." in first.text and "no failing test" in first.text and "failed" not in first.text
        assert "python -m pytest test_reproduction.py" in first.text and not env.ends_when_solved
        env.step(Action("rewrite", {"path": "shop/cart.py", "new_code": env.sandbox.read("shop/cart.py").decode()}))
        assert not env.score().resolved
    reason = load(
        folder, GOOD, f"{NAMED.replace('good', 'x')}, {patches}, hidden: ['tests/test_cart.py'], shows_bug: true"
    )
    assert "every test that `pytest tests/test_cart.py` runs is hidden" in reason.excluded()["x"]
    reason = load(folder, GOOD, f"{NAMED.replace('good', 'x')}, fail_to_pass: ['tests/test_other.py::test_other']")
    assert "does not run tests/test_other.py::test_other" in reason.excluded()["x"]


BLOCK = """\
schema: 1
name: mine
tasks:
  # The first one.
  - source: {path: code}  # here
    id: one
    test: pytest tests
    apply: bug.patch
    test_patch: tests.patch
    pass_to_pass: []
  # Written in one line.
  - {id: two, source: {path: code}, test: pytest tests, apply: bug.patch, test_patch: tests.patch}
  - id: listed
    source: {path: code}
    test: pytest tests
    apply: bug.patch
    test_patch: tests.patch
    fail_to_pass:
      - tests/test_cart.py::test_total  # nothing else
"""


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_lists_are_recorded_where_there_are_none(folder: Path, suffix: str) -> None:
    file = folder / f"tasks.{suffix}"
    file.write_text(BLOCK if suffix == "yaml" else json.dumps(yaml.safe_load(BLOCK), indent=1))
    benchmark = load_benchmark("repo", Source(file))
    assert isinstance(benchmark, RecordsValidations)
    tasks = [benchmark.to_record(task) for task in benchmark.tasks()]
    validations = [validate(task, lambda spec: Sandbox(usable("local"), spec), 1) for task in tasks]
    assert all(validation.valid for validation in validations)
    benchmark.record(validations)
    one, two, listed = load_benchmark("repo", Source(file)).tasks()
    assert one.fail_to_pass == two.fail_to_pass == listed.fail_to_pass == ("tests/test_cart.py::test_total",)
    assert one.pass_to_pass == two.pass_to_pass == ("tests/test_cart.py::test_type",) and not listed.pass_to_pass
    assert find_proof(one) is not None and find_proof(one) != find_proof(two)
    text = file.read_text()
    if suffix == "yaml":
        assert all(comment in text for comment in ("# The first one.", "# here", "# Written in", "# nothing else"))
