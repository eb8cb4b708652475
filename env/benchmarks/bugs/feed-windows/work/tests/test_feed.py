# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from feed import Digest, digest
from feed.events import Event, parse
from feed.merge import OutOfOrder


def test_one_window():
    feeds = [parse(["5 door 2", "90 bell"]), parse(["30 lamp 4"])]
    assert digest(feeds) == [Digest(0, 3, 7, "lamp")]


def test_hours_of_a_morning():
    feed = [Event(600 * number, "door") for number in range(18)]
    assert [one.count for one in digest([feed])] == [6, 6, 6]


def test_quiet_windows():
    assert digest([[Event(25, "door")]], length=10) == [
        Digest(0, 0, 0, None), Digest(10, 0, 0, None), Digest(20, 1, 1, "door")]


def test_out_of_order():
    with pytest.raises(OutOfOrder):
        digest([[Event(5, "a"), Event(4, "a")]])
