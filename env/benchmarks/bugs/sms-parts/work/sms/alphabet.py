# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The two alphabets of SMS."""
from __future__ import annotations

from dataclasses import dataclass

_BASIC = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§"
    "¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_EXTENDED = frozenset("^{}\\[~]|€\f")


@dataclass(frozen=True)
class Alphabet:
    """How much fits into a message: into the only part, and into each of several."""

    name: str
    single: int
    multi: int

    def cost(self, letter: str) -> int:
        """The places one letter takes in a part. Letters are never torn apart.

        In GSM a letter of the extension table takes two. In UCS-2, places are 16 bits wide, and what
        does not fit into 16 bits takes two.
        """
        if self.name == "gsm":
            return 2 if letter in _EXTENDED else 1
        return len(letter)

    def covers(self, text: str) -> bool:
        """Whether the text can be written in this alphabet."""
        return self.name == "ucs2" or all(c in _BASIC or c in _EXTENDED for c in text)


GSM = Alphabet("gsm", 160, 153)
UCS2 = Alphabet("ucs2", 70, 67)


def choose(text: str) -> Alphabet:
    """The smallest alphabet that covers the text."""
    return GSM if GSM.covers(text) else UCS2
