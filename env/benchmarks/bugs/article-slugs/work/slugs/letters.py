# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Writing any Latin text with the letters a to z."""
from __future__ import annotations

import unicodedata

_LETTERS = {
    "æ": "ae",
    "œ": "oe",
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ß": "ss",
    "ħ": "h",
    "ı": "i",
    "’": "'",
    "–": "-",
    "—": "-",
}
_TABLE = str.maketrans(_LETTERS)


def to_ascii(text: str) -> str:
    """The text in lower case ASCII.

    Letters with accents lose them, special letters of Latin alphabets are written with a to z; neither
    depends on the case they are written in. Anything else that is not ASCII is left out.
    """
    text = unicodedata.normalize("NFKD", text).translate(_TABLE)
    return text.encode("ascii", "ignore").decode("ascii").lower()
