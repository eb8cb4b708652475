"""Figures about two entrants, and about their tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from stackrank.dashboard.charts.style import HUES, bar_of, finished, on_page, plain_label, with_legend

_PHASES = {"searching": (HUES[5], ""), "diagnosing": (HUES[0], "/"), "repairing": (HUES[1], "x")}


def forest(rows: Sequence[Mapping[str, Any]], first: str, second: str) -> go.Figure:
    """Differences with their intervals, a row each: `label`, difference, ci_low, ci_high, tasks."""
    figure = go.Figure()
    figure.add_vline(x=0, line={"color": "#8C8C8C", "width": 1})
    for row in rows:
        sure = row["ci_low"] > 0 or row["ci_high"] < 0
        color = on_page(HUES[0] if row["difference"] >= 0 else HUES[1])
        figure.add_scatter(
            x=[100 * row["difference"]],
            y=[f"{plain_label(row['label'])} ({row['tasks']})"],
            error_x={
                "array": [100 * (row["ci_high"] - row["difference"])],
                "arrayminus": [100 * (row["difference"] - row["ci_low"])],
                "thickness": 2,
                "width": 6,
                "color": color,
            },
            mode="markers",
            # A full mark: the interval leaves 0 out.
            marker={"size": 12, "color": color, "symbol": "diamond" if sure else "diamond-open", "line": {"width": 2}},
            hovertemplate=f"%{{y}} tasks<br>{100 * row['difference']:+.1f} points "
            f"[{100 * row['ci_low']:+.1f}, {100 * row['ci_high']:+.1f}]<extra></extra>",
        )
    ends = [100 * abs(row[end]) for row in rows for end in ("ci_low", "ci_high")]
    reach = 1.1 * max([5.0, *ends])
    # In lines, so that a phone shows all of it.
    title = f"Points<br>to the left {plain_label(first)} is ahead,<br>to the right {plain_label(second)}"
    figure.update_xaxes(range=[-reach, reach], title=title, zeroline=False)
    figure.update_yaxes(autorange="reversed", automargin=True, title=None)
    return finished(figure, len(rows) + 1)


def tool_calls(rows: Sequence[Mapping[str, Any]]) -> go.Figure:
    """Calls per episode of one entrant's tools, stacked by phase."""
    figure = go.Figure()
    for phase, (color, pattern) in _PHASES.items():
        figure.add_bar(
            x=[row[phase] / row["played"] for row in rows],
            y=[plain_label(row["tool"]) for row in rows],
            orientation="h",
            name=phase,
            marker=bar_of(color, pattern),
            hovertemplate="%{y}, %{fullData.name}: %{x:.1f} calls an episode<extra></extra>",
        )
    figure.update_xaxes(title="Calls per episode", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", automargin=True, title=None)
    return with_legend(finished(figure, len(rows) + 1, barmode="stack", bargap=0.35))
