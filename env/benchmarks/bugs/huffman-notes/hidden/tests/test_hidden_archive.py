# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

import pytest

from huffman import pack, table, unpack


@pytest.mark.parametrize("text", ["x", "xx", "\n" * 17, "0" * 8, ":", "\u20ac" * 3, "ab", "aab", "abc" * 9, "\x00\x01"])
def test_round_trips(text):
    assert unpack(pack(text)) == text


def test_optimal():
    assert len(pack("a" * 4 + "b" * 2 + "c" + "d")[2]) == 2


def test_missing_bits():
    size, codes, data = pack("abcabcdd" * 4)
    with pytest.raises(ValueError):
        unpack((size, codes, b""))
    with pytest.raises(ValueError):
        unpack((size + 30, codes, data))


def test_not_a_code():
    with pytest.raises(ValueError):
        table.read("61:0 62:01")


def test_unused_code():
    with pytest.raises(ValueError):
        unpack((1, "61:00 62:01", b"\xff"))


@pytest.mark.parametrize("text, bits", [
    ("a" * 8 + "b" * 5 + "c" * 4 + "d" * 3 + "e" * 2 + "f", 56),
    ("aaaabbbbccccdddd", 32),
    ("a" * 13 + "b" * 8 + "c" * 5 + "d" * 3 + "e" * 2 + "f" + "g", 79),
    ("a" * 16 + "b" * 16 + "c" * 16 + "d" * 16 + "e", 146),
])
def test_no_code_is_shorter(text, bits):
    size, codes, data = pack(text)
    assert len(data) == (bits + 7) // 8
    assert unpack((size, codes, data)) == text


def test_pages_full_of_one_other_sign():
    for sign in (" ", "\n", "0", "é"):
        size, codes, data = pack(sign * 12)
        assert size == 12 and len(data) <= 2
        assert unpack((size, codes, data)) == sign * 12


def test_many_texts_come_back():
    chance = random.Random(5)
    for _ in range(200):
        text = "".join(chance.choice("-a b\n0é"[: chance.randint(1, 7)]) for _ in range(chance.randint(0, 40)))
        size, codes, data = pack(text)
        assert size == len(text)
        assert len(data) <= len(text)
        assert unpack((size, codes, data)) == text


@pytest.mark.parametrize("size, data", [(3, b""), (3, b"\xff"), (9, b"\x00"), (1, b"\x80"), (17, b"\x00\x00")])
def test_bits_of_a_single_code_are_read(size, data):
    with pytest.raises(ValueError):
        unpack((size, "61:0", data))
    assert unpack((8, "61:0", b"\x00")) == "a" * 8


SIGNS = [chr(number) for number in range(0x180)] + ["\u2028", "\ud800", "\ufeff", "\uffff", "\U0001f600", "\U0010ffff"]


@pytest.mark.parametrize("count", [1, 2, 8, 9, 40])
def test_pages_full_of_any_sign(count):
    for sign in SIGNS:
        size, codes, data = pack(sign * count)
        assert size == count and unpack((size, codes, data)) == sign * count


def test_any_sign_beside_others():
    for sign in SIGNS:
        for text in (sign + "-", "-" + sign * 5, "ab" + sign, sign * 3 + "\0", chr(ord(sign) ^ 1) + sign):
            assert unpack(pack(text)) == text


def test_texts_that_are_cut():
    chance = random.Random(8)
    for _ in range(100):
        text = "".join(chance.choice("ab\0-"[: chance.randint(1, 4)]) for _ in range(chance.randint(1, 60)))
        size, codes, data = pack(text)
        for end in range(len(data)):
            with pytest.raises(ValueError):
                unpack((size, codes, data[:end]))
        for fewer in range(size + 1):
            assert unpack((fewer, codes, data)) == text[:fewer]
