"""The text of files: lines, line ends, encodings, syntax errors."""

from __future__ import annotations

import io
import os
import re
from typing import List, Optional

from .messages import message
from .processes import in_child

# Not str.splitlines: form feeds and Unicode separators do not end a line of source.
LINES = re.compile(rb"[^\n]*\n|[^\n]+")


def with_newlines(text: str, crlf: bool) -> str:
    """Return the text with CRLF at the end of its lines if `crlf` is set, else unchanged."""
    text = text.replace("\r\n", "\n") if crlf else text
    return text.replace("\n", "\r\n") if crlf else text


def find_encoding(content: bytes) -> str:
    """Return the encoding of a Python file: the one that it declares, else the one that fits."""
    import tokenize

    try:
        return tokenize.detect_encoding(io.BytesIO(content).readline)[0]
    except SyntaxError:
        return plain_encoding(content)


def plain_encoding(content: bytes) -> str:
    """Return utf-8 if it fits, else latin-1, which always fits."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


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


def syntax_error(real: str) -> Optional[str]:
    """Return a Python file's syntax error in one line, or None. A child parses it, because a parser can be crashed."""

    def work() -> bytes:
        with open(real, "rb") as file:
            source = file.read()
        try:
            compile(source, os.path.basename(real), "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            problem = getattr(error, "msg", str(error))
            return ("%s: %s (line %s)" % (type(error).__name__, problem, line)).encode("utf-8", "replace")
        return b""

    answer = in_child(work, 5.0)
    if answer is None:
        return message("the file could not be parsed")
    return answer.decode("utf-8") or None
