# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A place for finished pieces of HTML while the rest of a text is worked on."""
from __future__ import annotations

_MARK = "\x02"


class Stash:
    """Replaces finished pieces by tokens, which no later step touches, and brings them back at the end."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def put(self, piece: str) -> str:
        """Keep a piece; return the token that stands for it."""
        self._pieces.append(piece)
        return self._token(len(self._pieces) - 1)

    def restore(self, text: str) -> str:
        """The text with the pieces instead of their tokens."""
        for number in reversed(range(len(self._pieces))):
            text = text.replace(self._token(number), self._pieces[number])
        return text

    @staticmethod
    def clean(text: str) -> str:
        """The text without characters that could be taken for a token."""
        return text.replace(_MARK, "")

    @staticmethod
    def _token(number: int) -> str:
        return f"{_MARK}{number}"
