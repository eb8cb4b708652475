"""Figures for a paper: an SVG at the width of a column, with its caption written below it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from stackrank.db.queries import MENDED, outcome_of
from stackrank.wording import count_of, fixed, visible

_WIDTH, _ROW, _LABELS, _RIGHT, _CHARS, _LABEL_CHARS = 480, 20, 190, 46, 92, 36
_STEPS = (1, 2, 5, 10, 20, 25, 50, 100)


def dots(
    rows: Sequence[tuple[str, float, float, float]],
    *,
    title: str,
    caption: str,
    sign: str = "",
    span: tuple[float, float] | None = None,
) -> str:
    """Draw values with their intervals, one below the other. A row is (label, value, low, high).

    The figure is black on white, so that it prints. `title`: of the axis; `sign`: behind each number. `span` is the
    range of the axis; by default the axis covers the intervals and 0.
    """
    ends = [end for _, _, low, high in rows for end in (low, high)]
    low, high = span or (min([0.0, *ends]), max([0.0, *ends]))
    step = next((step for step in _STEPS if (high - low) / step <= 6), _STEPS[-1])
    low, high = step * math.floor(low / step), step * math.ceil(high / step)
    is_signed = low < 0
    wide, bottom = _WIDTH - _LABELS - _RIGHT, 12 + _ROW * len(rows)

    def x(value: float) -> float:
        return round(_LABELS + wide * (value - low) / ((high - low) or 1), 1)

    parts = []
    for tick in range(int(low), int(high) + 1, step):
        heavier = ' stroke="#555"' if tick == 0 and is_signed else ' stroke="#ddd"'
        parts.append(f'<path d="M{x(tick)} 8V{bottom}"{heavier}/>')
        parts.append(_text(x(tick), bottom + 14, f"{fixed(tick, 0, signed=is_signed)}{sign}", "middle"))
    for place, (label, value, least, upper) in enumerate(rows):
        y = 20 + _ROW * place
        parts.append(_text(_LABELS - 8, y + 4, _cut(label), "end"))
        parts.append(f'<path d="M{x(least)} {y}H{x(upper)}M{x(least)} {y - 4}v8M{x(upper)} {y - 4}v8" stroke="#000"/>')
        parts.append(f'<circle cx="{x(value)}" cy="{y}" r="3.5"/>')
        parts.append(_text(_WIDTH - 4, y + 4, f"{fixed(value, 1, signed=is_signed)}{sign}", "end"))
    parts.append(_text(_LABELS + wide / 2, bottom + 30, title, "middle"))
    lines = textwrap.wrap(caption, _CHARS, break_on_hyphens=False)
    parts += [_text(4, bottom + 54 + 14 * place, line, "start") for place, line in enumerate(lines)]
    height = bottom + 60 + 14 * len(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="10">\n'
        f'<desc>{_plain(caption)}</desc>\n<path d="M0 0H{_WIDTH}V{height}H0z" fill="#fff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def ranking(rows: Sequence[Mapping[str, Any]], scope: str) -> str:
    """Draw the rates of a leaderboard."""
    rated = [row for row in rows if row["rate"] is not None]
    least, most_tasks = (edge((row["tasks"] for row in rated), default=0) for edge in (min, max))
    tasks = count_of(most_tasks, "task")
    tasks = tasks if least == most_tasks else f"{least} to {tasks}"
    outcome = outcome_of(rows)
    rates = "Shares of mended faults" if outcome == MENDED else "Resolution rates"
    caption = (
        f"{rates} of {count_of(len(rated), 'entrant')} on {tasks}, each with the same weight, with 95% "
        "intervals "
        "(Wilson; clustered by task if tasks have several attempts). Differences between entrants are tested paired by "
        f"task, with Holm's correction over the leaderboard; do not read them off these intervals. {scope}"
    )
    lines = [(f"{row['entrant']}", *(100 * row[name] for name in ("rate", "ci_low", "ci_high"))) for row in rated]
    return dots(lines, title=f"{outcome}, with 95% interval", caption=caption, sign="%", span=(0, 100))


def differences(rows: Sequence[Mapping[str, Any]], against: str, scope: str) -> str:
    """Draw differences with their intervals: `label`, difference, holm_low, holm_high and tasks, as fractions."""
    caption = (
        f"Difference to {against} in percentage points, paired by task, with 95% intervals corrected for the number of "
        f"comparisons (Holm); in brackets the number of tasks that both played. {scope}"
    )
    names = ("difference", "holm_low", "holm_high")
    lines = [(f"{row['label']} ({row['tasks']})", *(100 * row[name] for name in names)) for row in rows]
    return dots(lines, title="Points, with 95% interval", caption=caption)


def _cut(label: str) -> str:
    return label if len(label) <= _LABEL_CHARS else f"{label[: _LABEL_CHARS - 1]}…"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{_plain(text)}</text>'


def _plain(text: str) -> str:
    return escape(visible(text))
