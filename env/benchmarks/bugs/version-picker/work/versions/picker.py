# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Pick from what is offered."""
from __future__ import annotations

from typing import Iterable, List, Optional

from versions.ranges import Range
from versions.version import Version


def newest(offered: Iterable[str], range_text: str = "", pre: bool = False) -> List[str]:
    """The versions in the range, newest first; those with tails only if `pre` is set."""
    allowed = Range(range_text)
    versions = [Version(text) for text in offered]
    kept = {v for v in versions if allowed.allows(v) and (pre or v.is_final)}
    return [str(version) for version in sorted(kept, reverse=True)]


def update(current: str, offered: Iterable[str], range_text: str = "") -> Optional[str]:
    """The version to update to: the newest above the current one, None if there is none.

    Versions with tails are only proposed to those who have one already.
    """
    have = Version(current)
    for text in newest(offered, range_text, pre=not have.is_final):
        return text if Version(text) > have else None
    return None
