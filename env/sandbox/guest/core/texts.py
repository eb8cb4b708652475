"""The text of files: lines, line ends, encodings."""

from __future__ import annotations

import io
import re
from typing import List, Optional

# Not str.splitlines: form feeds and Unicode separators do not end a line of source.
LINES = re.compile(rb"[^\n]*\n|[^\n]+")
LINES_OF_FILE = re.compile(r"(.+?):(\d+)(?:-(\d+))?:?(?: in .*)?")
"""A path with lines of the file, as tools show places."""
_BEFORE_MATCH, _MOST_OF_LINE = 100, 400


class NotText(Exception):
    """A file has no lines that could be edited, or its encoding cannot hold a text; the message says why."""


def with_newlines(text: bytes, replaced: List[bytes], usual: bytes) -> bytes:
    """Return new lines that end as the lines that they replace; where there are none, with the `usual` newline.

    Lines at the beginning and at the end that are the same as before keep their own ends.
    """
    before = b"".join(replaced)
    if before.count(b"\r\n") == (0 if usual == b"\n" else before.count(b"\n")):
        return text if usual == b"\n" else text.replace(b"\r\n", b"\n").replace(b"\n", usual)
    new = [line.rstrip(b"\r\n") for line in LINES.findall(text)]
    old = [line.rstrip(b"\r\n") for line in replaced]
    shorter = min(len(new), len(old))
    tail = 0
    while tail < shorter and new[-tail - 1] == old[-tail - 1]:
        tail += 1
    lines = []
    for number, line in enumerate(new):
        is_tail = number >= len(new) - tail
        at = number - len(new) + len(old) if is_tail else min(number, len(old) - 1 - tail)
        newline = replaced[at][len(old[at]) :] if at >= 0 else b""
        lines.append(line + (newline or usual))
    result = b"".join(lines)
    return result if text.endswith(b"\n") else result.rstrip(b"\r\n")


def find_encoding(content: bytes, path: str) -> str:
    """Return the encoding of a text: the one that a Python file declares, else the one that fits."""
    candidates = ["utf-8", "latin-1"]
    if path.endswith((".py", ".pyi", ".pyw")):
        candidates.insert(0, declared_encoding(content) or "utf-8")
    for encoding in candidates:
        try:
            # An encoding such as `unicode_escape` has other lines than the file.
            if content.decode(encoding).count("\n") == content.count(b"\n"):
                return encoding
        except (UnicodeError, LookupError):  # the latter: `rot13` and others that are no encodings of text
            continue
    return "latin-1"


def declared_encoding(content: bytes) -> Optional[str]:
    """Return the encoding that a Python file declares in one of its first lines; None if it declares none."""
    import tokenize

    head = b"".join(LINES.findall(content[:4096])[:2])
    if b"coding" not in head:
        return None
    try:
        return tokenize.detect_encoding(io.BytesIO(head).readline)[0].replace("utf-8-sig", "utf-8")
    except SyntaxError:  # unknown, or contradicts the byte-order mark
        return None


def encoded(text: str, old: bytes, path: str, whole: bool) -> bytes:
    """Return a text in the encoding of the file of which it becomes a part, or `whole` content. Raises NotText."""
    if b"\0" in old and not whole:
        raise NotText("is a binary file, or in an encoding with NUL bytes such as UTF-16: it has no lines to edit")
    encoding = find_encoding(old, path)
    if whole and (b"\0" in old or path.endswith((".py", ".pyi", ".pyw"))):
        # Python reads the new content, which may declare another encoding than the old one, or none.
        encoding = declared_encoding(text[:4096].encode("utf-8", "replace")) or "utf-8"
    try:
        content = text.encode(encoding)
    except UnicodeEncodeError as error:
        raise NotText("is encoded in %s, which cannot hold %r" % (encoding, text[error.start])) from None
    except LookupError:
        content = text.encode("utf-8")
    fits = content.count(b"\n") == text.count("\n") and b"\0" not in content
    return content if fits else text.encode("utf-8")  # Python does not accept the encoding that is declared


def touched_lines(old: bytes, new: bytes) -> List[int]:
    """Return the first and last line (1-based) of `old` that differ in `new`; for an insertion, the line after it."""
    old_lines, new_lines = LINES.findall(old), LINES.findall(new)
    shorter = min(len(old_lines), len(new_lines))
    head = 0
    while head < shorter and old_lines[head] == new_lines[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old_lines[-tail - 1] == new_lines[-tail - 1]:
        tail += 1
    return [head + 1, max(len(old_lines) - tail, head + 1)]


def explain_lines(start: int, last: int, path: str, total: int) -> str:
    """Say why lines of a file cannot be replaced."""
    if last < start - 1:
        return "the last line (%d) comes before the first (%d); to insert before line %d, give end=%d" % (
            last,
            start,
            start,
            start - 1,
        )
    lines = "line %d is" % start if last <= start else "lines %d to %d are" % (start, last)
    count = "1 line" if total == 1 else "%d lines" % total
    return "%s not in %s, which has %s; to append, give start=%d and end=%d" % (lines, path, count, total + 1, total)


def around(line: str, match: "re.Match[str]") -> str:
    """Return a line, or the part of a long one in which an expression matched."""
    start = max(match.start() - _BEFORE_MATCH, 0) if match.end() > 2 * _BEFORE_MATCH else 0
    return ("..." if start else "") + line[start : start + _MOST_OF_LINE]
