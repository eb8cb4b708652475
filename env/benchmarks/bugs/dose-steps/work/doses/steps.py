# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Evenly spaced numbers."""
from __future__ import annotations

from typing import List


def steps(start: float, stop: float, step: float) -> List[float]:
    """The numbers start, start + step, and so on below stop, as if written down in decimal.

    With a negative step the numbers fall and stay above stop.
    """
    if step == 0:
        raise ValueError("a step of zero leads nowhere")
    numbers: List[float] = []
    number = start
    while number < stop if step > 0 else number > stop:
        numbers.append(number)
        number += step
    return numbers
