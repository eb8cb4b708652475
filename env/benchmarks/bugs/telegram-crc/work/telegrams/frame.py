# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Frames: a mark, the version, the length, the payload and the check value."""
from __future__ import annotations

from typing import Dict, Tuple

from .crc import CRC16_MODBUS, CRC32, CRC8, Crc

MARK = 0x68
_CHECKS: Dict[int, Crc] = {2: CRC8, 3: CRC16_MODBUS, 4: CRC32}


class FrameError(ValueError):
    """This is no frame."""


class ChecksumError(FrameError):
    """The check value is wrong."""


def _check(version: int, body: bytes) -> bytes:
    if version == 1:
        return bytes([sum(body) % 256])
    if version not in _CHECKS:
        raise FrameError(f"unknown version {version}")
    check = _CHECKS[version]
    return check(body).to_bytes(check.width // 8, "little")


def encode(version: int, payload: bytes) -> bytes:
    """The frame of a payload of up to 255 bytes. Version 1 has a plain sum as its check."""
    if len(payload) > 255:
        raise FrameError("payload too long")
    body = bytes([version, len(payload)]) + payload
    return bytes([MARK]) + body + _check(version, body)


def decode(frame: bytes) -> Tuple[int, bytes]:
    """Version and payload of a frame."""
    if len(frame) < 4 or frame[0] != MARK:
        raise FrameError("no frame")
    version, end = frame[1], 3 + frame[2]
    body, check = frame[1:end], frame[end:]
    if len(body) != frame[2] + 2:
        raise FrameError("frame too short")
    if check != _check(version, body):
        raise ChecksumError(f"{check.hex()} instead of {_check(version, body).hex()}")
    return version, body[2:]
