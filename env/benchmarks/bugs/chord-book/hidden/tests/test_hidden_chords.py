# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from chords import Book, Chord, easy_pairs, is_easy
from chords.changes import hardest_step

SAME = ["D xx0232", "A x02220", "B x24442", "F 133211"]


def test_pairs_of_book_and_list_agree():
    lines = ["C x32010", "Am x02210", "E 022100", "Em 022000", "G 320003", "F 133211", "Dm xx0231"]
    book = Book(lines)
    assert easy_pairs(book) == easy_pairs(list(book))
    assert ("E", "Em") in easy_pairs(book)


def test_books_inside_each_other():
    book = Book(SAME)
    assert [(a.name, b.name) for a in book for b in book] == [(a, b) for a in "ABDF" for b in "ABDF"]


def test_two_iterators_of_one_book():
    book = Book(SAME)
    first, second = iter(book), iter(book)
    assert next(first).name == "A"
    assert next(first).name == "B"
    assert next(second).name == "A"
    assert next(first).name == "D"


def test_asking_the_book_while_going_through_it():
    book = Book(SAME)
    assert [(chord.name, len(book.find(9)), "F" in book.names()) for chord in book] == [(n, 4, True) for n in "ABDF"]


def test_breaking_off_and_starting_again():
    book = Book(SAME)
    for chord in book:
        break
    assert book.names() == ["A", "B", "D", "F"]


def test_song():
    book = Book(SAME)
    assert hardest_step([book["A"], book["D"], book["A"]]) == 3
    assert hardest_step([]) == 0
    assert is_easy(Chord.parse("X x02220"), Chord.parse("Y x02200"))


def test_adding_to_a_book_that_was_read():
    book = Book(SAME)
    assert book.names() == ["A", "B", "D", "F"]
    book.add(Chord.parse("C x32010"))
    assert book.names() == ["A", "B", "C", "D", "F"]
    assert [chord.name for chord in book] == ["A", "B", "C", "D", "F"]


def test_breaking_off_inside():
    book = Book(SAME)
    seen = []
    for first in book:
        for second in book:
            seen.append(first.name + second.name)
            break
        if len(seen) > 9:
            break
    assert seen == ["AA", "BA", "DA", "FA"]
