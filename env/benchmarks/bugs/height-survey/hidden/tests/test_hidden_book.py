# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

import pytest

from survey.book import FieldBook
from survey.links import Links


@pytest.mark.parametrize("seed", range(10))
def test_random_order(seed):
    rng = random.Random(seed)
    heights = {"p%d" % n: rng.randrange(1000) for n in range(25)}
    names = list(heights)
    pairs = [(names[rng.randrange(n)], names[n]) for n in range(1, 25)]
    rng.shuffle(pairs)
    links = Links()
    for a, b in pairs:
        if rng.random() < 0.5:
            a, b = b, a
        assert links.link(a, b, heights[b] - heights[a]) is None
    for a in names:
        for b in names:
            assert links.rise(a, b) == heights[b] - heights[a]


def test_small_joins_large_either_way():
    for first, second, rise in (("a", "x", 10), ("x", "a", -10)):
        links = Links()
        for pair in (("x", "y"), ("y", "z"), ("z", "w")):
            links.link(*pair, 1)
        links.link("a", "b", 100)
        links.link(first, second, rise)
        assert links.rise("b", "w") == -100 + 10 + 3
        assert links.rise("w", "b") == 87


def test_single_point_joined_from_its_side():
    book = FieldBook()
    book.read("A B 1\nB C 1\nN A 50\n")
    assert book.rise("N", "C") == 52
    assert book.measure("C", "N", -52)
    assert book.misfits == []


def test_known_already():
    links = Links()
    links.link("a", "b", 5)
    assert links.link("b", "a", 7) == -5
    assert links.rise("a", "b") == 5
    assert links.rise("a", "q") is None and links.points() == ["a", "b"]


def test_bench_marks():
    book = FieldBook()
    book.read("M = 100\nK = 0\nA B 7\nB A -7\nA C 1\nK A 30\n")
    assert book.height("C") == 31 and book.height("M") == 100 and book.height("B") == 37
