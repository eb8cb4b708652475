# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from builder import Circle, Project, order
from builder import UnknownTarget


def run(wanted, **needs):
    return order(wanted.split(), lambda name: needs.get(name, "").split())


@pytest.mark.parametrize("wanted, needs, expected", [
    ("a", dict(a="b c", b="d", c="d"), "d b c a"),
    ("a", dict(a="b c d"), "b c d a"),
    ("a", dict(a="b c", b="c"), "c b a"),
    ("a", dict(a="c b", b="c"), "c b a"),
    ("a b", dict(a="x", b="x y"), "x a y b"),
    ("a", dict(a="b b"), "b a"),
    ("a", dict(a="b c", b="d e", c="e f", d="g", e="g", f="g"), "g d e b f c a"),
    ("b a b", dict(a="b"), "b a"),
])
def test_order(wanted, needs, expected):
    assert run(wanted, **needs) == expected.split()


@pytest.mark.parametrize("needs, path", [
    (dict(a="a"), "a a"),
    (dict(a="b", b="a"), "a b a"),
    (dict(a="x b", x="y", b="c", c="y d", d="b"), "b c d b"),
    (dict(a="x b", x="", b="x c", c="x a"), "a b c a"),
])
def test_circles(needs, path):
    with pytest.raises(Circle) as caught:
        run("a", **needs)
    assert caught.value.path == path.split()


def test_rebuild_in_a_diamond():
    p = Project()
    p.add("app", "ui", "net")
    p.add("ui", "core")
    p.add("net", "core")
    p.add("core")
    p.build("app")
    p.touch("net")
    assert p.build("app") == ["net", "app"]
    p.touch("core")
    assert p.build("app") == ["core", "ui", "net", "app"]


def test_many_projects():
    chance = random.Random(4)
    for _ in range(300):
        names = "abcdefg"[: chance.randint(1, 7)]
        needs = {name: [chance.choice(names) for _ in range(chance.randint(0, 2))] for name in names}
        wanted = [chance.choice(names) for _ in range(chance.randint(1, 3))]
        reached, waiting = set(), list(wanted)
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += needs[name]
        try:
            found = order(iter(wanted), lambda name: iter(needs[name]))
        except Circle as circle:
            path = circle.path
            assert path[0] == path[-1] and len(set(path)) == len(path) - 1 >= 1
            assert all(other in needs[one] for one, other in zip(path, path[1:])) and set(path) <= reached
        else:
            assert len(found) == len(set(found)) and set(found) == reached
            assert all(found.index(other) < found.index(name) for name in found for other in needs[name])


def test_unknown_targets_and_several_wanted():
    p = Project()
    p.add("a", "lib")
    p.add("b", "lib", "a")
    with pytest.raises(UnknownTarget):
        p.build("b")
    p.add("lib")
    assert p.build("b", "a") == ["lib", "a", "b"]
    assert p.build("a", "b") == []
    p.touch("a")
    assert p.build("lib") == []
    assert p.build("b") == ["a", "b"]
