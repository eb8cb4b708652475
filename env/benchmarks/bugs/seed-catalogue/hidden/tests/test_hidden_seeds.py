# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

import random

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


def test_lines_after_the_first_mistake_are_not_read():
    lines = iter(["A | mar | 1", "", "oops", None, "B | apr | 1"])
    error = caught(lines)
    assert [number for number, _ in error.problems] == [3]
    assert list(lines) == [None, "B | apr | 1"]

    def broken():
        yield " | apr | 1"
        raise OSError("the disk is gone")

    assert caught(broken()).problems == [(1, "name is missing")]
    with pytest.raises(OSError):
        read_catalogue(broken(), patient=True)


def test_any_lines():
    chance = random.Random(6)
    bad = {" | apr | 1": "name is missing", "X | apr | 1.2": "not a price: 1.2", "Y | apr | .123": "not a price: .123"}
    for _ in range(200):
        lines, good, problems = [], [], []
        for number in range(1, chance.randint(0, 8) + 1):
            line = chance.choice([*bad, "", "  ", "A | mar | 1", "B | nov-feb | 2.50", "C | jan | 3"])
            lines.append(line)
            name = line.partition(" |")[0]
            if line in bad:
                problems.append((number, bad[line]))
            elif line.strip() and name in good:
                problems.append((number, f"{name} is there twice"))
            elif line.strip():
                good.append(name)
        for patient in (True, False):
            if problems:
                error = caught(iter(lines), patient=patient)
                assert error.problems == problems[: None if patient else 1]
                assert str(error) == "; ".join(f"line {number}: {problem}" for number, problem in error.problems)
                assert str(error.__cause__) == problems[0][1] and isinstance(error.__cause__, ValueError)
            else:
                assert list(read_catalogue(iter(lines), patient)) == good
