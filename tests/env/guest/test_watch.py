"""The kernel's reports of changes: none is missed, and steps that change nothing need no look at the files."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stackrank.env.sandbox.guest.core.files import Workspace
from stackrank.env.sandbox.guest.debugging.pdb.watch import Watch
from tests.fixtures.env import Play, cart


def _map(file: Path) -> None:
    with file.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as memory:
        memory.resize(9)


CHANGES: dict[str, Callable[[Path], object]] = {
    "write": lambda root: (root / "a/b/one.py").write_text("2\n"),
    "truncate": lambda root: os.truncate(root / "a/b/one.py", 0),
    "resize in memory": lambda root: _map(root / "a/b/one.py"),
    "mode": lambda root: (root / "a/b/one.py").chmod(0o600),
    "times": lambda root: os.utime(root / "a/b/one.py"),
    "new file": lambda root: (root / "a/new.py").touch(),
    "new file in an empty folder": lambda root: (root / "empty/new.py").touch(),
    "new link": lambda root: (root / "link.py").symlink_to("a/b/one.py"),
    "removal": lambda root: (root / "a/b/one.py").unlink(),
    "renamed file": lambda root: (root / "a/b/one.py").rename(root / "one.py"),
    "renamed folder": lambda root: (root / "a/b").rename(root / "c"),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "a/b/one.py").write_text("1\n")
    workspace = Workspace(str(tmp_path))
    workspace.set_baseline()
    return workspace


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_noticed_once(workspace: Workspace, name: str) -> None:
    watch = Watch(workspace.root)
    assert watch.may_have_changed(), "nothing is known before the first call"
    assert not watch.may_have_changed()
    CHANGES[name](Path(workspace.root))
    assert watch.may_have_changed() and workspace.news()
    assert not watch.may_have_changed() and not workspace.news()


def test_a_folder_is_watched_as_soon_as_it_is_there(workspace: Workspace) -> None:
    watch, root = Watch(workspace.root), Path(workspace.root)
    assert watch.may_have_changed()
    for folder in ("new", "new/below", "a/b/c"):
        (root / folder).mkdir()
        assert watch.may_have_changed() and not watch.may_have_changed()
        (root / folder / "file.py").touch()
        assert watch.may_have_changed() and not watch.may_have_changed()


def test_what_cannot_be_watched_may_always_have_changed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    full = Watch(workspace.root)
    monkeypatch.setattr(full._libc, "inotify_add_watch", lambda *_: -1, raising=False)
    assert full.may_have_changed() and full.may_have_changed()


def test_files_that_code_in_the_debugger_changes_are_recorded_with_its_step(play: Play) -> None:
    episode = play(cart())
    assert not episode.pdb("b cart.py:4\nc").state.get("diff")
    for command, changed in (
        ("!import os; os.mkdir('made')", ""),
        ("!open('made/x.txt', 'w').write('1')", "made/x.txt"),
    ):
        assert changed in episode.pdb(command).state.get("diff", "")
    episode("rewrite", path="cart.py", start=1, end=1, new_code="def total(items):  # all")
    assert not episode.pdb("b cart.py:4\nc").state.get("diff"), "the edit is recorded with its own step"
    assert "made/x.txt" in episode.pdb("!os = __import__('os'); os.remove('made/x.txt')").state["diff"]
    assert not episode.pdb("p result").state.get("diff")
