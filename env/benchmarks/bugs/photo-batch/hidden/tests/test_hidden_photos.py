# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import threading

import pytest

from photos.crew import in_parallel
from photos.photo import Photo
from photos.sheet import brightest


class Turnstile:
    """Work that ends for `slow` only when it has begun for `last`."""

    def __init__(self, slow, last):
        self._slow, self._last = slow, last
        self._begun = threading.Event()

    def __call__(self, item):
        if item == self._last:
            self._begun.set()
        if item == self._slow:
            assert self._begun.wait(10)
        return item * 10


@pytest.mark.parametrize("slow", [0, 1, 2])
def test_slow_item(slow):
    assert in_parallel(Turnstile(slow, 4), range(5), workers=2) == [0, 10, 20, 30, 40]


def test_slow_item_among_many():
    items = [7, 3, 9, 1, 8, 2, 5]
    assert in_parallel(Turnstile(7, 5), items, workers=2) == [item * 10 for item in items]


def test_same_item_twice():
    assert in_parallel(lambda text: text.upper(), ["b", "a", "b"], workers=1) == ["B", "A", "B"]


def test_items_work_at_the_same_time():
    barrier = threading.Barrier(3, timeout=10)
    assert in_parallel(lambda item: barrier.wait() >= 0, "abc", workers=3) == [True] * 3


def test_error():
    with pytest.raises(ZeroDivisionError):
        in_parallel(lambda item: 1 // item, [1, 0, 2])
    assert in_parallel(str, []) == []


def test_brightest():
    turn = Turnstile(0, 2)
    photos = [Photo("a", [[200, 100]]), Photo("b", [[10]]), Photo("c", [[90]])]

    def load(name):
        number = "abc".index(name)
        turn(number)
        return photos[number]

    assert brightest("abc", load, workers=2) == "a"
