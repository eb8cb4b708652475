# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Decide on folders."""
from __future__ import annotations

from typing import Dict, List, Tuple

from mailsort.mail import Mail
from mailsort.registry import Filter, load_filter


class Sorter:
    """Adds the opinions of all filters; at `threshold` and above a mail is junk."""

    def __init__(self, settings: Dict[str, Dict[str, str]], threshold: float = 1.0) -> None:
        self.threshold = threshold
        self._filters: List[Tuple[str, Filter]] = [
            (name, load_filter(name, values)) for name, values in settings.items() if values.get("on") != "no"
        ]

    def score(self, mail: Mail) -> float:
        """The sum of all opinions."""
        return sum(opinion(mail) for _, opinion in self._filters)

    def folder(self, mail: Mail) -> str:
        """`Junk` or `Inbox`."""
        return "Junk" if self.score(mail) >= self.threshold else "Inbox"
