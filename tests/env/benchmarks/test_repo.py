"""A user's own bugs in a `tasks.yaml`. Bad data first."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import Benchmark, BenchmarkError, Source
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.benchmarks.repo_schema import read_tasks, write_tasks
from stackrank.env.benchmarks.testfiles import test_files, with_doctests
from stackrank.env.patches import make_diff
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.log_formats import format_for, read_log
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from stackrank.env.validate import validate
from stackrank.patches.contents import Link
from tests.fixtures.env import usable
from tests.support.repository import (
    BUGGY,
    FIXED,
    NEW_TEST,
    OLD_TEST,
    REMEDY,
    SECRET,
    make_repository,
    write,
)

pytestmark = pytest.mark.slow

BUG = make_diff({"shop/cart.py": FIXED.encode()}, {"shop/cart.py": BUGGY.encode()})
TESTS = make_diff({"tests/test_cart.py": OLD_TEST.encode()}, {"tests/test_cart.py": NEW_TEST.encode()})
test_files.__test__ = False  # type: ignore[attr-defined]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound shop without a test of totals, and patches: one plants a bug, one adds the test."""
    files = {"shop/cart.py": FIXED, "shop/__init__.py": "", "tests/test_cart.py": OLD_TEST, "conftest.py": ""}
    write(tmp_path / "data" / "code", {**files, "docs/solutions/one.md": SECRET, ".git/config": "x"})
    write(tmp_path / "data", {"bug.patch": BUG, "tests.patch": TESTS})
    write(tmp_path, {"outside.patch": BUG})
    return tmp_path / "data"


def load(folder: Path, *tasks: str, head: str = "schema: 1\nname: mine\nlicense: MIT\n") -> Benchmark:
    (folder / "tasks.yaml").write_text(head + "tasks:\n" + "".join(f"  - {{{task}}}\n" for task in tasks))
    return load_benchmark("repo", Source(folder))


def only(benchmark: Benchmark) -> Task:
    assert not benchmark.excluded()
    (task,) = benchmark.tasks()
    return task


