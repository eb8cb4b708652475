# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from gradebook import GradeBook


def book(**pupils):
    result = GradeBook()
    result.add_test("algebra")
    result.add_test("geometry")
    for pupil, points in pupils.items():
        for test, number in zip(("algebra", "geometry"), points):
            result.enter(pupil, test, number)
    return result


def test_whole_averages():
    assert book(ann=(80, 90), bob=(60, 64)).report() == [("ann", 85, "B"), ("bob", 62, "D")]


def test_half_points():
    assert book(ann=(82, 83), bob=(83, 84)).report() == [("bob", 84, "B"), ("ann", 83, "B")]


def test_one_test_missing():
    assert book(ann=(71,)).final("ann") == 71
    assert book().final("ann") is None


def test_impossible():
    with pytest.raises(ValueError):
        book(ann=(101,))
