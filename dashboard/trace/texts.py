"""Show texts that agents wrote as text, however long and odd they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from stackrank import wording
from stackrank.wording import count_of

CUT = 20_000
"""How many characters of a text are shown before someone asks for all."""
MOST = 1_000_000
"""The most characters of a text that a page can bear."""
# A text longer than this scrolls by itself, so that what follows stays in sight.
_LONG, _LONG_LINES, _LONG_HEIGHT = 4_000, 40, 520


# Headings, lists, emphasis and code, but no links, nothing loaded from elsewhere, and no HTML from the text.
_PROSE = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable(["link", "image", "autolink", "reference"])
_BREAKS = ("softbreak", "hardbreak")
Branch = str | list[Any]
"""A text, or the name of an element followed by its content."""


def said(text: str, total: int | None = None, load: str = "") -> dict[str, Any]:
    """Return a text for the browser. `total`: the full length if `text` is the beginning; `load`: the whole's name."""
    total = len(text) if total is None else total
    return {"text": wording.visible(text[:CUT]), "total": total, "load": load if total > CUT else ""}


def tree(text: str) -> list[Branch]:
    """Parse a model's Markdown into elements for the browser to create."""
    return _branches(SyntaxTreeNode(_PROSE.parse(wording.visible(text))))


def _branches(node: SyntaxTreeNode) -> list[Branch]:
    branches: list[Branch] = []
    for child in node.children:
        if child.type == "text":
            branches.append(child.content)
        elif child.type in _BREAKS:
            branches.append(["br"])
        elif child.type == "code_inline":
            branches.append(["code", child.content])
        elif child.type in ("fence", "code_block"):
            branches.append(["pre", child.content])
        elif child.type == "inline":
            branches += _branches(child)
        else:
            branches.append([child.tag, *_branches(child)])
    return branches


def body(
    text: str,
    *,
    key: str,
    language: str | None = None,
    total: int | None = None,
    load: Callable[[int], str] | None = None,
) -> None:
    """Draw a text verbatim, cut if it is long.

    `total`: the full length if `text` is only the beginning; then `load(n)` returns the first n characters.
    """
    total = len(text) if total is None else total
    if total > CUT:
        label = (
            f"Load all {count_of(total, 'character')}"
            if total <= MOST
            else f"Load {MOST:,} of {count_of(total, 'character')}"
        )
        show_all = st.toggle(label, key=f"{key}_all")
        text = (load(MOST) if load else text)[:MOST] if show_all else text[:CUT]
    hidden_chars = total - len(text)
    text = wording.visible(text)
    if hidden_chars > 0:
        text += f"\n[{count_of(hidden_chars, 'more character')}]"
    long = len(text) > _LONG or text.count("\n") > _LONG_LINES
    # Highlighting a long text takes seconds.
    highlight = None if len(text) > 2 * CUT else language
    st.code(text, language=highlight, wrap_lines=True, height=_LONG_HEIGHT if long else "content")
