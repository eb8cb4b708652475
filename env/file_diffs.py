"""Makes unified diffs with git's headers."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

# Not str.splitlines: form feeds and Unicode separators do not end a line of a diff.
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_HUNK = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")
_CONTEXT = 3
# What must be escaped in a header's name: it would end the name, or look like the beginning of the second name.
_ODD = re.compile(r'[\x00-\x1f\x7f"\\]| (?=b/)')


def quoted(name: str) -> str:
    """Return a name as git reads it in a diff's header: quoted, with numbers for odd characters, if it has any."""
    if not _ODD.search(name):
        return name
    return '"' + _ODD.sub(lambda character: f"\\{ord(character[0]):03o}", name) + '"'


def file_diff(path: str, old: bytes | None, new: bytes | None, max_bytes: int = 256 << 10) -> str:
    """Return what changed in one file; empty if nothing did. None stands for a file that does not exist.

    Binary files, and changes that are larger than `most` bytes, are named but not shown.
    """
    if old == new:
        return ""
    old_name, new_name = quoted("a/" + path), quoted("b/" + path)
    parts = [f"diff --git {old_name} {new_name}\n"]
    if old is None:
        parts.append("new file mode 100644\n")
    if new is None:
        parts.append("deleted file mode 100644\n")
    if abs(len(old or b"") - len(new or b"")) > max_bytes:
        return f"{''.join(parts)}Files {old_name} and {new_name} differ\n"
    try:
        old_lines, new_lines = _LINES.findall((old or b"").decode()), _LINES.findall((new or b"").decode())
    except UnicodeDecodeError:
        return f"{''.join(parts)}Binary files {old_name} and {new_name} differ\n"
    source = "/dev/null" if old is None else old_name
    target = "/dev/null" if new is None else new_name
    head = "".join(parts)
    parts.extend(_unified(old_lines, new_lines, source, target))
    if sum(map(len, parts)) > max_bytes:
        return f"{head}Files {old_name} and {new_name} differ\n"
    return "".join(parts)


def _unified(old_lines: list[str], new_lines: list[str], source: str, target: str) -> Iterator[str]:
    # Equal lines at both ends are left out first: most edits are small, and comparing takes long.
    head, tail = 0, 0
    shorter = min(len(old_lines), len(new_lines))
    while head < shorter and old_lines[head] == new_lines[head]:
        head += 1
    while tail < shorter - head and old_lines[-tail - 1] == new_lines[-tail - 1]:
        tail += 1
    skip, keep = max(head - _CONTEXT, 0), max(tail - _CONTEXT, 0)
    parts = old_lines[skip : len(old_lines) - keep], new_lines[skip : len(new_lines) - keep]
    for line in difflib.unified_diff(parts[0], parts[1], source, target, n=_CONTEXT):
        if hunk := _HUNK.match(line):
            line = f"@@ -{int(hunk[1]) + skip}{hunk[2] or ''} +{int(hunk[3]) + skip}{hunk[4] or ''} @@\n"
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
