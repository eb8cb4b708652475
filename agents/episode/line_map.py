"""Maps line numbers through edits: from a file as it is now to the file as the agent first saw it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from stackrank.patches.reading import Hunk, Patch, PatchError
from stackrank.patches.writing import readable_file


class LineMap:
    """Follows the edits of an episode, which are applied one after another."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self._origins: dict[str, list[int]] = {}  # file -> the original number of each current line

    def original(self, file: str, first: int, last: int) -> tuple[int, int]:
        """Convert the first and last line of a stretch of the current file to line numbers of the original file."""
        origins = self._origins.get(file)
        if not origins:
            return first, last
        first, last = (origins[min(max(line, 1), len(origins)) - 1] for line in (first, last))
        return min(first, last), max(first, last)

    def changed(self, diff: str) -> Iterator[tuple[str, tuple[int, int] | None]]:
        """Yield (file, first and last original line) of each stretch that a diff against the current files changes.

        An insertion touches the lines on both sides. The lines are None if the diff names the file without showing it.
        """
        for file, hunks in _read(diff):
            if not hunks:
                yield file, None
            for hunk in hunks:
                touched = self._apply(self._of(file), hunk)[1]
                yield from ((file, (line, line)) for line in sorted(set(touched)))

    def apply(self, diff: str) -> None:
        """Follow an edit: later line numbers refer to the files after it."""
        for file, hunks in _read(diff):
            origins, new, copied = self._of(file), [], 0
            for hunk in hunks:
                start = max(hunk.old_start - (hunk.old_length > 0), 0)
                new += [*origins[copied:start], *self._apply(origins, hunk)[0]]
                copied = start + hunk.old_length
            self._origins[file] = [*new, *origins[copied:]]

    def _of(self, file: str) -> list[int]:
        if file not in self._origins:
            self._origins[file] = [*range(1, len(self._files.get(file, b"").split(b"\n")) + 1)]
        return self._origins[file]

    @staticmethod
    def _apply(origins: list[int], hunk: Hunk) -> tuple[list[int], list[int]]:
        """Return the original numbers of the lines of a hunk as it leaves them, and of the lines that it touches."""
        at = max(hunk.old_start - (hunk.old_length > 0), 0)
        result: list[int] = []
        touched: list[int] = []
        removed: deque[int] = deque()
        for line in hunk.lines:
            current = origins[min(at, len(origins) - 1)] if origins else 1
            previous = origins[at - 1] if 0 < at <= len(origins) else current
            if line.mark == "+":
                touched += [] if removed else [previous, current]
                result.append(removed.popleft() if len(removed) > 1 else removed[0] if removed else previous)
                continue
            at += 1
            if line.mark == "-":
                touched.append(current)
                removed.append(current)
            else:
                result.append(current)
                removed.clear()
        return result, touched


def _read(diff: str) -> list[tuple[str, tuple[Hunk, ...]]]:
    """Return the files that a diff names, each with its hunks; none if the text is no diff."""
    if not diff:
        return []
    try:
        return [(file.path, readable_file(file).hunks) for file in Patch.read(diff).files]
    except PatchError:  # a plug-in's state may say anything
        return []
