# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from scene.edit import group, move_under
from scene.script import build, find
from scene.tidy import tidy
from scene.vectors import Vec

TEXT = """
stage 10 0
  +left 1 1
    tree 2 2
  house 5 5
"""


def test_places():
    root = build(TEXT)
    assert find(root, "tree").world() == Vec(13, 3)
    assert find(root, "tree").path() == "root/stage/+left/tree"


def test_group_and_move():
    root = build(TEXT)
    made = group("+all", [find(root, "house"), find(root, "tree")], root)
    assert made.world() == Vec(15, 5)
    move_under(find(root, "house"), root)
    assert find(root, "house").place == find(root, "house").world() == Vec(15, 5)
    assert find(root, "tree").world() == Vec(13, 3)


def test_tidy():
    root = build(TEXT)
    assert tidy(root) == 1
    tree = find(root, "tree")
    assert tree.world() == Vec(13, 3)
    assert tree.path() == "root/stage/tree"


def test_not_there():
    with pytest.raises(KeyError):
        find(build(TEXT), "moon")
