# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""From flat to nested."""
from __future__ import annotations

from typing import Any, Dict, List, Tuple

from .paths import Path, split


def nest(entries: Dict[str, Any]) -> Dict[str, Any]:
    """The nested settings of flat entries."""
    return _build([(split(text), value) for text, value in entries.items()]) if entries else {}


def _build(items: List[Tuple[Path, Any]]) -> Any:
    if not items[0][0]:
        return items[0][1]
    groups: Dict[Any, List[Tuple[Path, Any]]] = {}
    for path, value in items:
        groups.setdefault(path[0], []).append((path[1:], value))
    if all(isinstance(step, int) for step in groups):
        return [_build(groups[step]) for step in sorted(groups)]
    return {step: _build(group) for step, group in groups.items()}
