"""The lines of an episode's steps: where the episode went back to an earlier step, a new line begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def line_to(branches: Mapping[int, int], index: int) -> Iterator[range]:
    """Yield the steps that led to step `index`, the latest first, without those that a branch left.

    `branches`: the steps that went back: index -> index of the step that they went back to.
    """
    while index >= 0:
        start = max((step for step in branches if step <= index), default=0)
        yield range(start, index + 1)
        index = branches.get(start, -1)
