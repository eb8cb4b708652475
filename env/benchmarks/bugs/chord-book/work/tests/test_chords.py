# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from chords import Book, easy_pairs, is_easy

LINES = ["C x32010", "Am x02210", "E 022100", "Em 022000", "G 320003", "Cmaj7 x32000"]


def test_names():
    assert Book(LINES).names() == ["Am", "C", "Cmaj7", "E", "Em", "G"]


def test_is_easy():
    book = Book(LINES)
    assert is_easy(book["E"], book["Em"])
    assert not is_easy(book["E"], book["G"])


def test_few_fingers():
    assert [str(chord) for chord in Book(LINES).find(2)] == ["Cmaj7 x32000", "Em 022000"]


def test_easy_pairs():
    assert easy_pairs(Book(LINES)) == [
        ("Am", "C"), ("C", "Cmaj7"), ("C", "Em"), ("Cmaj7", "E"), ("Cmaj7", "Em"), ("E", "Em")]
