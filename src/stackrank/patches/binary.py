"""The form that patches have for contents that are no text: base 85, each side whole.

Git's documentation names the form only (`git diff --binary`); https://github.com/git/git/blob/master/diff.c
(emit_binary_diff) and base85.c define it.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib

NO_OBJECT = "0" * 40
_PER_LINE = 52
_LITERAL = re.compile(r"literal (\d+)\n")
_MOST_BYTES = 1 << 30


def object_name(content: bytes | None) -> str:
    """Return the name by which git stores this content; zeros for a file that does not exist."""
    if content is None:
        return NO_OBJECT
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def literal(content: bytes) -> str:
    """Return one side of a binary patch."""
    packed = zlib.compress(content)
    lines = [f"literal {len(content)}\n"]
    for start in range(0, len(packed), _PER_LINE):
        chunk = packed[start : start + _PER_LINE]
        length = chr(ord("A") + len(chunk) - 1) if len(chunk) <= 26 else chr(ord("a") + len(chunk) - 27)
        lines.append(f"{length}{base64.b85encode(chunk, pad=True).decode()}\n")
    return "".join([*lines, "\n"])


def content_of_literal(side: str) -> bytes | None:
    """Return the content that one side of a binary patch holds; None if it holds only a difference.

    Raises ValueError for a side that is damaged.
    """
    head = _LITERAL.match(side)
    if head is None:
        return None
    packed = bytearray()
    for line in side[head.end() :].split("\n"):
        if line:
            length = ord(line[0]) - (ord("A") - 1 if line[0] <= "Z" else ord("a") - 27)
            packed += base64.b85decode(line[1:])[:length]
    size = int(head[1])
    if size > _MOST_BYTES:
        raise ValueError(f"a binary file of {size:,} bytes is too large")
    try:
        content = zlib.decompressobj().decompress(bytes(packed), size + 1)
    except zlib.error as error:
        raise ValueError(f"a binary file cannot be unpacked ({error})") from None
    if len(content) != size:
        raise ValueError("a binary file has another size than stated")
    return content
