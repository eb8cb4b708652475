"""The content of a file, with its kind: a regular file's content is `bytes`, the others are `bytes` of a class of their
own. Contents of different kinds are never equal.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
import tokenize
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from stackrank.host.plain_files import read_plain

REGULAR, EXECUTABLE, LINK = "100644", "100755", "120000"
"""The modes that git knows for files."""
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_CONTROLS = bytes({*range(32), 127} - {*b"\t\n\v\f\r\x1b"})


class Executable(bytes):
    """The content of a file that may be executed."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Executable) and bytes(self) == bytes(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = bytes.__hash__


class Link(bytes):
    """A symbolic link. Its bytes are the content of the file to which it leads, as a program would read it."""

    target: bytes
    """Where it leads, relative to its folder."""

    def __new__(cls, target: bytes, content: bytes = b"") -> Link:
        """`content`: of the file to which it leads; empty for a folder, or a file that is not known."""
        link = super().__new__(cls, content)
        link.target = target
        return link

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Link) and self.target == other.target

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.target)


def mode_of(content: bytes) -> str:
    """Return the mode that git stores for a file."""
    return LINK if isinstance(content, Link) else EXECUTABLE if isinstance(content, Executable) else REGULAR


def stored_bytes(content: bytes) -> bytes:
    """Return what git stores for a file: its content, or a link's target."""
    return content.target if isinstance(content, Link) else bytes(content)


def with_mode(content: bytes, mode: str) -> bytes:
    """Return the file that git stores as these bytes with this mode."""
    if mode == LINK:
        return Link(content)
    return Executable(content) if mode == EXECUTABLE else bytes(content)


def runs_as_program(content: bytes) -> bool:
    """Whether a file is executable in a sandbox: a script is, even if its mode is not known."""
    return isinstance(content, Executable) or content.startswith(b"#!")


def like(content: bytes, original: bytes | None) -> bytes:
    """Return new content for a file that stays executable if it was."""
    return Executable(content) if isinstance(original, Executable) else content


def write_content(place: Path, content: bytes) -> None:
    """Write a file with its mode, or make a link. Folders above it are made. Raises OSError."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, Link):
        os.symlink(content.target, os.fsencode(place))  # noqa: PTH211 - a Path would change the target
        return
    place.write_bytes(content)
    place.chmod(0o755 if isinstance(content, Executable) else 0o644)


def read_content(place: Path) -> bytes | None:
    """Return a file with its mode, or a link, whose content is not read; None if there is neither. Raises OSError."""
    try:
        mode = place.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(mode):
        return Link(os.readlink(os.fsencode(place)))  # noqa: PTH115 - a Path would change the target
    if not stat.S_ISREG(mode):
        return None
    content = read_plain(place)
    return Executable(content) if mode & stat.S_IXUSR else content


def link_destination(path: str, target: bytes) -> str | None:
    """Return the path to which a link leads; None if it leaves the tree."""
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target.decode("utf-8", "surrogateescape")))
    return None if place.startswith(("/", "../")) or place == ".." else place


def is_utf8_text(content: bytes) -> bool:
    """Whether the content can be a part of a text without a change of any byte."""
    if b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def encoding_of(content: bytes, path: str) -> str | None:
    """Return the encoding of a file's text; None if the file is binary.

    It is the one that a Python file declares (PEP 263), else UTF-8 if that fits, else Latin-1.
    """
    if b"\0" in content:
        return None
    candidates = ["utf-8", "latin-1"]
    if path.endswith((".py", ".pyi", ".pyw")):
        with suppress(SyntaxError):  # it is unknown, or contradicts the byte-order mark
            candidates.insert(0, tokenize.detect_encoding(BytesIO(content).readline)[0].removesuffix("-sig"))
    for encoding in candidates:
        if encoding == "latin-1" and content.translate(None, _CONTROLS) != content:
            return None
        try:
            text = content.decode(encoding)
        except (UnicodeError, LookupError):  # the latter: `rot13` and others that are no encodings of text
            continue
        # An encoding such as `unicode_escape` has other lines than the file.
        if text.count("\n") == content.count(b"\n"):
            return encoding
    return None


def decode_text(content: bytes, path: str) -> str | None:
    """Return a file's text, with a byte-order mark if it has one; None if the file is binary. See `encoding_of`."""
    encoding = encoding_of(content, path)
    return None if encoding is None else content.decode(encoding)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends, as git counts them: only a line feed ends one."""
    return _LINES.findall(text)
