# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from slugs import SlugRegistry, slugify


@pytest.mark.parametrize(
    "title, slug",
    [
        ("Hello, World!", "hello-world"),
        ("Smørrebrød for beginners", "smorrebrod-for-beginners"),
        ("Crème Brûlée", "creme-brulee"),
        ("Don’t panic – it’s fine", "dont-panic-its-fine"),
    ],
)
def test_slugs(title, slug):
    assert slugify(title) == slug


def test_capital():
    assert slugify("Østerbro by bike") == "osterbro-by-bike"


def test_long_titles():
    assert slugify("one two three four", longest=10) == "one-two"
    assert slugify("a" * 20, longest=10) == "a" * 10


def test_registry():
    registry = SlugRegistry(reserved=("about",))
    assert registry.assign("a1", "About") == "about-2"
    assert registry.assign("a2", "News") == "news"
    assert registry.assign("a3", "NEWS!") == "news-2"
    assert registry.assign("a2", "News") == "news"
