"""Names of files in a patch, which git quotes if they are unusual."""

from __future__ import annotations

import re

# What must be escaped in a header's name: it would end the name, look like the beginning of the second name, or is not
# UTF-8 (such bytes are surrogates in the names of files).
_ODD = re.compile(r'[\x00-\x1f\x7f"\\\udc80-\udcff]| (?=b/)')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def quoted(name: str) -> str:
    """Return a name as git reads it in a patch's header: quoted, with numbers for odd characters, if it has any."""
    if not _ODD.search(name):
        return name
    return '"' + _ODD.sub(lambda character: f"\\{ord(character[0]) & 0xFF:03o}", name) + '"'


def unquoted(name: str) -> str:
    """Remove git's quoting from a name in a patch's header: `"a/\\303\\274\\t.py"` is `a/ü<tab>.py`."""
    if len(name) < 2 or not name.startswith('"') or not name.endswith('"'):
        return name
    escaped = name[1:-1].encode("utf-8", "surrogateescape")
    # This reads the bytes that are not escaped as Latin-1, which has one character for each byte.
    return escaped.decode("unicode_escape").encode("latin-1").decode("utf-8", "surrogateescape")


def without_prefix(name: str) -> str | None:
    """Return the path in a header's name, without its first part, `a` or `b`; None for `/dev/null`.

    Raises ValueError for a name without a prefix.
    """
    if name == "/dev/null":
        return None
    _, slash, path = name.partition("/")
    if not (slash and path):
        raise ValueError(f"its names need the prefixes a/ and b/, and {name!r} has none")
    return path


def first_name(text: str) -> str:
    """Return the name at the beginning of a text, in which a tab or the closing quote ends it."""
    match = _QUOTED.match(text)
    return unquoted(match[0]) if match else text.partition("\t")[0]


def names_of_header(header: str) -> tuple[str, str] | None:
    """Return both names in the text after `diff --git `, with their prefixes; None if it does not tell.

    Only names that are equal but for the prefix can be told apart if they are not quoted.
    """
    if first := _QUOTED.match(header):
        return unquoted(first[0]), unquoted(header[first.end() + 1 :])
    if header.endswith('"') and (quote := header.find(' "')) > 0:
        return header[:quote], unquoted(header[quote + 1 :])
    for space in re.finditer(" ", header):
        old, new = header[: space.start()], header[space.end() :]
        if old.partition("/")[2] == new.partition("/")[2] != "":
            return old, new
    return None
