# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Word weights learned from mails the user has moved."""
from __future__ import annotations

from typing import Callable, Dict

from mailsort.mail import Mail


def make(settings: Dict[str, str]) -> Callable[[Mail], float]:
    """Settings: `weights` like "pills:0.6 meeting:-0.5"."""
    weights: Dict[str, float] = {}
    for item in settings.get("weights", "").split():
        word, _, weight = item.partition(":")
        weights[word] = float(weight)

    def score(mail: Mail) -> float:
        return sum(weights.get(word, 0.0) for word in set(mail.words()))

    return score
