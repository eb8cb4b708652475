"""Figures. Okabe-Ito colours, at most seven hues, and one colour per entrant for good."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.show import percent, usd, words

# Okabe and Ito 2008, without the yellow and the black, which one of the two themes swallows.
HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C8C8C")
# The same hues, light enough for a dark page.
_ON_DARK = {
    "#0072B2": "#3D9BD1",
    "#009E73": "#19B88B",
    "#D55E00": "#E8742A",
    "#56B4E9": "#8CCBF2",
    "#8C8C8C": "#A6A6A6",
}
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
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


def color_of(entrant_id: int) -> str:
    """The colour that an entrant has on every page."""
    return _on_page(HUES[(entrant_id - 1) % len(HUES)])


def _on_page(color: str) -> str:
    return _ON_DARK.get(color, color) if st.context.theme.type == "dark" else color


def symbol_of(entrant_id: int) -> str:
    """The mark that goes with the colour."""
    return _SYMBOLS[(entrant_id - 1) % len(_SYMBOLS)]


def plain_label(text: str) -> str:
    """`text` for Plotly, which reads a little HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _finish(figure: go.Figure, rows: int, **layout: Any) -> go.Figure:
    figure.update_layout(
        height=max(180, 90 + 44 * rows), margin={"l": 8, "r": 24, "t": 16, "b": 8}, showlegend=False, **layout
    )
    return figure


def ranking(rows: Sequence[dict[str, Any]]) -> go.Figure:
    """Rates as dots with their 95% intervals, best on top."""
    figure = go.Figure()
    for row in (row for row in rows if row["rate"] is not None):
        about = f"{row['resolved']} of {row['resolved'] + row['unresolved']} episodes, {row['tasks']} tasks"
        figure.add_scatter(
            x=[row["rate"]],
            y=[plain_label(row["entrant"])],
            error_x={
                "array": [row["ci_high"] - row["rate"]],
                "arrayminus": [row["rate"] - row["ci_low"]],
                "thickness": 2,
                "width": 6,
            },
            mode="markers",
            marker={"size": 12, "color": color_of(row["entrant_id"]), "symbol": symbol_of(row["entrant_id"])},
            hovertemplate=f"%{{y}}<br>{percent(row['rate'], 1)} [{percent(row['ci_low'])}, {percent(row['ci_high'])}]"
            f"<br>{about}<extra></extra>",
        )
    figure.update_xaxes(range=[-0.02, 1.02], tickformat=".0%", title="Resolved, with 95% interval", zeroline=False)
    figure.update_yaxes(autorange="reversed", automargin=True, title=None)
    return _finish(figure, len(rows))


def cost_against_rate(rows: Sequence[dict[str, Any]]) -> go.Figure:
    """What a counted episode costs against the rate; the line joins those that nobody beats on both."""
    known = [
        (row["cost_usd"] / (row["resolved"] + row["unresolved"]), row)
        for row in rows
        if row["cost_usd"] and row["rate"] is not None
    ]
    figure = go.Figure()
    best, front = -1.0, []
    for cost, row in sorted(known, key=lambda pair: (pair[0], -pair[1]["rate"])):
        if row["rate"] > best:
            best = row["rate"]
            front.append((cost, row["rate"]))
    if len(front) > 1:
        x, y = zip(*front, strict=True)
        line = {"color": "#8C8C8C", "dash": "dot", "shape": "hv"}
        figure.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip")
    for cost, row in known:
        figure.add_scatter(
            x=[cost],
            y=[row["rate"]],
            mode="markers+text",
            text=[plain_label(row["entrant"])],
            textposition="top center",
            cliponaxis=False,
            marker={"size": 12, "color": color_of(row["entrant_id"]), "symbol": symbol_of(row["entrant_id"])},
            hovertemplate=f"{plain_label(row['entrant'])}<br>{usd(cost)} an episode<br>{percent(row['rate'], 1)}"
            "<extra></extra>",
        )
    if known:
        low, high = (math.log10(edge(cost for cost, _ in known)) for edge in (min, max))
        ticks = [
            digit * 10.0**power for power in range(math.floor(low) - 1, math.ceil(high) + 2) for digit in (1, 2, 5)
        ]
        figure.update_xaxes(range=[low - 0.4, high + 0.4], tickvals=ticks, ticktext=[f"${tick:g}" for tick in ticks])
    figure.update_xaxes(type="log", title="Cost of an episode (logarithmic)")
    figure.update_yaxes(range=[-0.02, 1.08], tickformat=".0%", title="Resolved")
    return _finish(figure, 6)


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
            marker={
                "color": _on_page(color),
                "pattern": {"shape": pattern, "bgcolor": _on_page(color), "fgcolor": "#FFFFFF", "solidity": 0.2},
                "line": {"width": 0},
            },
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
    _finish(figure, len(rows) + 2, barmode="stack", bargap=0.35)
    return figure.update_layout(
        showlegend=True, legend={"orientation": "h", "y": -0.25, "x": 0, "traceorder": "normal", "title": None}
    )
