# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Keys as words, with a last word that tells whether all the others are right."""
from __future__ import annotations

from functools import lru_cache
from typing import Dict, List, Sequence

from .bits import groups, joined
from .words import WORDS


class BadWords(ValueError):
    """These are no words of a key."""


@lru_cache(maxsize=None)
def _numbers() -> Dict[str, int]:
    return {word: number for number, word in enumerate(WORDS)}


def checksum(key: bytes) -> int:
    """Bytes in another order give another sum."""
    return sum(place * byte for place, byte in enumerate(key, 1)) % 512


def encode(key: bytes) -> List[str]:
    """Raises BadWords for a key that cannot be written."""
    numbers = [*groups(key), checksum(key)]
    try:
        return [WORDS[number] for number in numbers]
    except IndexError:
        raise BadWords("this key cannot be written as words") from None


def decode(words: Sequence[str], size: int) -> bytes:
    """The key of `size` bytes. Raises BadWords."""
    known = _numbers()
    unknown = [word for word in words if word not in known]
    if unknown:
        raise BadWords(f"not in the list: {', '.join(unknown)}")
    if len(words) < 2:
        raise BadWords("too few words")
    *numbers, check = (known[word] for word in words)
    key = joined(numbers)[:size]
    if len(key) < size:
        raise BadWords(f"{len(key)} bytes and not {size}")
    if checksum(key) != check:
        raise BadWords("a word is wrong")
    return key
