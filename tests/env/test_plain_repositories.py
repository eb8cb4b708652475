"""Repositories whose files are pipes, devices and links, or lead to other repositories."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.files import commit_of, read_text, read_tree
from stackrank.env.benchmarks.git import CommitFiles, resolve_commit
from stackrank.env.git import GitError, changed_files, clone_git, read_git, remote_addresses
from stackrank.host.plain_files import read_plain
from stackrank.host.scratch import scratch
from tests.support.repository import git, write

SECRET = "s = 'kRf9secret'\n"


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    """Nothing here may wait."""

    def hung(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError("it hangs")

    former = signal.signal(signal.SIGALRM, hung)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, former)


def make(folder: Path, files: dict[str, str]) -> Path:
    write(folder, files)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "One")
    return folder


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    return make(tmp_path / "victim", {"secret.py": SECRET})


@pytest.fixture
def attacked(tmp_path: Path) -> Path:
    folder = make(tmp_path / "attacked", {"a.py": "x = 1\n", "d/b.py": "y = 1\n", ".gitattributes": "*.py text\n"})
    write(folder, {"a.py": "x = 2\n"})
    git(folder, "commit", "--quiet", "-am", "Two")
    git(folder, "repack", "--quiet", "-a", "-d")
    git(folder, "pack-refs", "--all")
    write(folder, {"a.py": "x = 3\n"})
    git(folder, "commit", "--quiet", "-am", "Three")
    return folder


def read_everything(repository: Path) -> str:
    """All that commands read of a repository."""
    parts: list[object] = [changed_files(repository), remote_addresses(repository), commit_of(repository)]
    for name in ("HEAD", "HEAD~1"):
        parts.append(dict(CommitFiles(repository, resolve_commit(repository, name))))
    with scratch() as folder:
        clone_git(repository, folder / "clone", [])
    return repr(parts)


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def an_endless_device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def a_link_to_itself(place: Path) -> None:
    place.symlink_to(place.name)


@pytest.mark.parametrize("replace", [a_pipe, an_endless_device, a_link_to_itself])
def test_a_special_file_in_place_of_any_file_is_never_read(attacked: Path, replace: Callable[[Path], None]) -> None:
    files = [file for file in attacked.rglob("*") if file.is_file() and "hooks" not in file.parts]
    stopped = 0
    for file in files:
        kept = file.with_name("kept")
        file.rename(kept)
        replace(file)
        try:
            read_everything(attacked)
        except BenchmarkError as error:
            stopped += 1
            assert len(str(error).splitlines()) == 1
        finally:
            file.unlink()
            kept.rename(file)
    assert stopped > 6, stopped


def a_git_file(attacked: Path, victim: Path) -> None:
    (attacked / ".git").rename(attacked / "own.git")
    (attacked / ".git").write_text(f"gitdir: {victim / '.git'}\n")


def a_linked_git_folder(attacked: Path, victim: Path) -> None:
    (attacked / ".git").rename(attacked / "own.git")
    (attacked / ".git").symlink_to(victim / ".git")


def a_git_file_through_a_link(attacked: Path, victim: Path) -> None:
    (attacked / ".git").rename(attacked / "own.git")
    (attacked / "store").symlink_to(victim)
    (attacked / ".git").write_text("gitdir: store/.git\n")


def a_commondir(attacked: Path, victim: Path) -> None:
    (attacked / ".git/commondir").write_text(f"{victim / '.git'}\n")


def a_false_worktree(attacked: Path, victim: Path) -> None:
    place = attacked / "worktrees/one"
    place.mkdir(parents=True)
    (attacked / ".git").rename(attacked / "own.git")
    write(
        place,
        {"gitdir": f"{attacked / '.git'}\n", "commondir": f"{victim / '.git'}\n", "HEAD": "ref: refs/heads/main\n"},
    )
    (attacked / ".git").write_text("gitdir: worktrees/one\n")


def the_worktree_of_somebody_else(attacked: Path, victim: Path) -> None:
    git(victim, "worktree", "add", "--quiet", "-b", "side", str(victim.parent / "side"))
    (attacked / ".git").rename(attacked / "own.git")
    (attacked / ".git").write_text(f"gitdir: {victim / '.git/worktrees/side'}\n")


def a_false_submodule(attacked: Path, victim: Path) -> None:
    a_git_file(attacked, victim)
    with (attacked / "own.git/config").open("a") as config:
        config.write(f"[core]\n\tworktree = {attacked}\n")


def alternates(attacked: Path, victim: Path) -> None:
    commit = git(victim, "rev-parse", "HEAD")
    (attacked / ".git/objects/info/alternates").write_text(f"{victim / '.git/objects'}\n")
    (attacked / ".git/HEAD").write_text(commit)


def alternates_of_alternates(attacked: Path, victim: Path) -> None:
    alternates(attacked, victim)
    (attacked / "more/info").mkdir(parents=True)
    (attacked / ".git/objects/info/alternates").rename(attacked / "more/info/alternates")
    (attacked / ".git/objects/info/alternates").write_text("# more\n../../more\n")


def linked_objects(attacked: Path, victim: Path) -> None:
    (attacked / ".git/objects").rename(attacked / "own")
    (attacked / ".git/objects").symlink_to(victim / ".git/objects")
    (attacked / ".git/HEAD").write_text(git(victim, "rev-parse", "HEAD"))


def one_linked_pack(attacked: Path, victim: Path) -> None:
    git(victim, "repack", "--quiet", "-a", "-d")
    for file in (victim / ".git/objects/pack").iterdir():
        (attacked / ".git/objects/pack" / file.name).symlink_to(file)
    (attacked / ".git/HEAD").write_text(git(victim, "rev-parse", "HEAD"))


def linked_references(attacked: Path, victim: Path) -> None:
    for name in ("refs", "packed-refs"):
        (attacked / ".git" / name).rename(attacked / name)
        (attacked / ".git" / name).symlink_to(victim / ".git" / name)


@pytest.mark.parametrize(
    "lead",
    [
        a_git_file, a_linked_git_folder, a_git_file_through_a_link, a_commondir, a_false_worktree,
        the_worktree_of_somebody_else, a_false_submodule, alternates, alternates_of_alternates, linked_objects,
        one_linked_pack, linked_references,
    ],
)  # fmt: skip
def test_a_repository_leads_to_no_other_one(attacked: Path, victim: Path, lead: Callable[[Path, Path], None]) -> None:
    lead(attacked, victim)
    with pytest.raises(GitError) as error:
        read_everything(attacked)
    assert len(str(error.value).splitlines()) == 1
    assert "s = " not in str(error.value)


def test_alternates_that_the_user_names(attacked: Path, victim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alternates(attacked, victim)
    with pytest.raises(GitError, match="GIT_ALTERNATE_OBJECT_DIRECTORIES"):
        resolve_commit(attacked, "HEAD")
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(victim / ".git/objects"))
    assert dict(CommitFiles(attacked, resolve_commit(attacked, "HEAD"))) == {"secret.py": SECRET.encode()}


def test_worktrees_and_submodules_of_the_user_can_be_read(attacked: Path, victim: Path, tmp_path: Path) -> None:
    git(victim, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    git(attacked, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(victim), "inner")
    git(attacked, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "other"))
    git(tmp_path, "clone", "--quiet", "--separate-git-dir=store", str(victim), "separate")
    git(tmp_path / "separate", "config", "core.worktree", str(tmp_path / "separate"))
    for place in (tmp_path / "side", attacked / "inner", tmp_path / "separate"):
        assert dict(CommitFiles(place, resolve_commit(place, "HEAD"))) == {"secret.py": SECRET.encode()}
        assert changed_files(place) == {}
    assert changed_files(tmp_path / "other") == {}
    git(tmp_path, "clone", "--quiet", "--separate-git-dir=store2", str(victim), "separate2")
    with pytest.raises(GitError, match=r"core\.worktree"):
        changed_files(tmp_path / "separate2")


def test_a_submodule_is_not_looked_into(attacked: Path, victim: Path) -> None:
    git(attacked, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(victim), "inner")
    git(attacked, "commit", "--quiet", "-m", "Four")
    (attacked / ".git/modules/inner/HEAD").unlink()
    os.mkfifo(attacked / ".git/modules/inner/HEAD")
    index = (attacked / ".git/index").read_bytes()
    assert changed_files(attacked) == {}
    assert (attacked / ".git/index").read_bytes() == index


def test_folders_of_tasks(tmp_path: Path, victim: Path) -> None:
    folder = tmp_path / "tasks"
    write(folder, {"a.py": "x = 1\n"})
    os.mkfifo(folder / "pipe.py")
    (folder / "circle.py").symlink_to("circle.py")
    (folder / "zero.py").symlink_to("/dev/zero")
    (folder / "outside.py").symlink_to(victim / "secret.py")
    with (folder / "huge.py").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(BenchmarkError, match=r"huge\.py cannot be read: it has more than"):
        read_tree(folder)
    (folder / "huge.py").unlink()
    files = read_tree(folder)
    assert bytes(files.pop("a.py")) == b"x = 1\n"
    assert all(content == b"" or not bytes(content) for content in files.values()), files
    for name in ("pipe.py", "circle.py", "zero.py", "outside.py"):
        with pytest.raises(BenchmarkError, match="cannot be read"):
            read_text(folder / name, inside=folder)
    with pytest.raises(OSError, match="plain"):
        read_plain(Path("/dev/zero"))


def test_a_tree_of_any_depth_is_listed(tmp_path: Path) -> None:
    place = tmp_path / "deep"
    place.mkdir()
    former = Path.cwd()
    try:
        os.chdir(place)
        for _ in range(1500):
            Path("d").mkdir()
            os.chdir("d")
        Path("a.py").write_text("x = 1\n")
    finally:
        os.chdir(former)
    try:
        assert list(read_tree(place).values()) == [b"x = 1\n"]
    finally:
        subprocess.run(["rm", "-rf", str(place)], check=True)  # what removes pytest's folders does not go that deep


def test_a_repository_with_more_files_than_any_disk_ends_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path / "bomb", {"a": "x"})
    entry = git(folder, "ls-tree", "HEAD").strip().removesuffix("\ta")
    for _ in range(9):
        lines = "".join(f"{entry}\t{number:02}{'-' * 200}\n" for number in range(12))
        made = subprocess.run(["git", "mktree"], cwd=folder, input=lines, capture_output=True, text=True, check=True)
        entry = f"040000 tree {made.stdout.strip()}"
    commit = git(folder, "commit-tree", entry.split()[2], "-m", "Bomb").strip()
    (folder / ".git/refs/heads/main").write_text(f"{commit}\n")
    with pytest.raises(GitError, match="was stopped, because it writes more than"):
        len(CommitFiles(folder, commit))
    monkeypatch.setattr("stackrank.env.git._READING_S", 0.01)
    monkeypatch.setattr("stackrank.env.git._MOST_LISTED", 1 << 40)
    with pytest.raises(GitError, match="was stopped after"):
        read_git(folder, "ls-tree", "-r", commit)
