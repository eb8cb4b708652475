# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from seeds import CatalogueError, read_catalogue

LINES = ["A | mar | 1", "B | mars | 1", "C | apr | 1.2", " | apr | 1", "A | may | 2", "D | jun", "E | jul | 3"]


def caught(lines, **options):
    with pytest.raises(CatalogueError) as info:
        read_catalogue(lines, **options)
    return info.value


def test_first_mistake_only():
    error = caught(LINES)
    assert [number for number, _ in error.problems] == [2]


def test_all_mistakes():
    error = caught(LINES, patient=True)
    assert [number for number, _ in error.problems] == [2, 3, 4, 5, 6]
    assert error.problems[1:4] == [(3, "not a price: 1.2"), (4, "name is missing"), (5, "A is there twice")]


def test_cause_is_the_first_mistake():
    error = caught(LINES[2:], patient=True)
    assert isinstance(error.__cause__, ValueError)
    assert str(error.__cause__) == "not a price: 1.2"
    assert str(caught(LINES[3:]).__cause__) == "name is missing"


def test_last_line_good_after_a_mistake():
    error = caught(["x", "E | jul | 3"], patient=True)
    assert len(error.problems) == 1 and error.__cause__ is not None


def test_good_lines_patient():
    assert list(read_catalogue(["E | jul | 3", "F | jul-jun | 0.05"], patient=True)) == ["E", "F"]


def test_other_errors_go_through():
    with pytest.raises(AttributeError):
        read_catalogue([None])
