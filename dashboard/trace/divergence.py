"""Align two episodes of one task by their actions, with difflib."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

Action = tuple[str, str]
"""Tool and arguments, by which two actions are compared."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One line of the alignment: a step of each side, or of only one side."""

    a: int | None
    b: int | None
    same: bool


def action_of(row: Mapping[str, Any]) -> Action:
    """Return the action of a row of `db.queries.actions`; argument order and surrounding whitespace do not matter."""
    try:
        parsed = json.loads(row["arguments"])
    except ValueError:
        return row["tool"], row["arguments"]
    if isinstance(parsed, dict):
        parsed = {
            name: value.strip() if isinstance(value, str) else value
            for name, value in parsed.items()
            if value is not None
        }
    return row["tool"], json.dumps(parsed, sort_keys=True)


def align(a: Sequence[Action], b: Sequence[Action]) -> list[Pair]:
    """Pair equal actions; between them stand actions of only one side, or different actions of both.

    The common beginning stays paired, so the first pair that differs is where the episodes diverge.
    """
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    pairs = [Pair(at, at, True) for at in range(start)]
    matcher = SequenceMatcher(None, a[start:], b[start:], autojunk=False)
    for tag, a_first, a_last, b_first, b_last in matcher.get_opcodes():
        for at in range(max(a_last - a_first, b_last - b_first)):
            index_a = start + a_first + at if a_first + at < a_last else None
            right = start + b_first + at if b_first + at < b_last else None
            pairs.append(Pair(index_a, right, tag == "equal"))
    return pairs


def divergence(pairs: Sequence[Pair], a_steps: int, b_steps: int) -> Pair | None:
    """Return what each side did where they first diverge; None if they did the same to the end.

    That is the place of the first pair in the alignment that differs. In that pair one side may have no step, because
    it does the same a little later; the returned pair has the action that it did next.
    """
    split = next((at for at, pair in enumerate(pairs) if not pair.same), None)
    if split is None:
        return None
    return Pair(split if split < a_steps else None, split if split < b_steps else None, False)
