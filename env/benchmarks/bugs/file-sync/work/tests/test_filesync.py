# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import shutil

import pytest

from filesync import synchronise


def fill(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def content(folder):
    return {p.name: p.read_text() for p in sorted(folder.iterdir())}


def full_disk_after(count):
    """A copy function for which the disk is full after `count` files."""
    done = []

    def copy(origin, place):
        if len(done) == count:
            raise OSError(28, "No space left on device")
        done.append(place)
        shutil.copyfile(str(origin), str(place))

    return copy


def test_mirror(tmp_path):
    source = fill(tmp_path / "s", a="1", b="2")
    target = fill(tmp_path / "t", b="old", c="3")
    report = synchronise(source, target, delete=True)
    assert (report.created, report.updated, report.deleted) == (["a"], ["b"], ["c"])
    assert content(target) == {"a": "1", "b": "2"}


def test_disk_full_at_once(tmp_path):
    source = fill(tmp_path / "s", a="1", b="2")
    target = fill(tmp_path / "t", b="old")
    with pytest.raises(OSError):
        synchronise(source, target, copy=full_disk_after(0))
    assert content(target) == {"b": "old"}


def test_disk_full_on_the_way(tmp_path):
    source = fill(tmp_path / "s", a="1", b="2")
    target = fill(tmp_path / "t", b="old")
    with pytest.raises(OSError):
        synchronise(source, target, copy=full_disk_after(1))
    assert content(target) == {"b": "old"}
