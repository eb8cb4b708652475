# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The first line of a hunk."""
from __future__ import annotations

import re
from typing import Optional, Tuple

from .errors import BadPatch
from .model import Span

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def parse_header(line: str) -> Tuple[Span, Span]:
    """The old and the new span of a line like "@@ -3,2 +3,4 @@ anything".

    A count that is left out stands for one line.
    """
    match = _HEADER.match(line)
    if match is None:
        raise BadPatch(f"no hunk: {line!r}")
    return _span(match[1], match[2]), _span(match[3], match[4])


def _span(start: str, count: Optional[str]) -> Span:
    return Span(int(start), int(count or 0))
