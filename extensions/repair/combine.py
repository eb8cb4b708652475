"""Combine changes into one candidate: the same change in lines that look alike, and pairs of changes in a function."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stackrank.extensions.repair.localise import Suspicion
from stackrank.extensions.repair.source import Candidate

NEAR_LINES = 6
_SMALL = {
    "comparison", "off by one", "operator", "and/or", "constant", "sign", "variable", "swapped arguments", "negation",
    "confused", "assignment", "swapped operands", "left out", "jump", "other method", "condition left out",
}  # fmt: skip


def alike(candidates: Sequence[Candidate], files: dict[str, str]) -> Iterator[Candidate]:
    """Yield candidates with the same change in nearby lines of the same shape: a mistake in one is often in all."""
    groups: dict[tuple[str, str, str, str, str], list[Candidate]] = {}
    lines = {path: text.splitlines() for path, text in files.items()}
    for candidate in candidates:
        if len(candidate.changes) != 1:
            continue
        change = candidate.changes[0]
        old = files[candidate.path][change.start : change.end]
        if "\n" in old or "\n" in change.text:
            continue
        shape = re.sub(r"\w+", "w", lines[candidate.path][candidate.line - 1])
        groups.setdefault((candidate.path, candidate.kind, shape, *_difference(old, change.text)), []).append(candidate)
    for group in groups.values():
        by_line = {candidate.line: candidate for candidate in group}
        first = group[0]
        near = max(by_line) - min(by_line) <= NEAR_LINES
        if 2 <= len(by_line) == len(group) <= 4 and near and len(first.changes[0].text) >= 0:
            changes = tuple(candidate.changes[0] for candidate in group)
            prior = max(candidate.prior for candidate in group) * 1.15
            warm = all(candidate.warm for candidate in group)
            yield Candidate(first.path, changes, first.kind, prior, first.line, first.imports, warm)


def _difference(old: str, new: str) -> tuple[str, str]:
    """Return two texts without their common beginning and end."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return old[head : len(old) - tail], new[head : len(new) - tail]


def _common(one: str, other: str) -> int:
    """Return how many characters at the beginning are the same."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def pairs(candidates: Sequence[Candidate], suspicion: Suspicion, most: int) -> list[Candidate]:
    """Pair small changes in one function, the most suspicious first. `candidates` must be in that order already."""
    by_function: dict[tuple[str, int], list[tuple[int, Candidate]]] = {}
    for rank, candidate in enumerate(candidates):
        function = suspicion.function_at(candidate.path, candidate.line)
        if function is not None and candidate.kind in _SMALL and len(candidate.changes) == 1:
            by_function.setdefault((candidate.path, function.first), []).append((rank, candidate))
    found: list[tuple[int, Candidate]] = []
    for group in by_function.values():
        for position, (rank, one) in enumerate(group[:24]):
            for other_rank, other in group[position + 1 : 24]:
                a, b = one.changes[0], other.changes[0]
                if a.end <= b.start or b.end <= a.start:
                    changes = tuple(sorted((a, b)))
                    kind = f"{one.kind} and {other.kind}"
                    imports = tuple(dict.fromkeys((*one.imports, *other.imports)))
                    pair = Candidate(one.path, changes, kind, one.prior * other.prior, one.line, imports)
                    found.append((rank + other_rank, pair))
    found.sort(key=lambda row: row[0])
    return [candidate for _, candidate in found[:most]]
