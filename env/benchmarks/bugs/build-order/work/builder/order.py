# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The order."""
from __future__ import annotations

from typing import Callable, Dict, Iterable, List

from .errors import Circle

Needs = Callable[[str], Iterable[str]]


def order(wanted: Iterable[str], needs: Needs) -> List[str]:
    """All that is wanted and needed, each once and after what it needs; raises Circle.

    The path of a circle begins and ends with the same target.
    """
    done: Dict[str, None] = {}

    def visit(name: str, path: List[str]) -> None:
        if name in path:
            raise Circle(path[path.index(name) :] + [name])
        if name in done:
            return
        path += [name]
        for other in needs(name):
            visit(other, path)
        done[name] = None

    for name in wanted:
        visit(name, [])
    return list(done)
