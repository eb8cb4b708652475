"""Patterns of paths, in the syntax of gitignore(5). They have a type of their own, so that no path is taken for one.

A path such as `a[1]/test_x.py` is a text that says something else as a pattern. Whoever has a path writes
`Pattern.literal(path)`; whoever has a line that somebody wrote as a pattern writes `Pattern.glob(line)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

_SPECIAL = frozenset("\\*?[]!#")
# The library treats the end of a line as that of a path. These are in no path: surrogates of the other kind.
_INNER = str.maketrans({"\n": "\ud800", "\r": "\ud801"})


@dataclass(frozen=True, slots=True, order=True)
class Pattern:
    """A pattern. `text`: as a line of a .gitignore."""

    text: str

    @classmethod
    def glob(cls, line: str) -> Pattern:
        """Return the pattern that somebody wrote."""
        return cls(line.rstrip("\r\n"))

    @classmethod
    def literal(cls, path: str) -> Pattern:
        """Return the pattern of this path only (relative, POSIX), and of everything below it if it is a folder."""
        return cls(f"/{_escape(path)}")

    @classmethod
    def below(cls, folder: str, line: str) -> Pattern:
        """Return the pattern of what matches `line`, which has no slash, anywhere below a folder."""
        return cls(f"/{_escape(folder)}/**/{line}")

    @property
    def inverted(self) -> Pattern:
        """The pattern that exempts from earlier patterns what this one matches."""
        return Pattern(f"!{self.text}")

    def is_literal(self, path: str) -> bool:
        """Return whether the pattern is just this path, with or without a slash in front."""
        return self.text.removeprefix("/") == _escape(path)


class Matcher:
    """Tells which paths match any of some patterns; the last pattern that says something about a path decides."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        """Raises TypeError for a text that is no pattern."""
        lines = []
        for pattern in patterns:
            if not isinstance(pattern, Pattern):
                raise TypeError(f"{pattern!r} is not a Pattern: write Pattern.glob(...) or Pattern.literal(...)")
            lines.append(pattern.text.translate(_INNER))
        self._spec = GitIgnoreSpec.from_lines(lines)

    def matches(self, path: str) -> bool:
        """Return whether a path (relative, POSIX) matches."""
        return self._spec.match_file(path.translate(_INNER))

    def select(self, paths: Iterable[str]) -> list[str]:
        """Return the paths that match, in their order."""
        return [path for path in paths if self.matches(path)]


def globs(lines: Iterable[str]) -> tuple[Pattern, ...]:
    """Return the patterns that somebody wrote."""
    return tuple(map(Pattern.glob, lines))


def _escape(path: str) -> str:
    kept = path.rstrip(" ")
    return "".join(map(_escape_sign, kept)) + "\\ " * (len(path) - len(kept))


def _escape_sign(sign: str) -> str:
    if sign in _SPECIAL:
        return f"\\{sign}"
    # At the end of a line these would be taken for a part of its end.
    return f"[{sign}]" if sign.isspace() and sign != " " else sign
