# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What happens inside a line: code, links, emphasis, escapes."""
from __future__ import annotations

import html
import re

from .stash import Stash

_CODE = re.compile(r"(`+)(.+?)(?<!`)\1(?!`)", re.S)
_ESCAPE = re.compile(r"\\([\\`*_\[\]()])")
_LINK = re.compile(r"\[([^\[\]]+)\]\(([^()\s]+)\)")
_STRONG = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", re.S)
_EMPHASIS = re.compile(r"\*(?=\S)(.+?)(?<=\S)\*", re.S)


def render_inline(text: str) -> str:
    """The text as HTML.

    Supported are `code`, [label](address), **strong** and *emphasis*, and a backslash before a special
    character to take it as it is. Nothing is special inside code or inside an address. All other
    characters mean themselves.
    """
    stash = Stash()
    text = stash.clean(text)
    text = _CODE.sub(lambda m: stash.put(f"<code>{html.escape(m[2].strip(), quote=False)}</code>"), text)
    text = _ESCAPE.sub(lambda m: stash.put(m[1]), text)
    text = html.escape(text, quote=False)
    text = _LINK.sub(lambda m: _link(stash, m[1], m[2]), text)
    text = _STRONG.sub(r"<strong>\1</strong>", text)
    text = _EMPHASIS.sub(r"<em>\1</em>", text)
    return stash.restore(text)


def _link(stash: Stash, label: str, address: str) -> str:
    quoted = address.replace('"', "&quot;")
    return stash.put(f'<a href="{quoted}">') + label + stash.put("</a>")
