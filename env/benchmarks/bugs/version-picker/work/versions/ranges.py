# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Ranges such as `>=1.2.0 <2.0.0`, `~1.2.3` or `^1.2.3`."""
from __future__ import annotations

import operator
import re
from typing import Callable, List, Tuple

from versions.version import Version

_SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq}
_ITEM = re.compile(r"^(>=|<=|>|<|=|~|\^)?(.+)$")
Test = Callable[[Version, Version], bool]


class Range:
    """All conditions must hold."""

    def __init__(self, text: str) -> None:
        self._conditions: List[Tuple[Test, Version]] = []
        for item in text.split():
            sign, rest = _ITEM.match(item).groups()  # type: ignore[union-attr]
            version = Version(rest)
            if sign in ("~", "^"):
                self._conditions.append((operator.ge, version))
                self._conditions.append((operator.lt, self._next(version, sign)))
            else:
                self._conditions.append((_SIGNS[sign or "="], version))

    @staticmethod
    def _next(version: Version, sign: str) -> Version:
        """The first version that `~` (same minor) or `^` (same major) leaves out."""
        major, minor, _ = version.numbers
        return Version("%d.%d.0-0" % (major, minor + 1) if sign == "~" else "%d.0.0-0" % (major + 1))

    def allows(self, version: Version) -> bool:
        return all(test(version, limit) for test, limit in self._conditions)
