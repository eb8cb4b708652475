# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Slugs."""
from __future__ import annotations

import re

from .letters import to_ascii

_APOSTROPHES = re.compile(r"(?<=[a-z0-9])'(?=[a-z])")
_OTHERS = re.compile(r"[^a-z0-9]+")


def slugify(title: str, longest: int = 60) -> str:
    """The slug of a title: words of a-z and 0-9 joined by hyphens, at most `longest` characters.

    An apostrophe inside a word joins its parts. A long slug is cut between words where possible. A title
    without any usable character gives "untitled".
    """
    text = _APOSTROPHES.sub("", to_ascii(title))
    slug = _OTHERS.sub("-", text).strip("-")
    return _cut(slug, longest) or "untitled"


def _cut(slug: str, longest: int) -> str:
    if len(slug) <= longest:
        return slug
    head = slug[: longest + 1]
    cut = head.rfind("-")
    return head[:cut] if cut > 0 else slug[:longest]
