# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from twins.album import Album
from twins.fingerprint import difference, fingerprint

DARK, LIGHT = 10, 200


def half(light_rows):
    return [[LIGHT if y < light_rows else DARK] * 8 for y in range(8)]


def test_fingerprint():
    assert fingerprint(half(4)) == 0b1111111100000000
    assert difference(0b1010, 0b0110) == 2


def test_two_photos():
    album = Album(5)
    album.add("a", half(4))
    album.add("b", half(2))
    assert album.like("a") == ["b"] and album.like("b") == ["a"]


def test_album():
    album = Album(2)
    for name, print_ in [("sea", 0b0), ("hill", 0b1), ("cow", 0b1111), ("hut", 0b111), ("goat", 0b11011)]:
        album.add_print(name, print_)
    assert album.like("cow") == ["hut", "goat"]
    assert album.like("hill") == ["sea", "hut"]


def test_name_taken():
    album = Album()
    album.add_print("a", 1)
    with pytest.raises(ValueError):
        album.add_print("a", 2)
