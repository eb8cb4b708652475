# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random
import zlib

import pytest

from telegrams import ChecksumError, Reading, decode, encode
from telegrams.bits import reflect
from telegrams.crc import CRC16_MODBUS, CRC32, CRC8, Crc

CHECK = b"123456789"


@pytest.mark.parametrize("crc, value", [
    (CRC8, 0xF4),
    (CRC16_MODBUS, 0x4B37),
    (CRC32, 0xCBF43926),
    (Crc(16, 0x1021), 0x31C3),
    (Crc(16, 0x1021, init=0xFFFF), 0x29B1),
    (Crc(16, 0x8005, reflected=True), 0xBB3D),
    (Crc(24, 0x864CFB, init=0xB704CE), 0x21CF02),
    (Crc(8, 0x31, reflected=True), 0xA1),
])
def test_published_check_values(crc, value):
    assert crc(CHECK) == value


def test_like_zlib():
    chance = random.Random(2)
    for length in range(40):
        data = bytes(chance.randrange(256) for _ in range(length))
        assert CRC32(data) == zlib.crc32(data)


def test_reflect():
    assert [reflect(v, 8) for v in (0x01, 0x80, 0xF0, 0x12)] == [0x80, 0x01, 0x0F, 0x48]


@pytest.mark.parametrize("version", [2, 3, 4])
def test_every_single_bit_is_noticed(version):
    frame = Reading(1, 2, 3).telegram(version)
    for bit in range(24, 8 * len(frame)):
        damaged = bytearray(frame)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ChecksumError):
            decode(bytes(damaged))


def test_empty_data():
    assert (CRC8(b""), CRC16_MODBUS(b""), CRC32(b"")) == (0, 0xFFFF, 0)
    assert decode(encode(4, b"")) == (4, b"")


@pytest.mark.parametrize("crc, value", [
    (Crc(16, 0x1021, init=0xB2AA, reflected=True), 0x63D0),
    (Crc(16, 0x1021, init=0xC6C6, reflected=True), 0xBF05),
    (Crc(16, 0x1021, init=0x89EC, reflected=True), 0x26B1),
    (Crc(16, 0x1021, init=0x1D0F), 0xE5CC),
    (Crc(8, 0x07, xor_out=0x55), 0xA1),
])
def test_published_check_values_of_odd_beginnings(crc, value):
    assert crc(CHECK) == value


def bit_by_bit(crc, data):
    value = crc.init
    for byte in data:
        for place in range(8) if crc.reflected else reversed(range(8)):
            bit = byte >> place & 1 ^ value >> crc.width - 1
            value = value << 1 & (1 << crc.width) - 1
            value ^= crc.poly if bit else 0
    if crc.reflected:
        value = int(f"{value:0{crc.width}b}"[::-1], 2)
    return value ^ crc.xor_out


def test_like_bit_by_bit():
    chance = random.Random(11)
    for _ in range(40):
        width = chance.choice([8, 12, 16, 24, 32, 40, 64])
        crc = Crc(width, chance.getrandbits(width) | 1, chance.getrandbits(width), chance.random() < 0.5, chance.getrandbits(width))
        for length in range(6):
            data = bytes(chance.randrange(256) for _ in range(length))
            assert crc(data) == bit_by_bit(crc, data), crc
