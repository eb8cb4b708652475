"""Proposals for files of every kind: `git am` without options gives every byte, also below a folder of a repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.benchmarks.repo import Repo
from stackrank.env.patches import apply_patch, make_diff
from stackrank.extensions.fix import publish as publish_module
from stackrank.extensions.fix.finding.problems import Problem, write_problems
from stackrank.extensions.fix.finding.project import Project, TestOptions, open_project
from stackrank.extensions.fix.finding.suite import Suite
from stackrank.extensions.fix.publish import publish
from stackrank.extensions.fix.solved import write_solved
from stackrank.patches.reading import Patch
from tests.env.test_patched_trees import a_change, check_out, stored
from tests.support.shop import BROKEN, FIX, SHOP, git, proposal_row, repository, write


def approved(repo: Path, patch: str, **fields: Any) -> dict[str, Any]:
    """An approved proposal of a change."""
    decision = {"kind": "approved", "reason": "So.", "person": "ann"}
    decided = {"status": "approved", "digest": "d" * 64, "decision": decision, "entrant": "repair", "id": 1}
    base = git(repo, "rev-parse", "HEAD")
    return {**proposal_row(1, 1, 1, repository=str(repo), base=base, diff=patch, **fields), **decided}


def mailed(repo: Path, row: dict[str, Any], out: Path) -> None:
    """Publish a proposal, and apply it in a checkout as its user would."""
    published = publish([row], out)
    assert not published.conflicts
    git(repo, "am", "--quiet", str(published.patches[1]))
    assert git(repo, "rev-parse", "HEAD^{tree}") == git(out / "clone", "rev-parse", "HEAD^{tree}")


@pytest.fixture(autouse=True)
def _any_decision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seals are not what is asked here."""
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(publish_module, "require_genuine", lambda row: None)


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(3, 40))]
)
def test_a_change_of_odd_files_is_applied_by_git_am(tmp_path: Path, seed: int) -> None:
    before, after = a_change(seed)
    repo, out = tmp_path / "shop", tmp_path / "out"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    check_out(repo, before)
    git(repo, "commit", "-q", "-m", "As it is")
    mailed(repo, approved(repo, make_diff(before, after)), out)
    assert stored(apply_patch(before, make_diff(before, after))) == stored(after)
    tree_of_mail = git(repo, "rev-parse", "HEAD^{tree}")
    assert check_out(repo, after) == tree_of_mail


def test_git_am_where_attributes_convert_endings(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop", {".gitattributes": "*.py text eol=crlf\n", "a.py": "a = 1\nb = 1\n"})
    mailed(repo, approved(repo, make_diff({"a.py": b"a = 1\nb = 1\n"}, {"a.py": b"a = 2\nb = 1\n"})), tmp_path / "out")
    assert git(repo, "show", "HEAD:a.py") == "a = 2\nb = 1" and not git(repo, "status", "--porcelain")


def below(repo: Path) -> Project:
    """A project in a folder of a repository."""
    files = {f"services/till/{path}": text for path, text in SHOP.items()}
    repository(
        repo, {**files, "services/mail/test_mail.py": "def test_mail():\n    assert False\n", "README.md": "Two"}
    )
    return open_project(repo / "services" / "till", TestOptions(setup=()))


def test_a_folder_of_a_repository(tmp_path: Path) -> None:
    project = below(tmp_path / "mono")
    assert set(project.files) == set(SHOP) and project.name == "mono/services/till"
    tests = ("tests/test_cart.py::test_total",)
    suite = Suite(frozenset(), {tests[0]: ""}, ())
    write_problems(project, [Problem("p", "", "", tests, suite)], tmp_path / "out")
    (task,) = Repo(Source(tmp_path / "out")).tasks()
    assert set(task.files) == set(SHOP)
    patch = make_diff(task.files, apply_patch(task.files, FIX))
    row = approved(project.repository, project.in_repository(patch), tests=list(tests), problem="p")
    (tmp_path / "out" / "repository.txt").write_text(f"{project.repository}\n")
    mailed(project.repository, row, tmp_path / "out")
    mended = (project.repository / "services/till/shop/cart.py").read_text()
    assert mended == BROKEN.replace("range(1, len", "range(0, len")
    write_solved([row], tmp_path / "out")
    (solved,) = Repo(Source(tmp_path / "out" / "solved")).tasks()
    assert apply_patch(solved.files, solved.fix)["shop/cart.py"].decode() == mended


def test_what_changed_elsewhere_in_the_repository_does_not_matter(tmp_path: Path) -> None:
    project = below(tmp_path / "mono")
    write(project.repository, {"services/mail/test_mail.py": "x = 1\n"})
    assert open_project(project.repository / "services/till", TestOptions(setup=())).files == project.files
    write(project.repository, {"services/till/shop/cart.py": "x = 1\n"})
    with pytest.raises(BenchmarkError, match="uncommitted changes"):
        open_project(project.repository / "services/till", TestOptions(setup=()))


def test_a_folder_without_committed_files(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop")
    (repo / "new").mkdir()
    with pytest.raises(BenchmarkError, match="has no files below new in the commit"):
        open_project(repo / "new", TestOptions(setup=()))


def test_submodules_are_left_alone(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", {"x.py": ""})
    repo = repository(tmp_path / "shop")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "vendor/other")
    git(repo, "commit", "-q", "-m", "With another")
    project = open_project(repo, TestOptions(setup=()))
    assert project.submodules == ["vendor/other"] and "vendor/other/x.py" not in project.files
    mailed(repo, approved(repo, FIX), tmp_path / "out")
    assert git(repo, "ls-tree", "HEAD", "vendor/other").startswith("160000")


def test_a_patch_of_files_in_other_folders() -> None:
    for seed in range(4):
        before, after = a_change(seed)
        patch = Patch.read(make_diff(before, after)).renamed(lambda path: f"odd b/{path}")
        inside = {f"odd b/{path}": content for path, content in before.items()}
        changed = {f"odd b/{path}": content for path, content in after.items()}
        assert stored(apply_patch(inside, patch.text)) == stored(changed)
        assert Patch.read(patch.text).paths == patch.paths
