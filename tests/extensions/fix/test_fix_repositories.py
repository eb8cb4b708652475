"""`stackrank fix` on repositories of every kind that git makes: read as they are, and never written to."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.benchmarks import git as git_module
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.repo_schema import read_tasks
from stackrank.env.patches import PatchError, apply_patch, make_diff
from stackrank.env.scoring.report import TestReport
from stackrank.extensions.fix import publish as publish_module
from stackrank.extensions.fix.finding import suite as suite_module
from stackrank.extensions.fix.finding.problems import Problem, write_problems
from stackrank.extensions.fix.finding.project import TestOptions, list_lfs_pointers, open_project
from stackrank.extensions.fix.finding.suite import Suite, select_broken_since
from stackrank.extensions.fix.propose import group_by_change
from stackrank.extensions.fix.publish import BRANCH, Published, publish, require_applies
from stackrank.patches.contents import like
from tests.fixtures.env import usable
from tests.support.shop import BROKEN, FIX, SECOND_FIX, SHOP, git, proposal_row, repository, tree, write

pytestmark = pytest.mark.slow  # by its time

CART = "shop/cart.py"


def repaired(repo: Path, *diffs: str) -> list[dict[str, Any]]:
    """Approved proposals of these changes to what a repository has now."""
    fields = {"repository": str(repo), "base": git(repo, "rev-parse", "HEAD")}
    decision = {"kind": "approved", "reason": "So.", "person": "ann"}
    rows = enumerate((proposal_row(1, 1, 1, **fields, diff=diff) for diff in diffs), 1)
    decided = {"status": "approved", "digest": "d" * 64, "decision": decision, "entrant": "repair"}
    return [{**row, "id": number, **decided} for number, row in rows]


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Published]:
    """Publishes changes to a repository; seals are not what is asked here."""
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(publish_module, "require_genuine", lambda row: None)
    monkeypatch.setattr(publish_module, "write_solved", lambda rows, out: None)
    return lambda repo, *diffs: publish(repaired(repo, *diffs), tmp_path / "out")


def _plain(folder: Path) -> Path:
    return repository(folder)


def _detached(folder: Path) -> Path:
    git(repository(folder), "checkout", "-q", "--detach")
    git(folder, "commit", "-q", "--allow-empty", "-m", "On no branch")
    return folder


def _worktree(folder: Path) -> Path:
    git(repository(folder / "main"), "worktree", "add", "-q", "-b", "side", str(folder / "side"))
    git(folder / "side", "commit", "-q", "--allow-empty", "-m", "On the side")
    return folder / "side"


def _shallow(folder: Path) -> Path:
    other_repository = repository(folder.parent / "other")
    git(other_repository, "commit", "-q", "--allow-empty", "-m", "Later")
    git(folder.parent, "clone", "-q", "--depth", "1", f"file://{other_repository}", str(folder))
    return folder


def _sparse(folder: Path) -> Path:
    git(repository(folder), "sparse-checkout", "set", "tests")
    return folder


def _our_branch_s_folder(folder: Path) -> Path:
    git(repository(folder), "branch", "-m", BRANCH.partition("/")[0])
    return folder


def _carriage_returns(folder: Path) -> Path:
    write(folder, {**SHOP, ".gitattributes": "* text=auto\n"})
    (folder / CART).write_bytes(BROKEN.replace("\n", "\r\n").encode())
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "-c", "core.safecrlf=false", "commit", "-qm", "Mixed")
    return folder


def _no_last_newline(folder: Path) -> Path:
    return repository(folder, {**SHOP, CART: BROKEN.rstrip("\n")})


def _executable(folder: Path) -> Path:
    write(folder, SHOP)
    (folder / CART).chmod(0o755)
    return repository(folder)


def _links_and_odd_names(folder: Path) -> Path:
    write(folder, {**SHOP, "shop/Cart.py": "", "with space.py": "", "ü.py": ""})
    for name, target in {"out": "/etc/hostname", "up": "../../x", "folder": "shop", "gone": "nowhere"}.items():
        (folder / name).symlink_to(target)
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_text("not UTF-8")
    return repository(folder, {})


@pytest.mark.parametrize(
    "make",
    [
        _plain,
        _detached,
        _worktree,
        _shallow,
        _sparse,
        _our_branch_s_folder,
        _carriage_returns,
        _no_last_newline,
        _executable,
        _links_and_odd_names,
    ],
)
def test_a_change_is_applied_by_git_am(tmp_path: Path, published: Callable[..., Published], make: Any) -> None:
    repo = make(tmp_path / "shop")
    tree_before = tree(tmp_path / "shop")
    project = open_project(repo, TestOptions())
    files = {**project.files}
    changed_files = {**files, CART: like(files[CART].replace(b"range(1, len", b"range(0, len"), files[CART])}
    diff = make_diff(files, changed_files)
    assert apply_patch(files, diff) == changed_files != files
    require_applies(repo, project.commit, diff)
    publication = published(repo, diff)
    assert (
        not publication.conflicts and publication.clone and git(publication.clone, "branch", "--show-current") == BRANCH
    )
    clean = tmp_path / "clean"
    git(tmp_path, "clone", "-q", str(repo), str(clean))
    git(clean, "am", "-q", str(publication.patches[1]))
    committed_content = subprocess.run(
        ["git", "-C", str(clean), "show", f"HEAD:{CART}"], capture_output=True, check=True
    ).stdout
    assert committed_content == bytes(changed_files[CART])
    mode = git(clean, "ls-tree", "HEAD", CART).split()[0]
    assert mode == ("100755" if make is _executable else "100644")
    assert tree(tmp_path / "shop") == tree_before


ODD_NAMES = ("-dash.py", "--help.py", "-a c/ü x.py", "with space.py", 'quo"te.py', "back\\slash.py", "a\ttab ü.py")
ODD_NAMES += ("two\nlines.py", "odd b/x.py", "odd b/odd b/y z.py", 'all "of\tit" b/ü.py')


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_change_to_a_file_with_an_odd_name(tmp_path: Path, published: Callable[..., Published], name: str) -> None:
    repo = repository(tmp_path / "-odd ü repo", {**SHOP, name: "one = 1\n"})
    git(repo, "symbolic-ref", "HEAD", "refs/heads/-ünlikely")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "On a branch with an odd name")
    tree_before, project = tree(repo), open_project(repo, TestOptions())
    new_path = f"new {name}" if "/" not in name else f"{name}.new.py"
    changed_files = {**project.files, name: b"one = 2\n", new_path: b"two = 2\n"}
    diff = make_diff(project.files, changed_files)
    require_applies(repo, project.commit, diff)
    (change,) = group_by_change({1: {"id": 1, "diff": diff, "tampered": False}}, project, {new_path})
    assert apply_patch({**project.files}, change) == {**project.files, name: b"one = 2\n"}  # tests left the other
    publication = published(repo, diff)
    git(tmp_path, "clone", "-q", str(repo), "clean")
    git(tmp_path / "clean", "am", "-q", str(publication.patches[1]))
    assert (tmp_path / "clean" / name).read_text() == "one = 2\n" and (tmp_path / "clean" / new_path).exists()
    assert publication.clone and git(publication.clone, "rev-list", "--count", f"{project.commit}..{BRANCH}") == "1"
    assert tree(repo) == tree_before


def test_a_repository_of_another_user(
    tmp_path: Path, published: Callable[..., Published], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository(tmp_path / "shop")
    rows = repaired(repo, FIX)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert open_project(repo, TestOptions()).files[CART] == BROKEN.encode()
    assert list(publish(rows, tmp_path / "out").patches) == [1]


def test_below_a_hook_of_git(
    tmp_path: Path, published: Callable[..., Published], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What git tells its hooks would lead every git of ours into the user's checkout."""
    repo = repository(tmp_path / "shop")
    rows, tree_before = repaired(repo, FIX), tree(repo)
    for name, place in {"GIT_DIR": ".git", "GIT_WORK_TREE": ".", "GIT_INDEX_FILE": ".git/index"}.items():
        monkeypatch.setenv(name, str(repo / place))
    files = {**open_project(repo, TestOptions()).files}
    assert b"range(0, len" in apply_patch(files, FIX)[CART]
    require_applies(repo, rows[0]["base"], FIX)
    assert list(publish(rows, tmp_path / "out").patches) == [1]
    assert tree(repo) == tree_before


