"""Tasks from commits of a repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.patches import make_diff
from stackrank.env.sandbox.guest.testing.commands import pytest_run
from stackrank.env.sandbox.registry import backend
from stackrank.env.scoring.proof import find_proof
from stackrank.env.scoring.report import TestReport
from stackrank.extensions.authoring.from_commit import TaskOptions, draft, save, split
from stackrank.extensions.authoring.new_task import make_task
from stackrank.patches.reading import Patch
from tests.env.benchmarks.test_repo import BUG, TESTS
from tests.support.repository import FIXED, NEW_TEST, REMEDY, SampleRepository, git, make_repository, write

pytestmark = pytest.mark.slow

TOTAL = "tests/test_cart.py::test_total"


@pytest.fixture
def repo(tmp_path: Path) -> SampleRepository:
    return make_repository(tmp_path / "clone")


def test_init_task(repo: SampleRepository, tmp_path: Path) -> None:
    out, commit = tmp_path / "out", (str(repo.path), repo.fixed_commit)
    for name in ("first", "second"):
        save(draft(*commit, TaskOptions(id=name)), out, *(TestReport({TOTAL: end}) for end in ("failed", "passed")))
    make_task(*commit, out, TaskOptions(id="first"), backend("local"), print)  # replaces the task of the same name
    benchmark = load_benchmark("repo", Source(out))
    assert [task.id for task in benchmark.tasks()] == ["second", "first"] and not benchmark.excluded()
    task = benchmark.tasks()[1]
    assert task.fail_to_pass == (TOTAL,)
    assert task.pass_to_pass == ("tests/test_cart.py::test_type",)
    assert "Totals are right" not in task.statement and REMEDY not in task.statement
    assert find_proof(task) is not None  # the first verdict need not make it again


def test_commits_that_make_no_task(repo: SampleRepository, tmp_path: Path) -> None:
    def commit(files: dict[str, str]) -> str:
        write(repo.path, files)
        git(repo.path, "add", ".")
        git(repo.path, "commit", "--quiet", "-m", "x")
        return git(repo.path, "rev-parse", "HEAD").strip()

    def reason(commit: str, **options: str) -> str:
        with pytest.raises(BenchmarkError) as caught:
            make_task(str(repo.path), commit, tmp_path / "out", TaskOptions(**options), backend("local"), print)  # type: ignore[arg-type]
        assert not (tmp_path / "out").exists()
        return str(caught.value)

    assert "changes no test" in reason(commit({"shop/cart.py": FIXED + "\n"}))
    assert "changes only tests" in reason(commit({"tests/test_cart.py": NEW_TEST + "\n"}))
    assert "also pass without it" in reason(commit({"shop/a.py": "", "tests/test_a.py": "def test_a():\n    pass\n"}))
    for number, path in enumerate(("shop/_speed.c", "shop/fast.pyx", "core/src/lib.rs")):
        named = reason(commit({path: "x", f"tests/test_fast_{number}.py": "def test_a():\n    pass\n"}))
        assert f"the fix changes {path}, which is compiled only" in named
    skips = "import pytest\n\n@pytest.mark.skipif(True, reason='none')\ndef test_it():\n    pass\n"
    entry = "def test_c():\n    pass\n"
    skipped = reason(commit({"shop/c.py": "", "tests/test_c.py": entry, "tests/test_d.py": skips}))
    assert "1 test is skipped, perhaps for what --require or --setup could install" in skipped
    newer = "import sys\n\ndef test_it():\n    assert sys.version_info\n"
    assert "may show with another --python" in reason(commit({"shop/e.py": "", "tests/test_e.py": newer}))
    server = reason(commit({"shop/f.py": "", "tests/test_f.py": "import psycopg2\n"}))
    assert "No module named 'psycopg2'): a sandbox has no database server" in server
    assert "do not run with the fix" in reason(commit({"shop/b.py": "", "tests/test_b.py": "import none\n"}))
    go = commit({"shop.go": "package shop\n", "shop_test.go": "package shop\n"})
    assert "changes no test, so" in reason(go)
    remedy = reason(go, toolchain="go", test="go test -json ./...")
    assert "needs --test" in remedy and "--results" in remedy and "unittest" in remedy
    assert "no commit 1234" in reason("1234567")
    assert "is the first commit" in reason(repo.buggy_commit)


def test_a_repository_of_no_use_is_said_with_its_remedy(repo: SampleRepository, tmp_path: Path) -> None:
    def reason(repository: Path, commit: str = "HEAD") -> str:
        with pytest.raises(BenchmarkError) as caught:
            draft(str(repository), commit, TaskOptions())
        return str(caught.value)

    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{repo.path}", "shallow")
    git(tmp_path, "init", "--quiet", "new")
    assert "run `git fetch --unshallow`" in reason(tmp_path / "shallow")
    assert "choose a later one" in reason(repo.path, repo.buggy_commit)
    assert "has no commits yet: commit its files" in reason(tmp_path / "new")
    assert f"a folder of {repo.path}: name that one, with --subdir shop" in reason(repo.path / "shop")
    assert "is not a git repository: run `git init`" in reason(tmp_path)
    assert "none is not a folder" in reason(tmp_path / "none")


@pytest.mark.parametrize(
    ("path", "settings", "command", "is_task"),
    [
        ("check_cart.py", "python_files = check_*.py", "", True),
        ("shop/cart_spec.py", "python_files = test_*.py *_spec.py", "", True),
        ("checks.py", "", "python -m pytest -q checks.py", True),
        ("checks.py", "", "", False),
        ("shop/more.py", "python_files = *.py", "", False),
    ],
)
def test_the_tests_of_a_project_have_the_names_that_it_says(
    repo: SampleRepository, path: str, settings: str, command: str, is_task: bool
) -> None:
    test = "from shop.cart import total\n\n\ndef test_more():\n    assert total([1, 2]) == 3\n"
    write(repo.path, {"shop/cart.py": FIXED + "\n", path: test, "pytest.ini": f"[pytest]\n{settings}\n"})
    git(repo.path, "add", ".")
    git(repo.path, "commit", "--quiet", "-m", "x")
    options = TaskOptions(test=command, setup=("true",))
    if is_task:
        drafted = draft(str(repo.path), "HEAD", options)
        assert [file.path for file in drafted.test_patch.files] == [path] and drafted.entry.test.endswith(f" {path}")
    else:
        with pytest.raises(BenchmarkError, match="or name its test files in --test"):
            draft(str(repo.path), "HEAD", options)


@pytest.mark.parametrize("name", ["it's $HOME", "a;b", "--help"])
@pytest.mark.parametrize("folder", ["", "-one two/"])
def test_the_test_files_of_a_commit_run_whatever_their_names(
    repo: SampleRepository, tmp_path: Path, folder: str, name: str
) -> None:
    path = f"{folder}{name}_test.py"
    write(repo.path, {"shop/cart.py": FIXED + "\n", path: "def test_it():\n    pass\n"})
    git(repo.path, "add", ".")
    git(repo.path, "commit", "--quiet", "-m", "x")
    test_run = pytest_run(draft(str(repo.path), "HEAD", TaskOptions(setup=("true",))).entry.test)
    assert test_run is not None and not test_run.arguments[-1].startswith("-")
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", *test_run.arguments],
        cwd=repo.path,
        capture_output=True,
        text=True,
    )
    assert collected.stdout.startswith(f"{path}: 1\n") or f"{path}::test_it" in collected.stdout, collected.stdout


def test_split() -> None:
    binary = make_diff({}, {"tests/x.png": b"\0"})
    assert tuple(patch.text for patch in split(Patch.read(TESTS + BUG + binary))) == (TESTS + binary, BUG)


def test_split_files_with_unusual_names() -> None:
    names = ("ü.py", "tests/test_ü\t.py")
    fix, tests = (make_diff({name: b"one = 1\n"}, {name: b"two = 2\n"}) for name in names)
    for diff in (tests + fix, fix + tests):
        assert tuple(patch.text for patch in split(Patch.read(diff))) == (tests, fix)
