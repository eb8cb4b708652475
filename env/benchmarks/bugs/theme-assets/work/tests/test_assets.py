# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from assets import AssetError, Finder
from assets.themes import Theme, Themes


@pytest.fixture
def finder(tmp_path):
    themes = Themes()
    for name, base, files in (("plain", None, ["a", "b"]), ("dark", "plain", ["b"])):
        folder = tmp_path / name
        folder.mkdir()
        themes.add(Theme(name, folder, base))
        for file in files:
            (folder / file).write_text(f"{file} of {name}")
    return Finder(themes)


def test_own_file(finder):
    assert finder.read("dark", "b") == b"b of dark"


def test_file_of_the_base(finder):
    assert finder.read("dark", "a") == b"a of plain"


def test_missing_everywhere(finder):
    with pytest.raises(AssetError):
        finder.read("plain", "c")
