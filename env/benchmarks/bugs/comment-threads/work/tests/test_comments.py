# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from comments import Page


def test_direct_answers_by_likes():
    page = Page()
    first = page.add("ann", "Hi")
    first.answer("bob", "Hello")
    first.answer("cid", "Hey", likes=3)
    page.add("dot", "First!")
    assert page.lines() == ["ann: Hi", "  cid: Hey", "  bob: Hello", "dot: First!"]


def test_answers_to_answers():
    page = Page()
    page.add("ann", "a").answer("bob", "b").answer("ann", "c")
    page.add("dot", "d")
    assert page.lines() == ["ann: a", "  bob: b", "    ann: c", "dot: d"]
    assert page.count() == 4
    assert page.authors() == {"ann": 2, "bob": 1, "dot": 1}


def test_hidden():
    page = Page()
    page.add("ann", "a").answer("bob", "b", hidden=True)
    assert page.lines() == ["ann: a", "  (hidden)"]
    assert page.count() == 1
