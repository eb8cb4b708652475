"""Reading unified diffs whose names git has put into quotes."""

from __future__ import annotations

import re

from unidiff.patch import PatchSet

HEADER = r'diff --git "?a/.+ (?P<name>"b/.+"|b/.+)\n'
"""A part of a diff begins so; `own_name` takes the match."""


def read_diff(diff: str) -> PatchSet:
    """The files of a diff, by their own names. Raises unidiff's UnidiffParseError, and plain ones."""
    files = PatchSet(diff)
    for file in files:
        file.source_file, file.target_file = unquoted(file.source_file), unquoted(file.target_file)
    return files


def own_name(header: re.Match[str]) -> str:
    """What a file is called, by the line that a part of a diff begins with."""
    return unquoted(header["name"]).removeprefix("b/")


def unquoted(name: str) -> str:
    """A name in a diff's header as it is without git's quotes: `"a/\\303\\274\\t.py"` is `a/ü<tab>.py`."""
    if len(name) < 2 or not name.startswith('"') or not name.endswith('"'):
        return name
    quoted = name[1:-1].encode("utf-8", "surrogateescape")
    return quoted.decode("unicode_escape").encode("latin-1").decode("utf-8", "surrogateescape")
