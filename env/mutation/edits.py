"""Edits of a text: apply them, find the one between two texts, indent lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters `start` to `end` (exclusive) of a text replaced by `text`."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with these edits, which must not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def difference(old: str, new: str) -> Edit:
    """Return the smallest edit that turns one text into another."""
    start = _common_length(old, new)
    tail = _common_length(old[start:][::-1], new[start:][::-1])
    return Edit(start, len(old) - tail, new[start : len(new) - tail])


def _common_length(old: str, new: str) -> int:
    """Return how many characters at the beginning are the same."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((position for position, (a, b) in pairs if a != b), min(len(old), len(new)))


def indentation(text: str) -> str:
    """Return the white space with which a line begins."""
    return text[: len(text) - len(text.lstrip(" \t"))]


def reindent(text: str, old: str, new: str) -> str:
    """Replace the indentation `old` of lines with `new`."""
    return "".join(
        new + line[len(old) :] if line.startswith(old) and line.strip() else line
        for line in text.splitlines(keepends=True)
    )
