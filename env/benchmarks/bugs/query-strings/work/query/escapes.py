# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Escapes: %41 for A, and + for a space."""
from __future__ import annotations

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_HEX = frozenset("0123456789abcdefABCDEF")


def escape(text: str) -> str:
    """The text as it stands in a query string: UTF-8, escaped where needed, + for spaces."""
    pieces = []
    for byte in text.encode("utf-8"):
        if byte == 0x20:
            pieces.append("+")
        else:
            pieces.append(chr(byte) if byte in _PLAIN else f"%{byte:02X}")
    return "".join(pieces)


def unescape(text: str) -> str:
    """The text that was escaped. A percent sign without two hexadecimal digits stands for itself."""
    head, *rest = text.split("%")
    data = bytearray(head, "utf-8")
    for part in rest:
        if len(part) >= 2 and set(part[:2]) <= _HEX:
            data.append(int(part[:2], 16))
            part = part[2:]
        else:
            data += b"%"
        data += part.encode("utf-8")
    return data.decode("utf-8", "replace").replace("+", " ")
