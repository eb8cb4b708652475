# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from seats.booking import best_block, book, cancel
from seats.hall import Hall, Row
from seats.rating import strands


def test_strands_on_either_side():
    row = Row("......")
    assert [strands(row, start, 3) for start in range(4)] == [False, True, True, False]
    row = Row("x.....x")
    assert [strands(row, start, 2) for start in (1, 2, 3, 4)] == [False, True, True, False]
    assert strands(Row("....."), 1, 3)
    assert not strands(Row("....."), 0, 5)


def test_goes_to_the_next_row_rather_than_strand():
    hall = Hall({"A": "x....x", "B": "xx...x"})
    assert book(hall, "ada", 3) == "B-3"


def test_strands_if_it_must():
    hall = Hall({"A": "xxxxxxx", "B": "xx....x"})
    assert book(hall, "ada", 3) == "B-3"
    assert book(hall, "bob", 1) == "B-6"


def test_single_on_the_left_only():
    hall = Hall({"A": "xx......"})
    assert book(hall, "ada", 3) == "A-3"


def test_cancel_and_book_again():
    hall = Hall({"A": "........"})
    assert book(hall, "ada", 4) == "A-3"
    assert cancel(hall, "ada") == 4
    assert cancel(hall, "ada") == 0
    assert best_block(hall, 8) == ("A", 0)
    assert best_block(hall, 7) == ("A", 0)


def test_sequence_of_parties():
    hall = Hall({"A": "......"})
    assert [book(hall, name, 2) for name in ("a", "b", "c", "d")] == ["A-3", "A-1", "A-5", None]
    assert str(hall) == "A bbaacc"
