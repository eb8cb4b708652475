# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reading patches."""
from __future__ import annotations

from typing import List

from .errors import BadPatch
from .header import parse_header
from .model import Hunk, Line


def read(patch: str) -> List[Hunk]:
    """The hunks of a patch for one file. Lines before the first hunk are left out."""
    hunks: List[Hunk] = []
    lines: List[Line] = []
    for text in patch.splitlines():
        if text.startswith("@@"):
            old, new = parse_header(text)
            lines = []
            hunks.append(Hunk(old, new, lines))
        elif hunks and text[:1] in (" ", "+", "-"):
            lines.append((text[0], text[1:]))
        elif hunks and not text:
            lines.append((" ", ""))
        elif hunks:
            raise BadPatch(f"unexpected line: {text!r}")
    for hunk in hunks:
        _check(hunk)
    return hunks


def _check(hunk: Hunk) -> None:
    for sign, span in (("-", hunk.old), ("+", hunk.new)):
        if len(hunk.side(sign)) != span.count:
            raise BadPatch(f"hunk at line {span.start} has not the {span.count} lines it says")
