# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from itertools import combinations

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