def test_no_program_that_a_repository_names_is_run(tmp_path: Path, published: Callable[..., Published]) -> None:
    repo, ran = repository(tmp_path / "shop"), tmp_path / "ran"
    for name in ("post-checkout", "post-commit", "applypatch-msg", "post-index-change", "reference-transaction"):
        (repo / ".git/hooks").mkdir(exist_ok=True)
        (repo / f".git/hooks/{name}").write_text(f"#!/bin/sh\ntouch {ran}\n")
        (repo / f".git/hooks/{name}").chmod(0o755)
    program = f"touch {ran}; cat"
    programs = (
        "core.fsmonitor",
        "diff.external",
        "filter.a=b.clean",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.y.process",
    )
    for setting in programs:
        git(repo, "config", setting, program)
    git(repo, "config", "filter.x.required", "true")
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/attributes").write_text("cart.py filter=x\ntest_cart.py filter=a=b\n__init__.py filter=y\n")
    for name in SHOP:
        os.utime(repo / name, (1, 1))  # git has to look into the file
    tree_before = tree(repo)
    project = open_project(repo, TestOptions())
    require_applies(repo, project.commit, FIX)
    assert list(published(repo, FIX).patches) == [1]
    assert tree(repo) == tree_before and not ran.exists()


def test_what_is_in_git_lfs(tmp_path: Path) -> None:
    content = b"large"
    pointer = (
        "version https://git-lfs.github.com/spec/v1\n"
        f"oid sha256:{hashlib.sha256(content).hexdigest()}\nsize {len(content)}\n"
    )
    repo = repository(tmp_path / "shop", {**SHOP, "a.bin": pointer, ".gitattributes": "*.bin filter=lfs\n"})
    git(repo, "config", "filter.lfs.clean", "false")
    git(repo, "config", "filter.lfs.required", "true")
    (repo / "a.bin").write_bytes(content)
    assert list_lfs_pointers(open_project(repo, TestOptions())) == ["a.bin"]
    assert list_lfs_pointers(open_project(repository(tmp_path / "other"), TestOptions())) == []
    (repo / "a.bin").write_bytes(b"another")
    with pytest.raises(BenchmarkError, match=r"uncommitted changes \(a.bin\)"):
        open_project(repo, TestOptions())


