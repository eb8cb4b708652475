# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The splitter."""
from __future__ import annotations

from typing import List

from .alphabet import Alphabet, choose
from .message import Message, Part


def split(text: str) -> Message:
    """Split a text into as few parts as possible; an empty text is one empty part."""
    alphabet = choose(text)
    if _size(text, alphabet) <= alphabet.single:
        return Message(alphabet, [Part(1, text)])
    pieces = _fill(text, alphabet)
    return Message(alphabet, [Part(number, piece) for number, piece in enumerate(pieces, 1)])


def _size(text: str, alphabet: Alphabet) -> int:
    return sum(map(alphabet.cost, text))


def _fill(text: str, alphabet: Alphabet) -> List[str]:
    pieces: List[str] = []
    start = used = 0
    for index, letter in enumerate(text):
        cost = alphabet.cost(letter)
        if used + cost > alphabet.multi:
            pieces.append(text[start:index])
            start, used = index, 0
        used += cost
    return pieces + [text[start:]]
