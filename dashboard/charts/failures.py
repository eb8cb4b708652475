"""Figures about how episodes end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from stackrank.dashboard.charts.style import (
    BROWNS,
    RESOLVED,
    SLATES,
    VIOLETS,
    bar_of,
    finished,
    ink_on,
    plain_label,
    with_legend,
)
from stackrank.terms import UNKNOWN, FailurePoint
from stackrank.wording import whole, words

# Failures of one family share a hue: of searching, of repairing, of the budget and the form.
_POINTS: dict[str, tuple[str, str]] = {
    FailurePoint.NEVER_REPRODUCED: (VIOLETS[0], ""),
    FailurePoint.NEVER_LOCALIZED: (VIOLETS[1], ""),
    FailurePoint.LOCALIZED_NOT_EDITED: (VIOLETS[2], ""),
    FailurePoint.WRONG_LOCATION: (BROWNS[2], ""),
    FailurePoint.WRONG_FIX: (BROWNS[1], ""),
    FailurePoint.REGRESSION: (BROWNS[0], ""),
    FailurePoint.BROKE_SYNTAX: (BROWNS[1], "x"),
    FailurePoint.OUT_OF_BUDGET: (SLATES[0], ""),
    FailurePoint.LOOPED: (SLATES[1], ""),
    FailurePoint.MALFORMED_ACTIONS: (SLATES[1], "x"),
    FailurePoint.BROKE_SANDBOX: (SLATES[0], "x"),
    FailurePoint.TAMPERED: (SLATES[2], "/"),
    UNKNOWN: (SLATES[2], ""),
}


def failure_bars(rows: Sequence[Mapping[str, Any]]) -> go.Figure:
    """How the counted episodes of each entrant ended, as shares of 100%; each task weighs the same."""
    figure = go.Figure()
    names = [plain_label(row["entrant"]) for row in rows]
    parts: list[tuple[str, str, str, list[int]]] = [("resolved", RESOLVED, "", [row["resolved"] for row in rows])]
    present = {point for row in rows for point in row["failure_points"]}
    for point in [*(p for p in _POINTS if p in present), *sorted(present - set(_POINTS))]:
        color, pattern = _POINTS.get(point, (SLATES[2], "."))
        parts.append((point, color, pattern, [row["failure_points"].get(point, 0) for row in rows]))
    for name, color, pattern, counts in parts:
        shares = [row["shares"].get(name, 0.0) for row in rows]
        figure.add_bar(
            x=shares,
            y=names,
            orientation="h",
            name=plain_label(words(name)),
            marker=bar_of(color, pattern),
            textfont={"color": ink_on(color)},
            text=[whole(count) if count else "" for count in counts],
            textposition="inside",
            textangle=0,
            insidetextanchor="middle",
            customdata=[
                [row["entrant"], "" if name == "resolved" else name, n] for row, n in zip(rows, counts, strict=True)
            ],
            hovertemplate="%{y}<br>%{fullData.name}: %{customdata[2]:,} episodes, %{x:.1%}<extra></extra>",
        )
    # A number that does not fit into its part is left out; hovering tells it.
    figure.update_layout(uniformtext={"mode": "hide", "minsize": 10})
    figure.update_xaxes(range=[0, 1], tickformat=".0%", title=None)
    figure.update_yaxes(autorange="reversed", automargin=True, title=None)
    return with_legend(finished(figure, len(rows) + 2, barmode="stack", bargap=0.35))
