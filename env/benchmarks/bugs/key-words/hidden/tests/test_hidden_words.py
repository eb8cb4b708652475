# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from keywords import decode, encode, read_slip, write_slip
from keywords.words import WORDS
from keywords.codec import BadWords


@pytest.mark.parametrize(
    "key, words",
    [
        ("00112233445566778899aabbccddeeff01", "baler damen mamit nelim galon penor nezal rezal naxit goster vengo jathin telim terk repel loder dozal"),
        ("c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9", "sabin mossel dever hoder sazal ramit pont vader seter pamen genor param hetin tander vorin kabin moter"),
        ("77696e74657220697320636f6d696e672121", "lakel setin ramit noter halan gadle cevel ramit covel roper rember joter namen sazal rothin mogan gemen"),
        ("ffffffffffffffffff", "wetan wetan wetan wetan wetan wetan wetan wetan jonor"),
        ("000000000000000000", "baler baler baler baler baler baler baler baler baler"),
    ],
)
def test_words_of_a_key(key: str, words: str) -> None:
    assert encode(bytes.fromhex(key)) == words.split()
    assert decode(words.split(), len(key) // 2).hex() == key


def test_the_list() -> None:
    assert len(WORDS) == len(set(WORDS)) == 512
    assert WORDS == sorted(WORDS) and all(word.isalpha() and 4 <= len(word) <= 8 for word in WORDS)


@pytest.mark.parametrize("number", [0, 316, 317, 318, 319, 511])
def test_words_by_number(number: int) -> None:
    key = (number << 7).to_bytes(2, "big")
    assert encode(key)[0] == {0: "baler", 316: "nodle", 317: "nolon", 318: "nomen", 319: "nongo", 511: "wetan"}[number]


def test_every_key_can_be_written() -> None:
    for number in range(512):
        key = (number << 7).to_bytes(2, "big") + bytes(3)
        assert read_slip(write_slip(key)).key == key


def test_keys_of_every_size_come_back():
    chance = random.Random(9)
    for size in range(1, 40):
        key = bytes(chance.randrange(256) for _ in range(size))
        words = encode(key)
        assert len(words) == -(-size * 8 // 9) + 1
        assert decode(words, size) == key
        assert read_slip(write_slip(key).upper().replace("BYTES", "bytes")) == (size, key)
        assert [WORDS.index(word) for word in words[:-1]] == [
            int(f"{int.from_bytes(key, 'big'):0{size * 8}b}"[at : at + 9].ljust(9, "0"), 2) for at in range(0, size * 8, 9)
        ]


def test_no_two_words_are_stuck_together():
    known = set(WORDS)
    assert [word for word in WORDS for at in range(1, len(word)) if word[:at] in known and word[at:] in known] == []


def test_wrong_words_are_noticed():
    words = encode(b"nolon and nomen")
    for place in range(len(words)):
        with pytest.raises(BadWords):
            decode(words[:place] + ["nolonnomen"] + words[place + 1 :], 15)
    with pytest.raises(BadWords):
        decode(words[:-1] + [WORDS[(WORDS.index(words[-1]) + 1) % 512]], 15)
