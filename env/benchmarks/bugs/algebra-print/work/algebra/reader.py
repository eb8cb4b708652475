# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reading."""
from __future__ import annotations

import re
from typing import List

from .nodes import Node, Op
from .signs import STRENGTH, binds_right

_TOKEN = re.compile(r"\s*(\d+|[a-z]|[-+*/^()])")


def read(text: str) -> Node:
    """The formula of a text with numbers, letters, signs and brackets."""
    tokens: List[str] = []
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise ValueError(f"unexpected {text[at]!r}")
        tokens.append(match[1])
        at = match.end()
    tokens.append("")
    node = _read(tokens, 1)
    if tokens[0]:
        raise ValueError(f"unexpected {tokens[0]!r}")
    return node


def _read(tokens: List[str], least: int) -> Node:
    left = _atom(tokens)
    while STRENGTH.get(tokens[0], 0) >= least:
        sign = tokens.pop(0)
        right = _read(tokens, STRENGTH[sign] + (0 if binds_right(sign) else 1))
        left = Op(sign, left, right)
    return left


def _atom(tokens: List[str]) -> Node:
    token = tokens.pop(0)
    if token == "(":
        node = _read(tokens, 1)
        if tokens.pop(0) != ")":
            raise ValueError("bracket not closed")
        return node
    if token.isdigit():
        return int(token)
    if not token.isalpha():
        raise ValueError(f"unexpected {token!r}")
    return token
