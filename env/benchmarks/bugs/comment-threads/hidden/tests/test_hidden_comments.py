# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from comments import Comment, Page


def test_deep_chain():
    page = Page(deepest=3)
    comment = page.add("a", "0")
    for number in range(1, 7):
        comment = comment.answer("a", str(number))
    assert page.lines() == ["a: 0", "  a: 1", "    a: 2", "      a: 3", "      a: 4", "      a: 5", "      a: 6"]
    assert page.count() == 7


def test_likes_count_on_every_level():
    root = Comment("r", "")
    low, high = root.answer("low", "", likes=1), root.answer("high", "", likes=2)
    for parent in (low, high):
        parent.answer(parent.author + "1", "")
        parent.answer(parent.author + "2", "", likes=5)
    names = [(depth, c.author) for depth, c in root.thread()]
    assert names == [(0, "r"), (1, "high"), (2, "high2"), (2, "high1"), (1, "low"), (2, "low2"), (2, "low1")]


def test_below_hidden_comments():
    page = Page()
    first = page.add("a", "x")
    first.answer("b", "y").answer("c", "z", hidden=True).answer("d", "lost")
    first.answer("e", "w", hidden=True).answer("f", "lost")
    assert page.lines() == ["a: x", "  b: y", "    (hidden)", "  (hidden)"]
    assert page.count() == 2
    assert page.authors() == {"a": 1, "b": 1}


def test_hidden_later():
    page = Page()
    first = page.add("a", "x")
    second = first.answer("b", "y")
    second.answer("c", "z").answer("d", "w")
    assert page.count() == 4
    second.hidden = True
    assert (page.count(), len(page.lines())) == (1, 2)


def test_empty_page():
    assert Page().lines() == [] and Page().count() == 0
