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


class Odd:
    """An item that is equal to all the others and has no hash."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return True

    __hash__ = None


def test_items_of_any_kind_are_worked_on_once():
    calls = []

    def work(item):
        calls.append(item)
        return item

    assert in_parallel(work, iter([3, 1, 2]), workers=1) == [3, 1, 2]
    assert in_parallel(work, (n for n in [1, 1, None, 0]), workers=2) == [1, 1, None, 0]
    assert len(calls) == 7
    assert in_parallel(lambda row: row + [0], [[2], [1], []]) == [[2, 0], [1, 0], [0]]
    assert in_parallel(lambda item: item.number, [Odd(n) for n in (5, 2, 9)]) == [5, 2, 9]


def test_equal_items_with_results_of_their_own():
    numbers = iter(range(9))
    assert in_parallel(lambda item: next(numbers), "aba", workers=1) == [0, 1, 2]
    assert in_parallel(lambda item: item / 2, [1, True, 1.0]) == [0.5, 0.5, 0.5]


def test_sheet_with_a_name_twice():
    from photos.sheet import contact_sheet

    pictures = iter([Photo("a", [[0]]), Photo("b", [[255]]), Photo("a", [[128]])])
    assert contact_sheet(["a", "b", "a"], lambda name: next(pictures), workers=1) == [("a", [" "]), ("b", ["#"]), ("a", [":"])]