def test_a_renamed_file_is_named_whole(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop")
    git(repo, "mv", CART, "shop/basket.py")
    with pytest.raises(BenchmarkError, match=r"\(shop/basket.py, shop/cart.py\)"):
        open_project(repo, TestOptions())


def test_a_change_that_git_cannot_apply_holds_up_no_other(tmp_path: Path, published: Callable[..., Published]) -> None:
    """A program reads the file to which a link leads, and git has no such file."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/again.py").symlink_to(CART)
    repo = repository(tmp_path / "shop")
    through = FIX.replace(CART, "again.py")
    commit = git(repo, "rev-parse", "HEAD")
    assert bytes(open_project(repo, TestOptions()).files["again.py"]) == BROKEN.encode()
    with pytest.raises(PatchError, match="again"):
        require_applies(repo, commit, through)
    publication = published(repo, through, SECOND_FIX)
    assert list(publication.patches) == [2] and "again.py" in publication.conflicts[1] and publication.clone
    assert git(publication.clone, "rev-list", "--count", f"{commit}..HEAD") == "1"


def test_reading_many_files_takes_few_calls_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path / "shop", {**SHOP, **{f"data/{n}.txt": str(n) for n in range(50)}})
    files, calls, real = open_project(repo, TestOptions()).files, [], git_module.read_git

    def counted(*arguments: Any, **options: Any) -> bytes:
        calls.append(arguments)
        return real(*arguments, **options)

    monkeypatch.setattr(git_module, "read_git", counted)
    assert len({**files}) == len(SHOP) + 50 and "data/7.txt" in files and len(calls) < 5


@pytest.mark.parametrize(
    ("files", "installed"),
    [
        ({"pyproject.toml": "[build-system]\nrequires = []\n", "setup.cfg": "[metadata]\nname = p\n"}, True),
        ({"pyproject.toml": "[build-system]\nrequires = []\n[tool.flit.metadata]\nmodule = 'p'\n"}, True),
        ({"pyproject.toml": "[build-system]\nrequires = []\n", "setup.cfg": "[tool:pytest]\n"}, False),
        ({"setup.cfg": "[metadata]\nname = p\n", "tox.ini": "[pytest]\n"}, False),
    ],
)
def test_what_is_installed(tmp_path: Path, files: dict[str, str], installed: bool) -> None:
    setup = open_project(repository(tmp_path / "p", {**SHOP, **files}), TestOptions()).environment.setup
    assert setup == (("python -m pip install -q -e .",) if installed else ())


def test_plug_ins_are_installed_where_there_is_nothing_else_to_install(tmp_path: Path) -> None:
    files = {**SHOP, "pytest.ini": "[pytest]\naddopts = --cov\n"}
    setup = open_project(repository(tmp_path / "p", files), TestOptions()).environment.setup
    assert setup == ("python -m pip install -q pytest-cov",)


_BUILT = '[build-system]\nrequires = []\n[project]\nname = "p"\n'


@pytest.mark.parametrize(
    ("files", "needs"),
    [
        ({"pyproject.toml": _BUILT + '[project.optional-dependencies]\ntesting = ["attrs"]\n'}, ".[testing]"),
        # No index has the project itself.
        (
            {
                "pyproject.toml": _BUILT + '[project.optional-dependencies]\nall = ["P[x]"]\nx = ["attrs"]\n',
                "tests/test_p.py": "import p\n",
            },
            ".",
        ),
        ({"pyproject.toml": _BUILT, "requirements/tests.txt": "attrs"}, ". -r requirements/tests.txt"),
        ({"pyproject.toml": _BUILT, "test-requirements.txt": "attrs"}, ". -r test-requirements.txt"),
        (
            {
                "pyproject.toml": _BUILT
                + "[dependency-groups]\nmore = ['six', {include-group = 'test'}]\n"
                + "test = ['attrs>=20; python_version > \"3\"', {include-group = 'more'}]\n"
            },
            '. attrs>=20; python_version > "3" six',
        ),
        # What pip would refuse, and what may come some day, is for the author to mend.
        ({"pyproject.toml": _BUILT + "[dependency-groups]\ntest = ['attrs', {later = 1}, 7]\n"}, ". attrs"),
        ({"pyproject.toml": _BUILT + "[dependency-groups]\ntest = 'attrs'\n"}, "."),
        # Plug-ins that pytest does not start without.
        (
            {"pyproject.toml": _BUILT + "[tool.pytest.ini_options]\naddopts = '--cov=p --cov-branch -n4 -q'\n"},
            ". pytest-cov pytest-xdist",
        ),
        (
            {"pyproject.toml": _BUILT, "tox.ini": "[pytest]\naddopts = --strict\nasyncio_mode = auto\n"},
            ". pytest-asyncio",
        ),
        (
            {
                "pyproject.toml": _BUILT + "[tool.pytest.ini_options]\naddopts = ['--dist=load']\n",
                "pytest.ini": "[pytest]\nrequired_plugins = pytest-cov>=4 pytest-timeout\naddopts = --no-cov 'x",
            },
            ". pytest-cov>=4 pytest-timeout",
        ),
        ({"pyproject.toml": _BUILT, "setup.cfg": "[tool:pytest]\naddopts = -p no:randomly --color=yes\n"}, "."),
        ({"pyproject.toml": _BUILT, "setup.cfg": "no section\n"}, "."),
    ],
)
def test_what_tests_need_is_installed(tmp_path: Path, files: dict[str, str], needs: str) -> None:
    (command,) = open_project(repository(tmp_path / "p", {**SHOP, **files}), TestOptions()).environment.setup
    assert " ".join(shlex.split(command)) == f"python -m pip install -q -e {needs}"


def test_what_tests_share_is_no_place_for_a_fix(tmp_path: Path) -> None:
    project = open_project(repository(tmp_path / "shop", {**SHOP, "tests/common.py": ""}), TestOptions())
    test = "tests/test_cart.py::test_total"
    problem = Problem("total", "", "", (test,), Suite(frozenset(), {test: ""}, ()))
    (entry,) = read_tasks(write_problems(project, [problem], tmp_path))[0].tasks
    assert entry.readonly == ["/tests/"]


def test_a_base_without_a_common_commit(tmp_path: Path) -> None:
    """As in a shallow clone, whose history ends too early."""
    repo = repository(tmp_path / "shop")
    git(repo, "checkout", "-q", "--orphan", "apart")
    git(repo, "commit", "-q", "-m", "Apart")
    suite = Suite(frozenset(), {}, ())
    with pytest.raises(BenchmarkError, match="ancestor of main and HEAD: fetch more of its history"):
        select_broken_since(open_project(repo, TestOptions()), usable("bubblewrap"), suite, "main", times=2)


@pytest.mark.parametrize(
    ("message", "aside"),
    [
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", True),
        ("OSError: [Errno 101] Network is unreachable", True),
        ("OSError: [Errno 30] Read-only file system: '/etc/x'", True),
        ("ConnectionError: the pool is closed", False),
    ],
)
def test_what_a_sandbox_has_not_is_no_problem_of_the_program(message: str, aside: bool) -> None:
    report = TestReport({"t": "failed"}, {"t": message}, complete=True)
    suite = suite_module._combine_runs([suite_module.Run(report, set(), {})] * 2, {})
    assert (suite.not_isolated, list(suite.failing)) == ((("t",), []) if aside else ((), ["t"]))
