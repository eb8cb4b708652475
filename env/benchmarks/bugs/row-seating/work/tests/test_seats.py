# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from seats.booking import book
from seats.hall import Hall


def test_centre_of_the_front_row():
    hall = Hall({"A": ".........", "B": "........."})
    assert book(hall, "ada", 3) == "A-4"
    assert str(hall) == "A ...aaa...\nB ........."


def test_no_single_seat_beside_a_party():
    hall = Hall({"A": "......xx", "B": "........"})
    assert book(hall, "bob", 3) == "A-4"


def test_full_house():
    hall = Hall({"A": "..x..", "B": "xxxxx"})
    assert book(hall, "cy", 3) is None


def test_empty_party():
    with pytest.raises(ValueError):
        book(Hall({"A": "..."}), "dee", 0)
