"""Figures about how episodes end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from stackrank.dashboard.charts.style import bar_of, finished, ink_on, plain_label, with_legend
from stackrank.terms import UNKNOWN, FailurePoint
from stackrank.wording import words

_RESOLVED, _ERROR = "#009E73", "#B8B8B8"
# Failures of one family share a hue and differ in their pattern.
_POINTS: dict[str, tuple[str, str]] = {
    FailurePoint.NEVER_REPRODUCED: ("#0072B2", ""),
    FailurePoint.NEVER_LOCALIZED: ("#56B4E9", ""),
    FailurePoint.LOCALIZED_NOT_EDITED: ("#56B4E9", "/"),
    FailurePoint.WRONG_LOCATION: ("#E69F00", ""),
    FailurePoint.WRONG_FIX: ("#D55E00", ""),
    FailurePoint.REGRESSION: ("#D55E00", "/"),
    FailurePoint.BROKE_SYNTAX: ("#D55E00", "x"),
    FailurePoint.LOOPED: ("#CC79A7", "/"),
    FailurePoint.MALFORMED_ACTIONS: ("#CC79A7", "x"),
    FailurePoint.OUT_OF_BUDGET: ("#CC79A7", ""),
    FailurePoint.BROKE_SANDBOX: ("#5D3A1A", "+"),
    FailurePoint.TAMPERED: ("#8C8C8C", "x"),
    UNKNOWN: ("#8C8C8C", ""),
}


def failure_bars(rows: Sequence[Mapping[str, Any]]) -> go.Figure:
    """How the counted episodes of each entrant ended, as shares of 100%; each task weighs the same."""
    figure = go.Figure()
    names = [plain_label(row["entrant"]) for row in rows]
    parts: list[tuple[str, str, str, list[int]]] = [("resolved", _RESOLVED, "", [row["resolved"] for row in rows])]
    present = {point for row in rows for point in row["failure_points"]}
    for point in [*(p for p in _POINTS if p in present), *sorted(present - set(_POINTS))]:
        color, pattern = _POINTS.get(point, (_ERROR, "."))
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
            text=[str(count) if share >= 0.05 else "" for count, share in zip(counts, shares, strict=True)],
            textposition="inside",
            insidetextanchor="middle",
            customdata=[
                [row["entrant"], "" if name == "resolved" else name, n] for row, n in zip(rows, counts, strict=True)
            ],
            hovertemplate="%{y}<br>%{fullData.name}: %{customdata[2]} episodes, %{x:.0%}<extra></extra>",
        )
    figure.update_xaxes(range=[0, 1], tickformat=".0%", title=None)
    figure.update_yaxes(autorange="reversed", automargin=True, title=None)
    return with_legend(finished(figure, len(rows) + 2, barmode="stack", bargap=0.35))
