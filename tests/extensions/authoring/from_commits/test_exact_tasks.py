"""`init-task` on commits whose files are of every kind: the task has the bytes of the commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.git import CommitFiles, resolve_commit
from stackrank.env.benchmarks.repo import Repo
from stackrank.env.patches import apply_patch
from stackrank.env.task import Task
from stackrank.extensions.authoring.from_commit import Draft, TaskOptions, draft, save
from stackrank.extensions.authoring.new_task import make_task
from stackrank.patches.contents import Executable, Link
from tests.env.test_patched_trees import a_change, check_out, stored
from tests.fixtures.env import usable
from tests.support.repository import git

BROKEN = "def fill(name, width):\n    left = (width - len(name)) // 2\n    return ' ' * left + name + ' ' * left\n"
FIXED = BROKEN.replace("' ' * left\n", "' ' * (width - len(name) - left)\n")
TEST = "from label import fill\n\n\ndef test_even():\n    assert fill('ab', 4) == ' ab '\n"
NEW_TEST = f"{TEST}\n\ndef test_odd():\n    assert fill('abc', 6) == ' abc  '\n"
CRLF = ("\n", "\r\n")


def committed(folder: Path, *trees: dict[str, bytes]) -> Path:
    """A repository with a commit for each tree."""
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "config", "core.autocrlf", "false")
    for files in trees:
        check_out(folder, files)
        git(folder, "commit", "--quiet", "-m", "Next")
    return folder


def written(repo: Path, out: Path, **options: bool) -> tuple[Draft, Task]:
    """The draft of the newest commit, and the task as it is read back."""
    drafted = draft(str(repo), "HEAD", TaskOptions(id="t", setup=("true",), **options))  # type: ignore[arg-type]
    save(drafted, out)
    benchmark = Repo(Source(out))
    assert not benchmark.excluded()
    (task,) = benchmark.tasks()
    return drafted, task


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_task_has_the_bytes_of_its_commit(tmp_path: Path, seed: int, hidden: bool) -> None:
    before, after = a_change(seed)
    test = {"test_label.py": TEST.encode()}, {"test_label.py": NEW_TEST.encode(), "tests/data.bin": b"\0\xff"}
    repo = committed(tmp_path / "repo", {**before, **test[0]}, {**after, **test[1]})
    _, task = written(repo, tmp_path / "out", hidden_tests=hidden)
    fixed = {**apply_patch(task.files, task.fix), **task.hidden_files}
    assert stored(fixed) == stored(CommitFiles(repo, resolve_commit(repo, "HEAD")))


def test_what_is_in_no_commit_is_named(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    other = committed(tmp_path / "other", {"x": b"1"}, {"x": b"2"})
    files = {"label.py": BROKEN.encode(), "test_label.py": TEST.encode()}
    repo = committed(tmp_path / "repo", files)
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "vendor")
    git(repo, "-C", "vendor", "checkout", "--quiet", "HEAD~1")
    git(repo, "commit", "--quiet", "-am", "With another")
    git(repo, "-C", "vendor", "checkout", "--quiet", "-")
    for path, content in {"label.py": FIXED.encode(), "test_label.py": NEW_TEST.encode(), "a.bin": pointer}.items():
        (repo / path).write_bytes(content)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "-m", "Fix")
    drafted, task = written(repo, tmp_path / "out")
    assert drafted.notes == (
        "submodule vendor changes too, and is left as it is",
        "a.bin is in Git LFS: the task has only the pointer to it",
    )
    assert "vendor" not in task.fix and apply_patch(task.files, task.fix)["a.bin"] == pointer


def encoded(text: str, encoding: str, newline: str = "\n") -> bytes:
    """A Python file in an encoding, which it declares."""
    cookie = "" if encoding.startswith("utf-8") else f"# -*- coding: {encoding} -*-\n# ж ü 本\n"
    content = (cookie + text).encode(encoding, "ignore").decode(encoding).replace("\n", newline)
    return content.encode(encoding)


KINDS = {
    "koi8": ("koi8-r", "\r\n"), "BOM": ("utf-8-sig", "\r\n"), "Latin_1": ("latin-1", "\n"), "CRLF": ("utf-8", "\r\n"),
    "Japanese": ("euc_jp", "\n"), "Windows": ("cp1252", "\r\n"),
}  # fmt: skip


@pytest.mark.slow
def test_a_commit_of_encoded_files_becomes_a_proved_task(tmp_path: Path) -> None:
    trees = [
        {
            f"{prefix}label_{kind}.py": encoded(text.replace("label", f"label_{kind}"), *how)
            for kind, how in KINDS.items()
            for prefix, text in (("", program), ("test_", test))
        }
        for program, test in ((BROKEN, TEST), (FIXED, NEW_TEST))
    ]
    repo = committed(tmp_path / "repo", *trees)
    options = TaskOptions(id="t", setup=("true",))
    entry = make_task(str(repo), "HEAD", tmp_path / "out", options, usable("bubblewrap"), lambda _: None)
    assert sorted(entry.fail_to_pass) == sorted(f"test_label_{kind}.py::test_odd" for kind in KINDS)
    assert sorted(entry.pass_to_pass) == sorted(f"test_label_{kind}.py::test_even" for kind in KINDS)
    (task,) = Repo(Source(tmp_path / "out")).tasks()
    fixed = apply_patch(task.files, task.fix)
    assert all(fixed[f"label_{kind}.py"] == trees[1][f"label_{kind}.py"] for kind in KINDS)
    assert {fault.functions for fault in task.faults} == {("fill",)}, task.faults


@pytest.mark.slow
def test_a_fix_of_data_modes_and_links(tmp_path: Path) -> None:
    program = (
        b"import subprocess\n\ndef width():\n    return int(subprocess.run(['./size'], capture_output=True).stdout)\n"
    )
    script = b"#!/bin/sh\nwc -c < now.bin\n"
    trees = (
        {"label.py": program, "size": script, "old.bin": b"\0", "now.bin": b"\0", "test_label.py": b"import label\n"},
        {
            "label.py": program, "size": Executable(script), "new.bin": b"\0\xff\r\n", "now.bin": Link(b"new.bin"),
            "test_label.py": b"import label\n\ndef test_width():\n    assert label.width() == 4\n",
        },
    )  # fmt: skip
    repo = committed(tmp_path / "repo", *trees)
    options = TaskOptions(id="t", setup=("true",))
    entry = make_task(str(repo), "HEAD", tmp_path / "out", options, usable("bubblewrap"), lambda _: None)
    assert entry.fail_to_pass == ["test_label.py::test_width"]
