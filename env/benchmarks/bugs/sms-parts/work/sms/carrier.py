# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The gateway of the carrier."""
from __future__ import annotations

from typing import List

from .message import Message


class PartTooLong(ValueError):
    """The carrier does not take the part."""


def encode(message: Message) -> List[bytes]:
    """The bytes sent for each part; refused as the carrier would refuse them."""
    several = len(message.parts) > 1
    limit = message.alphabet.multi if several else message.alphabet.single
    frames = []
    for part in message.parts:
        if message.alphabet.name == "ucs2":
            frame = part.text.encode("utf-16-be")
            places = len(frame) // 2
        else:
            frame = part.text.encode("utf-8")
            places = part.payload(message.alphabet)
        if places > limit:
            raise PartTooLong(f"part {part.number}: {places} places, {limit} at most")
        frames.append(frame)
    return frames
