# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from fractions import Fraction

import pytest

from gradebook import GradeBook
from points import whole


@pytest.mark.parametrize("n", range(0, 100))
def test_halves_count_upwards(n):
    assert whole(Fraction(2 * n + 1, 2)) == n + 1
    assert whole(Fraction(n)) == n


def test_just_below_and_above_a_half():
    assert whole(Fraction(49999999999999999999, 10**20)) == 0
    assert whole(Fraction(50000000000000000001, 10**20)) == 1
    assert [whole(Fraction(n, 3)) for n in (247, 248, 249)] == [82, 83, 83]
    assert whole(Fraction(824, 10)) == 82


def test_weights():
    book = GradeBook()
    book.add_test("quiz")
    book.add_test("exam", 3)
    book.enter("ann", "quiz", 90)
    book.enter("ann", "exam", 88)
    book.enter("bob", "quiz", 88)
    book.enter("bob", "exam", 90)
    assert book.report() == [("bob", 90, "A"), ("ann", 89, "B")]
    with pytest.raises(ValueError):
        book.add_test("joke", 0)


def test_letter_at_the_edge():
    book = GradeBook()
    for test in "xy":
        book.add_test(test)
    for pupil, points in (("ann", (79, 80)), ("bob", (69, 70)), ("cid", (89, 90)), ("dan", (60, 59)), ("eve", (59, 59))):
        for test, number in zip("xy", points):
            book.enter(pupil, test, number)
    assert book.report() == [("cid", 90, "A"), ("ann", 80, "B"), ("bob", 70, "C"), ("dan", 60, "D"), ("eve", 59, "F")]
