# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from scene.edit import move_under, ungroup
from scene.script import build, find
from scene.tidy import tidy
from scene.vectors import Vec

TEXT = """
a 1 0
  +g 10 10
    +h 100 0
      b 1 1
  +e 5 5
  +!k 1 1
    c 2 2
+pair 0 7
  d 1 0
  f 2 0
"""


def names(root):
    return [node.name for node in root.walk()]


def test_nested_groups():
    root = build(TEXT)
    assert tidy(root) == 3
    assert names(root) == ["root", "a", "b", "+!k", "c", "+pair", "d", "f"]
    assert find(root, "b").path() == "root/a/b"
    assert find(root, "b").world() == Vec(112, 11)
    assert find(root, "c").world() == Vec(4, 3)


def test_ungroup_while_the_group_is_held():
    root = build(TEXT)
    pair = find(root, "+pair")
    freed = ungroup(pair)
    assert [node.name for node in freed] == ["d", "f"]
    assert [node.world() for node in freed] == [Vec(1, 7), Vec(2, 7)]
    assert [node.path() for node in freed] == ["root/d", "root/f"]
    assert pair.parent is None and pair.path() == "+pair" and pair not in root.children
    assert pair.children == []


def test_place_among_siblings():
    root = build("x 0 0\n+g 1 1\n  p 0 0\n  q 0 0\ny 0 0\n")
    ungroup(find(root, "+g"))
    assert names(root) == ["root", "x", "p", "q", "y"]


def test_freed_node_moves_with_its_new_parent():
    root = build(TEXT)
    tidy(root)
    find(root, "a").place = Vec(2, 0)
    assert find(root, "b").world() == Vec(113, 11)


def test_freed_node_can_go_elsewhere():
    root = build(TEXT)
    tidy(root)
    move_under(find(root, "b"), find(root, "+pair"))
    assert names(root) == ["root", "a", "+!k", "c", "+pair", "d", "f", "b"]
    assert find(root, "b").world() == Vec(112, 11)
    find(root, "b").detach()
    assert "b" not in names(root)


def test_tidy_twice():
    root = build(TEXT)
    tidy(root)
    assert tidy(root) == 0
    find(root, "f").detach()
    assert tidy(root) == 1
    assert find(root, "d").world() == Vec(1, 7)
