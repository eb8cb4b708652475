# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from packer import Packed, pack, unpack
from packer.tree import build, codes


@pytest.mark.parametrize("text", ["a", "zz", "\n" * 9, "ab", "aab", "é€🙂", "abcdefgh", "a" * 1000 + "b", "0101"])
def test_there_and_back(text):
    packed = pack(text)
    assert unpack(packed) == text
    assert all(packed.codes.values())


def test_one_bit_for_each_of_the_same():
    packed = pack("x" * 16)
    assert (packed.bits, len(packed.data), packed.codes) == (16, 2, {"x": "0"})


def test_codes_are_as_short_as_can_be():
    assert pack("ab").bits == 2
    assert pack("aaaabbc").bits == 4 + 2 * 2 + 2
    assert sorted(map(len, pack("abcd").codes.values())) == [2, 2, 2, 2]


def test_no_code_begins_another():
    codes = list(pack("mississippi river").codes.values())
    assert not [1 for a in codes for b in codes if a != b and b.startswith(a)]


def test_damaged():
    packed = pack("abcabc")
    with pytest.raises(ValueError):
        unpack(Packed({"a": "00", "b": "01"}, b"\x00", 3))
    assert unpack(Packed(packed.codes, packed.data, 0)) == ""


@pytest.mark.parametrize("text", ["-", "---", "\n", "🙂🙂", "ab", "aaab"])
def test_every_code_has_a_digit(text):
    found = codes(build(text))
    assert set(found) == set(text)
    assert all(len(code) >= 1 and set(code) <= {"0", "1"} for code in found.values())
    assert pack(text).codes == found


def test_many_texts():
    chance = random.Random(1)
    for _ in range(200):
        text = "".join(chance.choice("aabé01 \n"[: chance.randint(1, 8)]) for _ in range(chance.randint(0, 30)))
        packed = pack(text)
        assert unpack(packed) == text
        assert packed.bits == sum(len(packed.codes[c]) for c in text)
        assert len(packed.data) == -(-packed.bits // 8)
        assert codes(build(text)) == packed.codes if text else packed.codes == {}
