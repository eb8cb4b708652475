# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What happens between lines: headings, lists, paragraphs."""
from __future__ import annotations

import re

from .inline import render_inline

_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*$")
_ITEM = re.compile(r"[-*]\s+(.+)$")


def render(text: str) -> str:
    """A whole text as HTML: blocks are separated by empty lines."""
    blocks = re.split(r"\n\s*\n", text.strip())
    return "\n".join(_block(block.split("\n")) for block in blocks if block.strip())


def _block(lines: list[str]) -> str:
    heading = _HEADING.match(lines[0]) if len(lines) == 1 else None
    if heading:
        level = len(heading[1])
        return f"<h{level}>{render_inline(heading[2])}</h{level}>"
    items = [_ITEM.match(line) for line in lines]
    if all(items):
        inner = "".join(f"<li>{render_inline(item[1])}</li>" for item in items if item)
        return f"<ul>{inner}</ul>"
    return f"<p>{render_inline(' '.join(line.strip() for line in lines))}</p>"
