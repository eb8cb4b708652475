# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from assets import AssetError, Finder
from assets.themes import Theme, Themes


def make(tmp_path, *specs):
    themes = Themes()
    for name, base, files in specs:
        folder = tmp_path / name
        folder.mkdir()
        themes.add(Theme(name, folder, base))
        for file in files:
            (folder / file).write_text(f"{file} of {name}")
    return Finder(themes)


def test_three_levels(tmp_path):
    finder = make(tmp_path, ("a", None, ["x", "y", "z"]), ("b", "a", ["y"]), ("c", "b", ["z"]))
    assert [finder.read("c", name) for name in "xyz"] == [b"x of a", b"y of b", b"z of c"]
    assert finder.has("c", "x") and not finder.has("c", "w")


def test_no_theme_has_it(tmp_path):
    finder = make(tmp_path, ("a", None, []), ("b", "a", []))
    with pytest.raises(AssetError) as caught:
        finder.read("b", "x")
    assert str(caught.value) == "no theme of b has x"


def test_folder_in_place_of_a_file(tmp_path):
    finder = make(tmp_path, ("a", None, ["x"]), ("b", "a", []))
    (tmp_path / "b" / "x").mkdir()
    with pytest.raises(AssetError) as caught:
        finder.read("b", "x")
    assert str(caught.value) == "x of b cannot be read"
    assert isinstance(caught.value.__cause__, OSError)


def test_folder_of_the_theme_is_missing(tmp_path):
    finder = make(tmp_path, ("a", None, ["x"]))
    finder._themes.add(Theme("b", tmp_path / "nowhere", "a"))
    assert finder.read("b", "x") == b"x of a"


def test_remembered(tmp_path):
    finder = make(tmp_path, ("a", None, ["x"]))
    finder.read("a", "x")
    (tmp_path / "a" / "x").write_text("new")
    assert finder.read("a", "x") == b"x of a"


def test_circle(tmp_path):
    with pytest.raises(ValueError):
        make(tmp_path, ("a", "b", []), ("b", "a", [])).read("a", "x")
