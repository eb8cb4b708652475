# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from workspace import Build, sweep, sweep_all


def make(root, name="app", sources=("a.c", "b.c")):
    build = Build(root, name, list(sources))
    build.run()
    return build


def files(path):
    return sorted(str(one.relative_to(path)) for one in path.rglob("*") if one.is_file())


@pytest.mark.parametrize("gone", [c for n in range(4) for c in combinations(range(6), n)])
def test_any_files_gone(tmp_path, gone):
    build = make(tmp_path)
    names = files(tmp_path)
    for number in gone:
        (tmp_path / names[number]).unlink()
    assert len(sweep(build)) == 6 - len(gone)
    assert files(tmp_path) == []
    assert not build.layout.cache.exists()


def test_cache_folder_gone(tmp_path):
    build = make(tmp_path)
    for path in build.layout.cache.iterdir():
        path.unlink()
    build.layout.cache.rmdir()
    assert [path.name for path in sweep(build)] == ["app-a.o", "app-b.o", "app.log", "app.lock"]


def test_objects_folder_gone(tmp_path):
    build = make(tmp_path, sources=())
    (tmp_path / "objects").rmdir()
    build.sources.append("x.c")
    assert [path.name for path in sweep(build)] == ["app.log", "app.lock"]


def test_sweep_twice(tmp_path):
    build = make(tmp_path)
    assert sweep_all([build, build]) == 6


def test_other_builds_are_left_alone(tmp_path):
    first, second = make(tmp_path, "one"), make(tmp_path, "two")
    (tmp_path / "objects" / "one-a.o").unlink()
    sweep(first)
    assert len(files(tmp_path)) == 6 and all("two" in name for name in files(tmp_path))


def test_other_errors_are_raised(tmp_path):
    build = make(tmp_path)
    (build.layout.cache / "folder").mkdir()
    with pytest.raises(OSError):
        sweep(build)
    assert build.layout.lock.exists()


def test_a_folder_in_place_of_the_log(tmp_path):
    build = Build(tmp_path, "app", ["main.c"])
    build.run()
    build.layout.log.unlink()
    build.layout.log.mkdir()
    with pytest.raises(OSError):
        sweep(build)
    assert build.layout.lock.exists()


def places(build):
    layout = build.layout
    return {
        "object": layout.objects(build.sources)[0], "cached": sorted(layout.cache.iterdir())[0], "new": layout.cache / "zz",
        "log": layout.log, "lock": layout.lock,
    }


@pytest.mark.parametrize("target", ["nowhere", "file", "folder"])
@pytest.mark.parametrize("place", ["object", "cached", "new", "log", "lock"])
def test_links_are_removed_and_their_targets_are_not(tmp_path, place, target):
    (tmp_path / "work").mkdir()
    build = make(tmp_path / "work")
    (tmp_path / "file").write_text("kept")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner").write_text("kept")
    path = places(build)[place]
    if place != "new":
        path.unlink()
    path.symlink_to(tmp_path / target)
    removed = sweep(build)
    assert path in removed and len(removed) == (7 if place == "new" else 6)
    assert [one for one in (tmp_path / "work").rglob("*") if one.is_symlink() or one.is_file()] == []
    assert not build.layout.cache.exists() and removed[-1] == build.layout.lock
    assert files(tmp_path) == ["file", "folder/inner"]


@pytest.mark.parametrize("place", ["object", "cached", "new", "log", "lock"])
@pytest.mark.parametrize("gone", [False, True])
def test_folders_in_place_of_files(tmp_path, place, gone):
    build = make(tmp_path)
    path = places(build)[place]
    if place != "new":
        path.unlink()
    if gone:
        places(build)["object"].unlink(missing_ok=True)
    if gone and place == "object":
        build.layout.log.unlink()
    path.mkdir()
    with pytest.raises(OSError):
        sweep(build)
    assert path.is_dir()
    assert build.layout.lock.exists()


@pytest.mark.parametrize("error", [PermissionError, IsADirectoryError, NotADirectoryError, OSError, TimeoutError])
@pytest.mark.parametrize("at", range(6))
def test_errors_of_the_system_are_raised(tmp_path, monkeypatch, error, at):
    build = make(tmp_path)
    unlink, victim = Path.unlink, tmp_path / files(tmp_path)[at]

    def refuse(path, *rest, **named):
        if path == victim:
            raise error("not now")
        return unlink(path, *rest, **named)

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(error):
        sweep(build)
    assert victim.exists() and build.layout.lock.exists()


def test_what_is_returned_was_there(tmp_path):
    build = make(tmp_path)
    build.layout.objects(build.sources)[1].unlink()
    cached = sorted(build.layout.cache.iterdir())
    cached[0].unlink()
    removed = sweep(build, keep_log=True)
    assert removed == [build.layout.objects(build.sources)[0], cached[1], build.layout.lock]
    assert sweep(build, keep_log=True) == [] and sweep(build) == [build.layout.log]
    assert sweep_all(iter([build, make(tmp_path, "new"), build])) == 6
