"""Reading unified diffs in which git quotes file names."""

from __future__ import annotations

import re

from unidiff.patch import PatchSet

HEADER = r'diff --git "?a/.+ (?P<name>"b/.+"|b/.+)\n'
"""Matches the line that begins a file's part of a diff; `own_name` takes the match."""


def read_diff(diff: str) -> PatchSet:
    """Return the files of a diff, with unquoted names. Raises unidiff's UnidiffParseError, and plain parse errors."""
    files = PatchSet(diff)
    for file in files:
        file.source_file, file.target_file = unquoted(file.source_file), unquoted(file.target_file)
    return files


def own_name(header: re.Match[str]) -> str:
    """Return a file's name from the line that begins its part of a diff."""
    return unquoted(header["name"]).removeprefix("b/")


def unquoted(name: str) -> str:
    """Remove git's quoting from a name in a diff's header: `"a/\\303\\274\\t.py"` is `a/ü<tab>.py`."""
    if len(name) < 2 or not name.startswith('"') or not name.endswith('"'):
        return name
    quoted = name[1:-1].encode("utf-8", "surrogateescape")
    return quoted.decode("unicode_escape").encode("latin-1").decode("utf-8", "surrogateescape")
