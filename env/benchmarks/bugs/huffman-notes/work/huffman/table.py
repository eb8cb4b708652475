# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Code tables as text: one `symbol code` for each symbol."""
from __future__ import annotations

from typing import Dict

from huffman.tree import Node


def write(table: Dict[str, str]) -> str:
    """Symbols are written as hexadecimal numbers."""
    return " ".join("%x:%s" % (ord(symbol), code) for symbol, code in sorted(table.items()))


def read(text: str) -> Node:
    """Build the tree for a table; ValueError if it is no code."""
    root = Node()
    for item in text.split():
        number, _, code = item.partition(":")
        node = root
        for bit in code:
            if node.symbol is not None:
                raise ValueError("not a code: " + item)
            side = "one" if bit == "1" else "zero"
            if getattr(node, side) is None:
                setattr(node, side, Node())
            node = getattr(node, side)
        node.symbol = chr(int(number, 16))
    return root
