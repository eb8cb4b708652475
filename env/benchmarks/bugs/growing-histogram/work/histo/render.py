# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Histograms as text."""
from __future__ import annotations

from typing import Iterable

from histo.bins import Histogram


def render(histogram: Histogram, columns: int = 40) -> str:
    """One line for each bin: lower edge, bar and count.

    Bars are scaled down together when the longest exceeds `columns`; a bin
    that is not empty shows at least one mark.
    """
    bins = histogram.bins()
    if not bins:
        return "(no data)"
    longest = max(count for _, count in bins)
    margin = max(len(str(low)) for low, _ in bins)
    lines = []
    for low, count in bins:
        length = count if longest <= columns else count * columns // longest
        if count and not length:
            length = 1
        lines.append(("%*d | %s %d" % (margin, low, "#" * length, count)).replace("|  ", "| "))
    return "\n".join(lines)


def chart(values: Iterable[float], width: int, columns: int = 40) -> str:
    """Count the values and render them."""
    histogram = Histogram(width)
    histogram.update(values)
    return render(histogram, columns)
