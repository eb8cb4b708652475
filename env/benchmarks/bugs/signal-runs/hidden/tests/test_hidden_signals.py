# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from itertools import product

import pytest

from signals import dump, load, longest, outages
from signals.peek import Peekable
from signals.runs import Run, runs


def test_every_short_signal():
    for length in range(6):
        for signal in product([None, 0, 1], repeat=length):
            assert load(dump(iter(signal))) == list(signal)


def test_text_with_outages():
    assert dump([None]) == "?"
    assert dump([None, 3, None, None, None]) == "? 3 ?*3"


def test_outages():
    assert outages([None, None, 1, None, 0, 0, None]) == (3, 4)
    assert outages([1, 0]) == (0, 0)


def test_longest_beside_outages():
    assert longest([None] * 5 + [0, 0] + [None]) == (0, 2)
    assert longest([None]) is None


@pytest.mark.parametrize("items", [[None], [0, None], [None, False, 0, "", None], [], [(), [], object]])
def test_peekable(items):
    stream = Peekable(iter(items))
    for item in items:
        assert stream and stream
        assert stream.peek() is item and stream.peek() is item
        assert next(stream) is item
    assert not stream
    with pytest.raises(IndexError):
        stream.peek()
    with pytest.raises(StopIteration):
        next(stream)


def test_without_looking():
    assert list(Peekable([None, 1, None])) == [None, 1, None]


def test_peeking_before_anything_else():
    stream = Peekable(iter([5, 6]))
    assert stream.peek() == 5
    assert next(stream) == 5
    assert stream.peek() == 6
    assert list(stream) == [6]
    with pytest.raises(IndexError):
        stream.peek()


def test_every_short_signal_below_zero():
    for signal in product([None, -1, -2, 5], repeat=4):
        assert load(dump(iter(signal))) == list(signal)
    assert longest([-1, -1, -1, 7]) == (-1, 3)


def test_a_signal_is_read_as_it_comes():
    read = []

    def source():
        for number in (1, 1, None, None, 3, 4):
            read.append(number)
            yield number

    found = runs(source())
    assert next(found) == Run(1, 2)
    assert read == [1, 1, None]
    assert next(found) == Run(None, 2)
    assert read == [1, 1, None, None, 3]


def test_only_one_sample_is_read_ahead():
    numbers = iter([0, 1, 2, 3])
    stream = Peekable(numbers)
    assert (stream.peek(), next(stream), next(stream), stream.peek()) == (0, 0, 1, 2)
    assert list(numbers) == [3]


def test_tolerance_beside_outages():
    assert dump([None, 10, 12, 8, 13, None, None, 0, 3], tolerance=2) == "? 10*3 13 ?*2 0 3"
    assert dump([0, None, 0], tolerance=9) == "0 ? 0"
    for signal in product([None, 0, 3, 4], repeat=4):
        read = load(dump(signal, tolerance=1))
        assert [each is None for each in read] == [each is None for each in signal]
