"""Figures about how episodes end, and how far they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard.charts.style import bar_of, color_of, finished, marker_of, plain_label, with_legend
from dashboard.show import words

_RESOLVED, _ERROR = "#009E73", "#B8B8B8"
# The same hue for one family of failures, told apart by their pattern.
_POINTS = {
    "never_reproduced": ("#0072B2", ""),
    "never_localized": ("#56B4E9", ""),
    "localized_not_edited": ("#56B4E9", "/"),
    "wrong_location": ("#E69F00", ""),
    "wrong_fix": ("#D55E00", ""),
    "regression": ("#D55E00", "/"),
    "broke_syntax": ("#D55E00", "x"),
    "looped": ("#CC79A7", "/"),
    "malformed_actions": ("#CC79A7", "x"),
    "out_of_budget": ("#CC79A7", ""),
    "tampered": ("#8C8C8C", "x"),
    "unknown": ("#8C8C8C", ""),
}


def failure_bars(rows: Sequence[dict[str, Any]]) -> go.Figure:
    """How the counted episodes of each entrant ended, as shares of 100%."""
    figure = go.Figure()
    names = [plain_label(row["entrant"]) for row in rows]
    totals = [max(1, row["resolved"] + row["unresolved"]) for row in rows]
    parts: list[tuple[str, str, str, list[int]]] = [("resolved", _RESOLVED, "", [row["resolved"] for row in rows])]
    present = {point for row in rows for point in row["failure_points"]}
    for point in [*(p for p in _POINTS if p in present), *sorted(present - set(_POINTS))]:
        color, pattern = _POINTS.get(point, (_ERROR, "."))
        parts.append((point, color, pattern, [row["failure_points"].get(point, 0) for row in rows]))
    for name, color, pattern, counts in parts:
        shares = [count / total for count, total in zip(counts, totals, strict=True)]
        figure.add_bar(
            x=shares,
            y=names,
            orientation="h",
            name=plain_label(words(name)),
            marker=bar_of(color, pattern),
            textfont={"color": "#101010"},
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


def funnel(rows: Sequence[dict[str, Any]], stages: Sequence[str]) -> go.Figure:
    """What share of its episodes each entrant brought to each stage; lines over the stages."""
    figure = go.Figure()
    for row in rows:
        # Who has no debugger cannot inspect: that is no failure.
        shares = [
            None if stage == "inspected" and not row["debugger"] else row[stage] / row["counted"] for stage in stages
        ]
        figure.add_scatter(
            x=[words(stage).capitalize() for stage in stages],
            y=shares,
            mode="lines+markers",
            connectgaps=True,
            line={"color": color_of(row["entrant_id"]), "width": 2},
            marker=marker_of(row["entrant_id"], 10),
            name=plain_label(row["entrant"]),
            customdata=[row[stage] for stage in stages],
            hovertemplate="%{fullData.name}<br>%{x}: %{customdata} of "
            f"{row['counted']} episodes, %{{y:.0%}}<extra></extra>",
        )
    figure.update_xaxes(title=None)
    figure.update_yaxes(range=[-0.02, 1.04], tickformat=".0%", title="Episodes that came so far")
    return with_legend(finished(figure, 7))
