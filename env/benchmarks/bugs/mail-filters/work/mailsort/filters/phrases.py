# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Phrases the user does not want to read."""
from __future__ import annotations

from typing import Callable, Dict, List

from mailsort.mail import Mail

_used: Dict[str, int] = {}
_limit = 100


def _parse(text: str) -> List[List[str]]:
    return [phrase.lower().split() for phrase in text.split(";") if phrase.strip()]


def _contains(words: List[str], phrase: List[str]) -> bool:
    """Whether the words of the phrase follow each other in `words`."""
    size = len(phrase)
    return any(words[i:i + size] == phrase for i in range(len(words) - size + 1))


def set_limit(_limit: int) -> None:
    """Change how many phrases are looked at per mail."""
    global _limit


def statistics() -> Dict[str, int]:
    """How many times each phrase was found."""
    return dict(_used)


def make(settings: Dict[str, str]) -> Callable[[Mail], float]:
    """Settings: `phrases` separated by `;` and the `weight` of each found (1.0 if not set)."""
    phrases = _parse(settings.get("phrases", ""))
    weight = float(settings.get("weight", "1.0"))

    def score(mail: Mail) -> float:
        words = mail.words()
        found = [phrase for phrase in phrases[:_limit] if _contains(words, phrase)]
        for phrase in found:
            key = " ".join(phrase)
            _used[key] = _used.get(key, 0) + 1
        return weight * len(found)

    return score
