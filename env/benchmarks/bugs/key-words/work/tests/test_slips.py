# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from keywords import BadWords, closest, decode, encode, read_slip, write_slip

OLD = """17 bytes
baler damen mamit nelim
galon penor nezal rezal
naxit goster vengo jathin
telim terk repel loder
dozal
"""


def test_an_old_slip() -> None:
    assert read_slip(OLD).key.hex() == "00112233445566778899aabbccddeeff01"


def test_there_and_back() -> None:
    for key in (b"winter", bytes(9), b"0123456789"):
        assert read_slip(write_slip(key)).key == key


def test_wrong_words() -> None:
    words = encode(b"winter")
    with pytest.raises(BadWords, match="a word is wrong"):
        decode(words[1:2] + words[:1] + words[2:], 6)
    with pytest.raises(BadWords, match="not in the list: xyz"):
        decode(["xyz", *words[1:]], 6)


def test_what_was_meant() -> None:
    assert "baper" in closest("baperx")
    assert closest("qqqqqqqq") == []