GOOD = "id: good, source: {path: code}, test: pytest tests"
BAD = {
    "unknown field": ("id: x, source: {path: code}, test: y, fail_to_pas: []", "line 6: fail_to_pas: not a field, did"),
    "missing field": ("id: x, source: {path: code}", "line 6: test: missing"),
    "wrong type": ("id: x, source: {path: code}, test: y, timeout_s: soon", "line 6: timeout_s: "),
    "no id": ("id: 'a b', source: {path: code}, test: y", "line 6: id: "),
    "source out of the folder": (
        "id: x, source: {path: ../..}, test: y",
        "line 6: source.path: the path leaves the folder",
    ),
    "absolute source": ("id: x, source: {path: /etc}, test: y", "line 6: source.path: the path leaves the folder"),
    "patch out of the folder": (
        "id: x, source: {path: code}, test: y, apply: ../outside.patch",
        "line 6: apply: the path leaves the folder",
    ),
    "two sources": ("id: x, source: {path: code, git: a, commit: abcd}, test: y", "line 6: source: name either"),
    "git without a commit": ("id: x, source: {git: code}, test: y", "git and commit go together"),
    "no such folder": ("id: x, source: {path: none}, test: y", "none is not a folder"),
    "no such patch": ("id: x, source: {path: code}, test: y, fix: none.patch", "there is no patch"),
    "patch that does not apply": ("id: x, source: {path: code}, test: y, fix: bug.patch, apply: bug.patch", "fix: the"),
    "no repository": ("id: x, source: {git: code/shop, commit: abcdef}, test: y", "is not a git repository"),
    "taken id": ("id: good, source: {path: code}, test: y", "line 6: the task in line 5 already has the id good"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tasks_are_a_sentence_and_the_others_go_on(folder: Path, name: str) -> None:
    task, part = BAD[name]
    benchmark = load(folder, GOOD, task)
    assert [task.id for task in benchmark.tasks()] == ["good"]
    (reason,) = benchmark.excluded().values()
    assert part in reason and "\n" not in reason


def test_a_digest_does_not_depend_on_the_process(tmp_path: Path) -> None:
    """Python shuffles sets, differently in each process."""
    write(tmp_path, {"code/a.py": "x = 1\n"})
    tests = {f"tests/test_{number}.py": b"def test_it():\n    pass\n" for number in range(5)}
    task = {"id": "x", "source": {"path": "code"}, "test": "python -m pytest", "hidden_tests": True}
    tasks = [{**task, "test_patch": make_diff({}, tests)}]
    (tmp_path / "tasks.yaml").write_text(json.dumps({"schema": 1, "tasks": tasks}))
    program = (
        "import sys; from pathlib import Path; from stackrank.env.benchmarks.base import Source; "
        "from stackrank.env.benchmarks.repo import Repo; print(Repo(Source(Path(sys.argv[1]))).tasks()[0].digest)"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": str(seed)}, capture_output=True, text=True, check=True,
        ).stdout
        for seed in range(1, 4)
    }  # fmt: skip
    assert len(digests) == 1


def test_links_do_not_lead_out(folder: Path) -> None:
    (folder / "leak").symlink_to(folder.parent)
    (folder / "leak.patch").symlink_to(folder.parent / "outside.patch")
    (folder / "code" / "secret.txt").symlink_to("/etc/passwd")
    benchmark = load(
        folder, GOOD, "id: x, source: {path: leak}, test: y", "id: y, source: {path: code}, test: y, apply: leak.patch"
    )
    reasons = sorted(benchmark.excluded().values())
    assert reasons == [f"leak.patch leaves {folder}", f"source.path leak leaves {folder}"]
    assert benchmark.tasks()[0].files["secret.txt"] == Link(b"/etc/passwd"), "it was not read"
    assert not bytes(benchmark.tasks()[0].files["secret.txt"])


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("tasks: [", "neither YAML nor JSON"), ("- a", "not a list of tasks"), ("schema: 1", "tasks: missing"),
        ("schema: 2\ntasks: [{}]", "id: missing"), ("schema: 1\ntask: []\ntasks: []", "line 2: task: not a field, did"),
        ("{\"schema\": 1, \"tasks\": [{\"id\": \"x\"", "neither YAML nor JSON"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_used(tmp_path: Path, text: str, part: str) -> None:
    (tmp_path / "tasks.yaml").write_text(text)
    with pytest.raises(BenchmarkError, match=re.escape(part)):
        load_benchmark("repo", Source(tmp_path))


def test_json_and_what_is_written_is_read_again(folder: Path) -> None:
    data = {"schema": 1, "tasks": [{"id": "a", "source": {"path": "code"}, "test": "pytest", "apply": BUG}]}
    (folder / "tasks.json").write_text(json.dumps(data))
    content, problems = read_tasks(folder / "tasks.json")
    write_tasks(folder / "again.yaml", content)
    assert not problems and read_tasks(folder / "again.yaml") == (content, {})
    assert only(load_benchmark("repo", Source(folder / "again.yaml"))).files["shop/cart.py"] == BUGGY.encode()


def test_planted_bug_and_shown_tests(folder: Path) -> None:
    task = only(load(folder, f"{GOOD}, apply: bug.patch, test_patch: tests.patch, hidden: ['docs/solutions/**']"))
    assert task.files["shop/cart.py"] == BUGGY.encode() and task.files["tests/test_cart.py"] == NEW_TEST.encode()
    assert task.fix and task.faults[0].functions == ("total",) and task.shows_bug
    assert not task.may_edit("tests/test_cart.py") and task.may_edit("shop/cart.py")
    assert sorted(task.files) == ["conftest.py", "shop/__init__.py", "shop/cart.py", "tests/test_cart.py"]
    result = validate(task, lambda spec: Sandbox(usable("local"), spec), 1)
    assert result.valid and result.fail_to_pass == ("tests/test_cart.py::test_total",)
    # Without its tests, or with others, nothing is resolved.
    for changes in (Changes(deleted=("tests/test_cart.py",)), Changes(files={"tests/test_cart.py": b""}), Changes()):
        assert not score(task, changes, lambda spec: Sandbox(usable("local"), spec)).resolved


def test_a_doctest_stands_in_what_may_be_edited(folder: Path) -> None:
    ids = ["shop/cart.py::shop.cart.total", "shop/cart.py::shop.cart", "tests/test_cart.py::test_total[1.5]"]
    assert with_doctests([*ids, "checks.py::test_it[a.b]", "shop/__init__.py::shop", "README.rst::README.rst"]) == {
        "shop/cart.py",
        "shop/__init__.py",
    }
    assert with_doctests(["tests/data.py::tests.data", "test.py::test", "checks.py::Checks::test_it"]) == set()
    doctest = "id: good, source: {path: code}, test: pytest --doctest-modules shop/cart.py"
    entry = f"{doctest}, fail_to_pass: ['shop/cart.py::shop.cart.total']"
    assert only(load(folder, entry)).may_edit("shop/cart.py")
    # Where the fix is known and elsewhere, nobody needs to.
    elsewhere = make_diff({"shop/__init__.py": b""}, {"shop/__init__.py": b"x = 1\n"})
    (folder / "elsewhere.patch").write_text(elsewhere)
    assert not only(load(folder, f"{entry}, fix: elsewhere.patch")).may_edit("shop/cart.py")


def test_hidden_tests_and_patches_beside_the_source_are_not_shown(folder: Path) -> None:
    write(folder, {"all.patch": BUG.replace("shop/cart.py", "code/shop/cart.py")})
    write(folder, {"new.patch": TESTS.replace("tests/test_cart.py", "code/tests/test_cart.py")})
    patches = "apply: all.patch, test_patch: new.patch, hidden_tests: true"
    task = only(load(folder, f"id: x, source: {{path: .}}, test: pytest code/tests, {patches}"))
    assert not any(REMEDY.encode() in content or b"test_total" in content for content in task.files.values())
    assert "tasks.yaml" not in task.files and "all.patch" not in task.files and not task.shows_bug
    assert list(task.hidden_files) == ["code/tests/test_cart.py"] and not task.may_edit("code/tests/test_cart.py")


def test_git_source(folder: Path, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "clone")
    write(folder, {"fix.patch": repository.fix, "tests.patch": repository.test_patch})
    source = f"source: {{git: ../clone, commit: '{repository.buggy_commit[:8]}'}}"
    task = only(load(folder, f"id: x, {source}, test: pytest tests, fix: fix.patch, test_patch: tests.patch"))
    assert validate(task, lambda spec: Sandbox(usable("local"), spec), 1).valid
    below = only(load(folder, f"id: x, {source[:-1]}, subdir: shop}}, test: pytest"))
    assert sorted(below.files) == ["__init__.py", "cart.py"]
    reason = load(folder, GOOD, f"id: x, source: {{git: ../clone, commit: '{'0' * 40}'}}, test: y").excluded()["x"]
    assert "has no commit 0000" in reason
    reason = load(folder, GOOD, "id: x, source: {git: ../clone, commit: 12345678}, test: y").excluded()["x"]
    assert reason.endswith("source.commit: YAML reads 12345678 where text is expected: put it in quotes")


def test_results_read_from_logs() -> None:
    log = "sympy/core/tests/test_kind.py[3]\ntest_a ok\ntest_b E\ntest_c f\ntest_d F\ntest_e s   [FAIL]\ntest_b ok\n"
    assert read_log("sympy", log) == {
        "test_a": "passed", "test_b": "failed", "test_c": "xfailed", "test_d": "failed", "test_e": "skipped",
    }  # fmt: skip
    log = "test_x (a.B) ... ok\ntest_y (a.B)\nA docstring. ... FAIL\ntest_z (a.B) ... skipped 'no'\n"
    outcomes = read_log("unittest", log)
    assert (outcomes["test_x (a.B)"], outcomes["test_z (a.B)"]) == ("passed", "skipped")
    # A pattern that is tried at every place of an endless line would take hours.
    assert read_log("unittest", "test_x (a.B) " + "... " * 500_000) == {}
    assert format_for("sympy/sympy", "", "bin/test -C") and format_for("a/b", "", "python -m pytest") == ""


def test_a_command_that_is_not_pytest_counts_by_its_log(folder: Path) -> None:
    check = "import sys\nfrom shop.cart import total\n"
    check += "print('test_total', 'ok' if total([1, 2]) == 3 else 'F')\n"
    write(folder / "code", {"check.py": f"{check}print('test_other ok')\nsys.exit(1)\n"})
    task = only(load(folder, "id: x, source: {path: code}, test: python check.py, apply: bug.patch"))
    task = replace(task, log_format="sympy", fail_to_pass=("test_total",), pass_to_pass=("test_other",))
    fixed = Changes(files={"shop/cart.py": FIXED.encode()})
    unfixed = score(task, Changes(), lambda spec: Sandbox(usable("local"), spec))
    assert unfixed.unfixed == ("test_total",) and unfixed.tests == {"test_total": "failed", "test_other": "passed"}
    # Ends with 1 although no test failed: not believed.
    assert not score(task, fixed, lambda spec: Sandbox(usable("local"), spec)).resolved
    crashing = replace(task, files={**task.files, "check.py": check.encode() + b"print('test_other ok')\n"})
    assert score(crashing, fixed, lambda spec: Sandbox(usable("local"), spec)).resolved
