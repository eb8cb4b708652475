# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from packer import pack, unpack


def test_there_and_back():
    text = "she sells sea shells on the sea shore"
    packed = pack(text)
    assert unpack(packed) == text
    assert len(packed.data) < len(text) / 2


def test_empty():
    assert unpack(pack("")) == ""


def test_dashes():
    assert unpack(pack("-" * 20)) == "-" * 20


def test_two_characters():
    assert sorted(pack("abab").codes.values()) == ["0", "1"]
