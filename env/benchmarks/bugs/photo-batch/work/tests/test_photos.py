# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import threading

from photos import contact_sheet
from photos.photo import Photo

GREY = {"night": 0, "dusk": 120, "snow": 255}


class Disk:
    """Loads photos; `large` is loaded only when the loading of `last` has begun."""

    def __init__(self, large="", last=""):
        self._large, self._last = large, last
        self._begun = threading.Event()

    def __call__(self, name):
        if name == self._last:
            self._begun.set()
        if name == self._large:
            assert self._begun.wait(10)
        return Photo(name, [[GREY[name]] * 2])


def test_one_photo():
    assert contact_sheet(["snow"], Disk()) == [("snow", ["##"])]


def test_one_worker():
    assert contact_sheet(["night", "snow"], Disk(), workers=1) == [("night", ["  "]), ("snow", ["##"])]


def test_large_photo_first():
    sheet = contact_sheet(["night", "dusk", "snow"], Disk("night", "snow"), workers=2)
    assert sheet == [("night", ["  "]), ("dusk", ["::"]), ("snow", ["##"])]
