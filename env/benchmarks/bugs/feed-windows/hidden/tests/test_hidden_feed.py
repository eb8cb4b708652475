# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from itertools import count

import pytest

from feed import digest
from feed.events import Event
from feed.windows import windows


def times(*seconds):
    return [Event(at, "x") for at in seconds]


def cut(seconds, length, start=0):
    return [(begin, [event.at for event in events]) for begin, events in windows(iter(times(*seconds)), length, start)]


@pytest.mark.parametrize("length", [1, 3, 7, 50, 1000])
def test_no_event_is_lost(length):
    seconds = [at * at % 7 + 5 * at for at in range(60)]
    got = cut(sorted(seconds), length)
    assert [at for _, events in got for at in events] == sorted(seconds)
    assert [begin for begin, _ in got] == [length * number for number in range(len(got))]


def test_gap_between_windows():
    assert cut([1, 2, 31, 32, 45], 10) == [(0, [1, 2]), (10, []), (20, []), (30, [31, 32]), (40, [45])]


def test_borders():
    assert cut([0, 9, 10, 19, 20], 10) == [(0, [0, 9]), (10, [10, 19]), (20, [20])]


def test_start():
    assert cut([3, 5, 14, 15, 24], 10, start=5) == [(5, [5, 14]), (15, [15, 24])]
    assert cut([3], 10, start=5) == []


def test_endless_feed():
    feed = (Event(at, "tick") for at in count())
    assert [one.count for one in digest([feed], length=5, limit=3)] == [5, 5, 5]


def test_window_comes_out_as_soon_as_possible():
    seen = []

    def feed():
        for at in (1, 2, 11, 12, 25):
            seen.append(at)
            yield Event(at, "x")

    stream = windows(feed(), 10)
    assert next(stream)[0] == 0
    assert seen == [1, 2, 11]


def test_empty_feed():
    assert digest([[], []]) == []
