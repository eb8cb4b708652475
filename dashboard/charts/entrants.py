"""Figures about entrants side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from stackrank.dashboard.charts.style import (
    INK,
    color_of,
    dash_of,
    finished,
    marker_of,
    on_page,
    plain_label,
    symbol_of,
    with_legend,
)
from stackrank.db.queries import outcome_of
from stackrank.wording import CENT, LEAST_USD, percent, usd, whole

_LABEL = 0.05
"""The height of a name in a figure, as a share of the figure's."""
_WITH_INTERVALS = 3
"""The most entrants whose lines have intervals; those of more would hide the lines."""
_MARGIN = 0.05
"""So far below and above all marks a figure of rates reaches, and one of budgets above all lines."""
_BEYOND = 1.04
"""So much further than the largest budget a figure of budgets reaches."""
_COST_ROWS = 9
_PLOT_HEIGHT = 400
"""Pixels between the axis and the top of the figure with that many rows, about."""
_ASIDE, _ABOVE = 30, 12
"""Pixels from a mark to its name."""
_NAME = 0.2
"""The room for names on either side of all marks, as a share of the distance between these."""
_LEDGE = 0.02
"""So far below and above all intervals a figure of rates reaches."""
_NARROW = 0.5
"""Below this ratio of costs, as a power of ten, an axis is linear."""
_WIDE = 1.6
"""From this ratio on, a logarithmic axis has room for powers of ten only."""
_MOST_STEPS = 5
"""The most steps between the ends of a linear axis whose costs a phone can show side by side."""


def cost_against_rate(rows: Sequence[Mapping[str, Any]]) -> go.Figure:
    """Plot the cost of a counted episode against the rate; the line joins the entrants that nobody beats on both.

    The axes begin and end where the entrants do, so that these fill the figure. The line crosses no name: those of the
    entrants that it joins are above it, on their left, where no mark is; all others are below it.
    """
    priced = [(row["cost_per_episode"], row) for row in rows if row["cost_per_episode"] and row["rate"] is not None]
    figure = go.Figure()
    best, front = -1.0, []
    for cost, row in sorted(priced, key=lambda pair: (pair[0], -pair[1]["rate"])):
        if row["rate"] > best:
            best = row["rate"]
            front.append((cost, row["rate"]))
    if len(front) > 1:
        x, y = zip(*front, strict=True)
        line = {"color": "#8C8C8C", "dash": "dot", "shape": "hv"}
        figure.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)
    rates = [row["rate"] for _, row in priced]
    bottom, top = (min(rates) - _MARGIN, max(rates) + _MARGIN) if rates else (0.0, 1.0)
    for cost, row in priced:
        figure.add_scatter(
            x=[cost],
            y=[row["rate"]],
            mode="markers",
            error_y={
                "array": [row["ci_high"] - row["rate"]],
                "arrayminus": [row["rate"] - row["ci_low"]],
                "thickness": 1,
                "width": 4,
            },
            cliponaxis=False,
            marker=marker_of(row["entrant_id"]),
            name=plain_label(row["entrant"]),
            hovertemplate=f"{plain_label(row['entrant'])}<br>{usd(cost)} an episode<br>{percent(row['rate'])}"
            "<extra></extra>",
        )
        bottom, top = min(bottom, row["ci_low"]), max(top, row["ci_high"])
    bottom, top = bottom - _LEDGE, top + _LEDGE
    top = max(top, bottom + _LABEL * (top - bottom) * (len(priced) + 1))
    costs = [cost for cost, _ in priced] or [1.0]
    low, high = math.log10(min(costs)), math.log10(max(costs))
    # Costs that are nearly equal have an axis on which equal distances are equal.
    is_logarithmic = high - low > _NARROW
    for (cost, row), height in zip(priced, _apart(rates, _LABEL * (top - bottom)), strict=True):
        lift = (row["rate"] - height) / (top - bottom) * _PLOT_HEIGHT
        lift += -_ABOVE if (cost, row["rate"]) in front else _ABOVE
        name_rate = row["rate"] - lift * (top - bottom) / _PLOT_HEIGHT
        side = -1 if (cost, row["rate"]) in front else _free_side(cost, name_rate, priced, _NAME * (high - low))
        figure.add_annotation(
            x=math.log10(cost) if is_logarithmic else cost,
            y=row["rate"],
            text=plain_label(row["entrant"]),
            ax=side * _ASIDE,
            ay=lift,
            xanchor="left" if side > 0 else "right",
            showarrow=True,
            arrowhead=0,
            arrowwidth=0.7,
            arrowcolor="#8C8C8C",
            standoff=9,
            font={"color": on_page(INK)},
        )
    if priced:
        if is_logarithmic:
            margin = _NAME * (high - low)
            ends = low - margin, high + margin
            ticks = _powers(*ends)
        else:
            unit = _unit(max(costs))
            margin = max(unit, _NAME * (max(costs) - min(costs)))
            ends = max(0.0, min(costs) - margin), max(costs) + margin
            ticks = _multiples(*ends, unit)
        figure.update_xaxes(range=ends, tickvals=ticks, ticktext=[usd(tick) for tick in ticks], tickangle=0)
    if is_logarithmic:
        figure.update_xaxes(type="log", title="Cost of an episode (logarithmic)")
    else:
        figure.update_xaxes(title="Cost of an episode")
    figure.update_yaxes(range=[bottom, top], tickformat=".0%", title=f"{outcome_of(rows)}, with 95% interval")
    return finished(figure, _COST_ROWS)


