"""An agent that is shown no failing test: what it sees instead, and that its verdict is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stackrank.env.actions import Action
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import CommitFiles
from stackrank.env.debug_env import DebugEnv
from stackrank.env.patterns import Pattern
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.statement_alone import statement_alone
from tests.fixtures.env import CART, EVERYTHING, Episode, cart, make_task, source, usable
from tests.support.repository import git, write

PASSES = "def test_nothing():\n    assert True\n"
FILES = {"cart.py": CART, "tests/test_cart.py": PASSES, "tests/test_other.py": PASSES, "tests/conftest.py": ""}
BELOW = {"shop/cart.py": CART, "shop/tests/test_cart.py": PASSES, "shop/tests/test_other.py": PASSES}
ONE = ("tests/test_cart.py::test_nothing",)


@pytest.mark.parametrize(
    ("files", "command", "lists", "withheld", "remaining"),
    [
        # All that a command runs, where nothing says which of it fails.
        (FILES, "python -m pytest -q tests", (), {"cart", "other"}, "python -m pytest -q test_reproduction.py"),
        (FILES, "pytest", (), {"cart", "other"}, "python -m pytest test_reproduction.py"),
        (FILES, "pytest -k cart tests/test_cart.py", (), {"cart"}, "python -m pytest -k cart test_reproduction.py"),
        # What fails, where the lists say it.
        (FILES, "python -m pytest -q tests", ONE, {"cart"}, "python -m pytest -q tests"),
        (FILES, "pytest", ONE, {"cart"}, "python -m pytest"),
        (FILES, "pytest tests/test_cart.py::test_nothing tests/test_other.py", ONE, {"cart"},
         "python -m pytest tests/test_other.py"),
        # In a folder, with variables.
        (BELOW, "cd shop && A='b c' python -m pytest tests", ONE, {"cart"},
         "cd shop && A='b c' python -m pytest tests"),
        (BELOW, "cd shop && pytest", ("shop/tests/test_cart.py::test_nothing",), {"cart"},
         "cd shop && python -m pytest"),
        (BELOW, "cd shop && A=b python -m pytest tests/test_cart.py", (), {"cart"},
         "cd shop && A=b python -m pytest ../test_reproduction.py"),
        # No pytest.
        (FILES, "python -m unittest tests/test_cart.py", (), {"cart"}, "python test_reproduction.py"),
        # A list of another form tells no file.
        (FILES, "bin/check tests/test_cart.py", ("test_nothing",), {"cart"}, "python test_reproduction.py"),
    ],
)  # fmt: skip
def test_failing_tests_are_withheld_and_the_others_run(
    files: dict[str, str], command: str, lists: tuple[str, ...], withheld: set[str], remaining: str
) -> None:
    visible = statement_alone(make_task(files, test_command=command, fail_to_pass=lists))
    assert {path.rpartition("test_")[2].removesuffix(".py") for path in visible.withheld} == withheld
    assert set(visible.task.files) == set(files) - visible.withheld
    assert visible.task.test_command == remaining and visible.runs is ("test_reproduction" not in remaining)
    assert not visible.task.shows_bug


def test_what_shows_no_bug_is_shown_as_it_is() -> None:
    hidden = {"tests/test_hidden.py": PASSES.encode()}
    task = make_task(FILES, shows_bug=False, hidden_files=hidden, fail_to_pass=("tests/test_hidden.py::test_nothing",))
    visible = statement_alone(task)
    assert not visible.withheld and visible.runs and visible.task.files == task.files
    assert visible.task.test_command == task.test_command


def test_what_cannot_be_withheld_is_said() -> None:
    with pytest.raises(BenchmarkError, match="names no test file that could be withheld"):
        statement_alone(make_task({"cart.py": CART, "check.sh": ""}, test_command="sh check.sh"))


def test_files_of_a_commit_stay_lazy(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "All."]):
        git(tmp_path, *command)
    commit = git(tmp_path, "rev-parse", "HEAD").strip()
    visible = statement_alone(replace(make_task({}, fail_to_pass=ONE), files=CommitFiles(tmp_path, commit))).task
    assert isinstance(visible.files, CommitFiles) and set(visible.files) == set(FILES) - {"tests/test_cart.py"}


FIXED = source(CART).replace(b" - 1", b"").decode()
OWN = "from cart import total\n\n\ndef test_it():\n    assert total([1]) == 1\n"


@pytest.mark.parametrize("changes", [{}, {"tests/test_other.py": PASSES}])
def test_an_episode_on_the_statement_alone(changes: dict[str, str]) -> None:
    lists = {"fail_to_pass": ("tests/test_cart.py::test_total", "tests/test_cart.py::test_average")}
    task = cart(changes, editable=(Pattern.literal("cart.py"),), **lists)
    env = DebugEnv(task, EVERYTHING, lambda spec: Sandbox(usable("local"), spec), shows_failing_test=False)
    with env:
        first, _ = env.reset()
        act = Episode(env)
        assert "It is wrong." in first.text and "There is no failing test that shows it" in first.text
        assert "test_cart" not in first.text and "failed" not in first.text
        assert ("1 passed" in first.text) is bool(changes)
        assert "test_cart" not in act("listdir").text and not act("view", path="tests/test_cart.py").ok
        assert "test_total" not in act("grep", pattern="total").text
        assert not env.ends_when_solved
        # Its own test shows it, by `eval` and in the debugger.
        assert act("rewrite", path="test_reproduction.py", new_code=OWN).ok
        assert "assert 0 == 1" in act("eval", test="test_reproduction.py").text
        assert "assert 0 == 1" in act.pdb("c", test="test_reproduction.py::test_it").text
        act("rewrite", path="cart.py", new_code=FIXED)
        assert "1 passed" in act("eval", test="test_reproduction.py").text
        # A file that is by chance called as a withheld one is no trick.
        act("bash", command="mkdir -p tests && echo > tests/test_cart.py")
        env.step(Action("submit"))
        score = env.score()
    assert score.resolved and not score.tampered and not score.notes
    assert set(score.tests) >= set(task.fail_to_pass)
    assert env.changes is not None and set(env.changes.files) == {"cart.py"}


def test_a_wrong_fix_fails_by_the_withheld_test() -> None:
    env = DebugEnv(cart(), EVERYTHING, lambda spec: Sandbox(usable("local"), spec), shows_failing_test=False)
    with env:
        env.reset()
        Episode(env)("rewrite", path="tests/test_cart.py", new_code=PASSES)
        assert not env.score().resolved and not env.score().tampered
