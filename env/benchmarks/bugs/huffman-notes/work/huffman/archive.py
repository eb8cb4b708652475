# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Pack and unpack."""
from __future__ import annotations

from typing import List, Tuple

from huffman import bits, table, tree

Packed = Tuple[int, str, bytes]


def pack(text: str) -> Packed:
    """Number of symbols, code table and bits."""
    codes = tree.codes(tree.build(text))
    return len(text), table.write(codes), bits.to_bytes("".join(codes[c] for c in text))


def unpack(packed: Packed) -> str:
    """The text again. ValueError if bits are missing or make no sense."""
    size, codes, data = packed
    root = table.read(codes)
    out: List[str] = []
    stream = bits.from_bytes(data)
    while len(out) < size:
        node = root
        while True:
            bit = next(stream, None)
            if bit is None:
                raise ValueError("bits are missing")
            step = node.one if bit == "1" else node.zero
            if step is None:
                raise ValueError("no such code")
            node = step
            if node.symbol is not None:
                out.append(node.symbol)
                break
    return "".join(out)
