# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from telegrams import ChecksumError, FrameError, Reading, decode, encode


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_there_and_back(version):
    reading = Reading(4711, 123456, -35)
    assert Reading.from_telegram(reading.telegram(version)) == reading


def test_telegram_of_an_old_meter():
    assert decode(bytes.fromhex("68 01 02 05 07 0f")) == (1, b"\x05\x07")


def test_telegrams_of_new_meters():
    assert decode(bytes.fromhex("68 03 02 05 07 e3 32")) == (3, b"\x05\x07")
    assert decode(bytes.fromhex("68 02 02 05 07 ae")) == (2, b"\x05\x07")


def test_damage():
    frame = bytearray(encode(3, b"hello"))
    frame[5] ^= 0x10
    with pytest.raises(ChecksumError):
        decode(bytes(frame))
    with pytest.raises(FrameError):
        decode(b"\x68\x01")
