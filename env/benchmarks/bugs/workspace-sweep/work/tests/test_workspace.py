# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from workspace import Build, sweep, sweep_all


@pytest.fixture
def build(tmp_path):
    build = Build(tmp_path, "app", ["main.c", "util.c"])
    build.run()
    return build


def files(path):
    return sorted(str(one.relative_to(path)) for one in path.rglob("*") if one.is_file())


def test_everything(build, tmp_path):
    assert len(sweep(build)) == 6
    assert files(tmp_path) == []
    assert not build.layout.cache.exists()


def test_keep_log(build, tmp_path):
    sweep(build, keep_log=True)
    assert files(tmp_path) == ["app.log"]


def test_partly_cleaned_by_hand(build, tmp_path):
    (tmp_path / "objects" / "app-main.o").unlink()
    assert len(sweep(build)) == 5
    assert files(tmp_path) == []


def test_log_removed_by_hand(build, tmp_path):
    build.layout.log.unlink()
    sweep_all([build])
    assert files(tmp_path) == []
