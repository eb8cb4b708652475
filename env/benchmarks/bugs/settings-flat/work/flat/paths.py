# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Paths: "a.b[0].c"."""
from __future__ import annotations

import re
from typing import List, Tuple, Union

Step = Union[str, int]
Path = Tuple[Step, ...]

_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def join(path: Path) -> str:
    """The text of a path."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def split(text: str) -> Path:
    """The path of a text."""
    steps: List[Step] = []
    for match in _STEP.finditer(text):
        steps.append(int(match[1]) if match[1] else match[2])
    return tuple(steps)
