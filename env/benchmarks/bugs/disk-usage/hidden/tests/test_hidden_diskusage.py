# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import os

from diskusage import measure


def build(top, sizes):
    for name, size in sizes.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)


def link(path, goal, folder=True):
    path.symlink_to(goal, target_is_directory=folder)


def names(usage):
    return [os.path.basename(file.path) for file in usage.files]


def test_two_links_to_one_folder_elsewhere(tmp_path):
    build(tmp_path, {"shared/s.bin": 7, "top/a.bin": 1})
    link(tmp_path / "top" / "one", tmp_path / "shared")
    link(tmp_path / "top" / "two", tmp_path / "shared")
    usage = measure(tmp_path / "top", follow_links=True)
    assert (usage.size, usage.folders) == (8, 2)
    assert names(usage) == ["a.bin", "s.bin"]
    assert usage.files[1].path == str(tmp_path / "top" / "one" / "s.bin")


def test_folders_that_link_to_each_other(tmp_path):
    build(tmp_path, {"a/1": 1, "b/2": 2, "b/c/3": 4})
    link(tmp_path / "a" / "tob", tmp_path / "b")
    link(tmp_path / "b" / "c" / "toa", tmp_path / "a")
    for start in (tmp_path, tmp_path / "a", tmp_path / "b"):
        usage = measure(start, follow_links=True)
        assert usage.size == 7
        assert usage.unreadable == []


def test_start_at_a_link_and_relative_links(tmp_path):
    build(tmp_path, {"real/x": 3, "real/sub/y": 4})
    link(tmp_path / "alias", "real")
    link(tmp_path / "real" / "sub" / "up", "..")
    usage = measure(tmp_path / "alias", follow_links=True)
    assert (usage.size, usage.folders) == (7, 2)


def test_folder_that_links_to_itself(tmp_path):
    build(tmp_path, {"x": 3})
    link(tmp_path / "self", ".")
    usage = measure(tmp_path, follow_links=True)
    assert (usage.size, usage.folders) == (3, 1)


def test_several_folders_of_the_same_name_are_all_measured(tmp_path):
    build(tmp_path, {"a/sub/same": 1, "b/sub/same": 2, "c/sub/same": 4})
    usage = measure(tmp_path, follow_links=True)
    assert (usage.size, usage.folders) == (7, 7)


def test_links_to_files_and_to_nothing(tmp_path):
    build(tmp_path, {"top/a": 5, "other/b": 6})
    link(tmp_path / "top" / "b", tmp_path / "other" / "b", folder=False)
    link(tmp_path / "top" / "gone", tmp_path / "nowhere", folder=False)
    usage = measure(tmp_path / "top", follow_links=True)
    assert usage.size == 11
    assert [os.path.basename(path) for path in usage.unreadable] == ["gone"]
    assert measure(tmp_path / "top").unreadable == []


def test_deep_tree(tmp_path):
    build(tmp_path, {"/".join("d" * 60) + "/leaf": 9})
    usage = measure(tmp_path, follow_links=True)
    assert (usage.size, usage.folders) == (9, 61)


def test_missing_folder(tmp_path):
    usage = measure(tmp_path / "none")
    assert usage.unreadable == [str(tmp_path / "none")]
    assert usage.folders == 0


def test_a_folder_named_from_where_one_stands(tmp_path, monkeypatch):
    build(tmp_path, {"top/src/a.bin": 3, "top/b.bin": 4})
    link(tmp_path / "top" / "alink", tmp_path / "top" / "src")
    monkeypatch.chdir(tmp_path)
    usage = measure("top", follow_links=True)
    assert (usage.size, usage.folders) == (7, 2)
