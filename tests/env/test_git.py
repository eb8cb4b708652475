"""Git on repositories whose settings, attributes and hooks name programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stackrank.env.benchmarks.files import commit_of
from stackrank.env.benchmarks.git import CommitFiles, diff_of, open_repository, resolve_commit
from stackrank.env.git import GitError, changed_files, clone_git, exchange_git, push_git, read_git, remote_addresses
from stackrank.env.patches import PatchError, apply_patch
from tests.support.repository import git, write

PROGRAMS = (
    "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy",
    "core.alternateRefsCommand", "diff.external", "diff.d.command", "diff.d.textconv", "merge.d.driver",
    "filter.f.clean", "filter.f.smudge", "filter.a=b.clean", "filter.p.process", "credential.helper", "alias.ls-tree",
    "alias.status", "gpg.program", "interactive.diffFilter", "uploadpack.packObjectsHook", "sequence.editor",
    "init.templateDir", "trace2.eventTarget", "pager.diff", "pager.log", "log.showSignature", "remote.origin.vcs",
    "remote.origin.uploadpack", "remote.origin.receivepack",
)  # fmt: skip
HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc",
    "pre-commit", "pre-push", "pre-receive", "prepare-commit-msg", "proc-receive", "push-to-checkout",
    "reference-transaction", "sendemail-validate", "update",
)  # fmt: skip
ATTRIBUTES = "*.py filter=f diff=d merge=d\n*.txt filter=a=b diff=d\n*.bin filter=p\n"
FIX = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"


@pytest.fixture
def ran(tmp_path: Path) -> Iterator[Path]:
    """The file that appears if a program of a repository runs."""
    file = tmp_path / "ran"
    yield file
    assert not file.exists(), file.read_text()


@pytest.fixture
def trapped(tmp_path: Path, ran: Path) -> Path:
    """A repository with two commits in which everything that can name a program names one."""
    folder = tmp_path / "trapped"
    write(folder, {"a.py": "x = 1\n", "b.txt": "b\n", "c.bin": "c\n", "d/e.py": "e = 1\n"})
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "One")
    write(folder, {"a.py": "x = 2\n", ".gitattributes": ATTRIBUTES})
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Two")
    git(folder, "tag", "v1.2")
    set_traps(folder / ".git", ran)
    return folder


def set_traps(store: Path, ran: Path) -> None:
    """Make a git directory name programs."""
    program = store.parent / f"{store.name}-program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\ncat\n')
    program.chmod(0o755)
    for name in HOOKS:
        (store / "hooks").mkdir(exist_ok=True)
        (store / "hooks" / name).unlink(missing_ok=True)
        (store / "hooks" / name).symlink_to(program)
    (store / "info").mkdir(exist_ok=True)
    (store / "info/attributes").write_text("d/* filter=f diff=d\n")
    with (store / "config").open("a") as config:
        for name in PROGRAMS:
            section, _, key = name.partition(".")
            middle, _, last = key.rpartition(".")
            config.write(f'[{section} "{middle}"]' if middle else f"[{section}]")
            config.write(f'\n\t{last} = "{program}"\n')
        config.write(
            f'[core]\n\thooksPath = {store / "hooks"}\n[filter "f"]\n\trequired = true\n[include]\n\tpath = more\n'
        )
        config.write(
            "[commit]\n\tgpgSign = true\n[protocol]\n\tallow = always\n[receive]\n\tdenyCurrentBranch = updateInstead\n"
        )
    (store / "more").write_text(f'[core]\n\tfsmonitor = "{program}"\n')


def test_the_traps_work(trapped: Path, ran: Path) -> None:
    os.utime(trapped / "a.py", (1, 1))
    git(trapped, "status")
    assert "clean" in ran.read_text() or "program" in ran.read_text()
    ran.unlink()


def test_reading_runs_nothing(trapped: Path, ran: Path) -> None:
    old, new = (resolve_commit(trapped, name) for name in ("HEAD~1", "HEAD"))
    assert dict(CommitFiles(trapped, old))["a.py"] == b"x = 1\n"
    assert CommitFiles(trapped, new).read(["c.bin", "d/e.py"]) == {"c.bin": b"c\n", "d/e.py": b"e = 1\n"}
    assert "+x = 2" in diff_of(trapped, old, new).patch.text
    assert read_git(trapped, "log", "--format=%s", "-p").startswith(b"Two")
    assert read_git(trapped, "describe", "--tags") == b"v1.2\n"
    assert read_git(trapped, "show", "HEAD:a.py") == b"x = 2\n"
    assert commit_of(trapped / "d") == new[:12]


def test_looking_for_changes_runs_nothing(trapped: Path, ran: Path) -> None:
    for name in ("a.py", "b.txt", "d/e.py"):
        os.utime(trapped / name, (1, 1))  # git has to look into the file
    assert changed_files(trapped) == {}
    (trapped / "a.py").write_text("x = 3\n")
    (trapped / "d/e.py").unlink()
    assert changed_files(trapped) == {"a.py": " M", "d/e.py": " D"}


def test_looking_for_changes_runs_nothing_of_a_submodule(trapped: Path, tmp_path: Path, ran: Path) -> None:
    write(tmp_path / "outer", {"x": "x"})
    git(tmp_path / "outer", "init", "--quiet")
    git(tmp_path / "outer", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(trapped), "inner")
    ran.unlink(missing_ok=True)
    set_traps(tmp_path / "outer/.git/modules/inner", ran)
    (tmp_path / "outer/inner/a.py").write_text("x = 3\n")
    assert set(changed_files(tmp_path / "outer")) == {".gitmodules", "inner"}


def test_cloning_and_publishing_run_nothing(trapped: Path, tmp_path: Path, ran: Path) -> None:
    clone = tmp_path / "clone"
    lost = resolve_commit(trapped, "HEAD")
    (trapped / ".git/refs/tags/v1.2").unlink()
    (trapped / ".git/refs/heads/main").write_text(f"{resolve_commit(trapped, 'HEAD~1')}\n")
    clone_git(trapped, clone, [lost])
    assert not (clone / ".git/objects/info/alternates").exists()
    assert read_git(clone, "show", f"{lost}:a.py") == b"x = 2\n"
    git(tmp_path, "clone", "--quiet", "--bare", "--template=", str(clone), "forge.git")
    set_traps(tmp_path / "forge.git", ran)
    push_git(clone, str(tmp_path / "forge.git"), "one/two")
    assert resolve_commit(tmp_path / "forge.git", "one/two") == resolve_commit(clone, "HEAD")
    # A push may not change what a person has checked out, whatever the repository says.
    (trapped / ".git/HEAD").write_text("ref: refs/heads/one/two\n")
    with pytest.raises(GitError, match="checked out"):
        push_git(clone, str(trapped), "one/two")


def test_fetching_from_a_repository_runs_nothing(
    trapped: Path, tmp_path: Path, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    (tmp_path / "home/repositories").mkdir(parents=True)
    commit = resolve_commit(trapped, "HEAD")
    clone = open_repository(f"file://{trapped}", commit, tmp_path)
    assert dict(CommitFiles(clone, commit))["a.py"] == b"x = 2\n"
    with pytest.raises(GitError):
        exchange_git(tmp_path, "clone", "--quiet", "--bare", f"ext::sh -c 'touch% {ran}'", "x.git")


def test_the_users_own_settings_may_lead_into_the_current_folder(
    trapped: Path, tmp_path: Path, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gitconfig").write_text("[core]\n\thooksPath = .git/hooks\n\tfsmonitor = ./.git-program\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trapped / ".git-program"))
    monkeypatch.setenv("GIT_DIR", str(trapped / ".git"))
    monkeypatch.chdir(trapped)
    os.utime(trapped / "a.py", (1, 1))
    assert changed_files(trapped) == {}
    assert "+x = 2" in diff_of(trapped, "HEAD~1", "HEAD").patch.text
    assert apply_patch({"a.py": b"x = 1\n"}, FIX) == {"a.py": b"x = 2\n"}


@pytest.mark.parametrize("name", [".git/config", "sub/.git/hooks/x", ".GIT/HEAD"])
def test_a_patch_makes_no_repository(name: str) -> None:
    with pytest.raises(PatchError, match="own files"):
        apply_patch({name: b"x = 1\n"}, FIX.replace("a.py", name))


def alternates(folder: Path) -> Path:
    """A clone that borrows objects from a folder below it, with a relative path."""
    git(folder, "clone", "--quiet", "--bare", "made", "store.git")
    git(folder, "clone", "--quiet", "--shared", "store.git", "borrower")
    (folder / "store.git").rename(folder / "borrower/.git/store.git")
    (folder / "borrower/.git/objects/info/alternates").write_text("../store.git/objects\n")
    return folder / "borrower"


def packed(folder: Path) -> Path:
    """A repository whose references and objects are packed."""
    git(folder / "made", "gc", "--quiet")
    git(folder / "made", "pack-refs", "--all")
    return folder / "made"


def sha256(folder: Path) -> Path:
    """A repository with longer names of objects."""
    (folder / "new").mkdir()
    git(folder / "new", "init", "--quiet", "--object-format=sha256")
    write(folder / "new", {"a.py": "x = 2\n"})
    git(folder / "new", "add", ".")
    git(folder / "new", "commit", "--quiet", "-m", "One")
    return folder / "new"


def split_index(folder: Path) -> Path:
    """A checkout whose index is in two files."""
    git(folder / "made", "update-index", "--split-index")
    return folder / "made"


def worktree(folder: Path) -> Path:
    """A second checkout of a repository."""
    git(folder / "made", "worktree", "add", "--quiet", "-b", "side", str(folder / "side"))
    return folder / "side"


def odd_name(folder: Path) -> Path:
    """A repository in a folder whose name has quotes, a line break and more."""
    return (folder / "made").rename(folder / ' a"b\\c\n[d]* ')


@pytest.mark.parametrize("layout", [alternates, packed, sha256, split_index, worktree, odd_name])
def test_every_layout_of_a_repository_can_be_read(tmp_path: Path, layout: Callable[[Path], Path]) -> None:
    write(tmp_path / "made", {"a.py": "x = 2\n"})
    git(tmp_path / "made", "init", "--quiet")
    git(tmp_path / "made", "add", ".")
    git(tmp_path / "made", "commit", "--quiet", "-m", "One")
    repository = layout(tmp_path)
    commit = resolve_commit(repository, "HEAD")
    assert dict(CommitFiles(repository, commit)) == {"a.py": b"x = 2\n"}
    assert changed_files(repository) == {}
    (repository / "a.py").write_text("x = 3\n")
    assert changed_files(repository) == {"a.py": " M"}
    clone_git(repository, tmp_path / "clone", [commit])
    assert read_git(tmp_path / "clone", "show", f"{commit}:a.py") == b"x = 2\n"


def test_addresses_of_remotes(trapped: Path) -> None:
    git(trapped, "remote", "add", "forge", "https://forge.example/a b.git")
    git(trapped, "config", "remote.forge.pushurl", "ssh://forge.example/push")
    git(trapped, "remote", "add", "my.own", "../x")
    assert remote_addresses(trapped) == {"forge": "ssh://forge.example/push", "my.own": "../x"}


def test_what_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not a git repository"):
        read_git(tmp_path, "log")
    assert commit_of(tmp_path) == ""
