"""Combine changes into one candidate: the same change in lines that look alike, and pairs of changes in a function."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stackrank.env.mutation.edits import difference
from stackrank.env.mutation.mutation import Mutation
from stackrank.extensions.repair.localise import Suspicion

NEAR_LINES = 6
_SMALL = {
    "comparison", "off by one", "operator", "and/or", "constant", "sign", "variable", "swapped arguments", "negation",
    "confused", "assignment", "swapped operands", "left out", "jump", "other method", "condition left out",
}  # fmt: skip


def alike(candidates: Sequence[Mutation], files: dict[str, str]) -> Iterator[Mutation]:
    """Yield candidates with the same change in nearby lines of the same shape: a mistake in one is often in all."""
    groups: dict[tuple[str, str, str, str, str], list[Mutation]] = {}
    lines = {path: text.splitlines() for path, text in files.items()}
    for candidate in candidates:
        if len(candidate.edits) != 1:
            continue
        edit = candidate.edits[0]
        old = files[candidate.path][edit.start : edit.end]
        if "\n" in old or "\n" in edit.text:
            continue
        shape = re.sub(r"\w+", "w", lines[candidate.path][candidate.line - 1])
        smallest = difference(old, edit.text)
        key = (candidate.path, candidate.kind, shape, old[smallest.start : smallest.end], smallest.text)
        groups.setdefault(key, []).append(candidate)
    for group in groups.values():
        by_line = {candidate.line: candidate for candidate in group}
        first = group[0]
        is_near = max(by_line) - min(by_line) <= NEAR_LINES
        if 2 <= len(by_line) == len(group) <= 4 and is_near:
            edits = tuple(candidate.edits[0] for candidate in group)
            prior = max(candidate.prior for candidate in group) * 1.15
            is_hot_swappable = all(candidate.is_hot_swappable for candidate in group)
            yield Mutation(first.path, edits, first.kind, prior, first.line, first.imports, is_hot_swappable)


def pairs(candidates: Sequence[Mutation], suspicion: Suspicion, limit: int) -> list[Mutation]:
    """Pair small changes in one function, the most suspicious first. `candidates` must be in that order already."""
    by_function: dict[tuple[str, int], list[tuple[int, Mutation]]] = {}
    for rank, candidate in enumerate(candidates):
        function = suspicion.function_at(candidate.path, candidate.line)
        if function is not None and candidate.kind in _SMALL and len(candidate.edits) == 1:
            by_function.setdefault((candidate.path, function.first), []).append((rank, candidate))
    ranked: list[tuple[int, Mutation]] = []
    for group in by_function.values():
        for position, (rank, first) in enumerate(group[:24]):
            for second_rank, second in group[position + 1 : 24]:
                a, b = first.edits[0], second.edits[0]
                if a.end <= b.start or b.end <= a.start:
                    changes = tuple(sorted((a, b)))
                    kind = f"{first.kind} and {second.kind}"
                    imports = tuple(dict.fromkeys((*first.imports, *second.imports)))
                    pair = Mutation(first.path, changes, kind, first.prior * second.prior, first.line, imports)
                    ranked.append((rank + second_rank, pair))
    ranked.sort(key=lambda row: row[0])
    return [candidate for _, candidate in ranked[:limit]]