def _powers(first: float, last: float) -> list[float]:
    """Return the few round costs on a logarithmic axis between these powers of ten."""
    digits = (1, 2, 5) if last - first < _WIDE else (1,)
    costs = [digit * 10.0**power for power in range(math.floor(first), math.ceil(last)) for digit in digits]
    return [cost for cost in costs if first <= math.log10(cost) <= last]


def _multiples(first: float, last: float, unit: float) -> list[float]:
    """Return the few multiples of a round cost, at least of `unit`, on an axis between these costs."""
    least = max((last - first) / _MOST_STEPS, unit)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= 0.999 * least)
    # Rounded, because ends that are multiples themselves are rarely exact.
    first_place, last_place = math.ceil(round(first / step, 6)), math.floor(round(last / step, 6))
    return [step * place for place in range(first_place, last_place + 1)]


def _unit(most: float) -> float:
    """Return the least difference between costs up to `most` that their texts show."""
    return LEAST_USD if most < 1 else CENT


def _free_side(cost: float, rate: float, priced: Sequence[tuple[float, Mapping[str, Any]]], reach: float) -> int:
    """Return on which side of a mark, 1 for the right and -1 for the left, a name at this rate meets fewer intervals.

    `reach`: how far the name reaches from the mark, as a power of ten; its begin is a sixth of that.
    """
    distances = (math.log10(other / cost) for other, row in priced if row["ci_low"] <= rate <= row["ci_high"])
    met = [distance for distance in distances if reach / 6 < abs(distance) < reach]
    return 1 if 2 * sum(distance > 0 for distance in met) <= len(met) else -1


def _apart(heights: Sequence[float], least: float) -> list[float]:
    """Return the heights of names, each near that of its mark and at least so far from the others."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    placed = list(heights)
    # Pushing names up and then down again keeps a group of them around its marks.
    for _ in range(len(heights)):
        for lower, upper in pairwise(order):
            if (missing := least - (placed[upper] - placed[lower])) > 0:
                placed[upper] += missing / 2
                placed[lower] -= missing / 2
    return placed


def budget_curves(rows: Sequence[Mapping[str, Any]], by: str, outcome: str) -> go.Figure:
    """Plot the share resolved within a number of steps, tokens or dollars, as one step line per entrant.

    `outcome`: what the share is of; see `outcome_of`.
    """
    figure = go.Figure()
    # Beyond the last success, so that its step is seen.
    end = _BEYOND * max((x for row in rows for x, _ in row["curve"]), default=0)
    for row in rows:
        x, y = zip(*row["curve"], strict=True) if row["curve"] else ((), ())
        figure.add_scatter(
            # A larger budget than that of the last success resolves no more.
            x=[*x, end] if x else [],
            y=[*y, y[-1]] if y else [],
            mode="lines",
            line={
                "color": color_of(row["entrant_id"]),
                "shape": "hv",
                "width": 2.5,
                "dash": dash_of(row["entrant_id"]),
            },
            name=plain_label(row["entrant"]),
            meta=symbol_of(row["entrant_id"]),
            text=[usd(budget) if by == "cost_usd" else f"{whole(budget)} {by}" for budget in (*x, *x[-1:])],
            hovertemplate="%{fullData.name}<br>%{y:.1%} with %{text}<extra></extra>",
        )
        if x:
            # The mark tells lines apart without their colours.
            figure.add_scatter(
                x=[end], y=[y[-1]], mode="markers", marker=marker_of(row["entrant_id"]), hoverinfo="skip",
                showlegend=False,
            )  # fmt: skip
    noun = "Cost" if by == "cost_usd" else by.capitalize()
    figure.update_xaxes(title=f"{noun} of an episode, at most", rangemode="tozero", tickformat=",")
    if by == "cost_usd":
        ticks = _multiples(0.0, end, _unit(end))
        figure.update_xaxes(tickvals=ticks, ticktext=[usd(tick) for tick in ticks])
    top = max((y for row in rows for _, y in row["curve"]), default=1.0)
    figure.update_yaxes(range=[-0.02, min(1.02, top + _MARGIN)], tickformat=".0%", title=outcome)
    return with_legend(finished(figure, 7))


def reliability(rows: Sequence[Mapping[str, Any]], value: str, ends: str) -> go.Figure:
    """Plot a share of tasks over the number of attempts k, with intervals whose `ends` have that name."""
    figure = go.Figure()
    ids = list(dict.fromkeys(row["entrant_id"] for row in rows))
    for place, entrant_id in enumerate(ids):
        aside = 0.16 * ((place + 0.5) / len(ids) - 0.5)  # so that intervals do not overlap
        entrant_rows = [row for row in rows if row["entrant_id"] == entrant_id]
        name = plain_label(entrant_rows[0]["entrant"])
        figure.add_scatter(
            x=[row["k"] + aside for row in entrant_rows],
            customdata=[row["k"] for row in entrant_rows],
            y=[row[value] for row in entrant_rows],
            error_y={
                "visible": len(ids) <= _WITH_INTERVALS,
                "array": [row[f"{ends}_high"] - row[value] for row in entrant_rows],
                "arrayminus": [row[value] - row[f"{ends}_low"] for row in entrant_rows],
                "thickness": 1,
                "width": 4,
            },
            mode="lines+markers",
            line={"color": color_of(entrant_id), "dash": dash_of(entrant_id), "width": 2},
            marker=marker_of(entrant_id, 9),
            name=name,
            hovertemplate=f"{name}<br>%{{y:.1%}}, k = %{{customdata}}<extra></extra>",
        )
    most = max((row["k"] for row in rows), default=1)
    figure.update_xaxes(dtick=1, range=[0.6, most + 0.4], title="Attempts k")
    figure.update_yaxes(range=[-0.02, 1.02], tickformat=".0%", title="Tasks resolved")
    return with_legend(finished(figure, 7))
