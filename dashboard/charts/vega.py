"""The first figures of pages, in Vega-Lite, because a browser reads its scripts in a fifth of the time of Plotly's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stackrank.dashboard.charts.style import (
    HUES,
    INK,
    RESOLVED,
    VEGA_PATHS,
    VIOLETS,
    color_of,
    ink_on,
    on_page,
    symbol_of,
)
from stackrank.dashboard.parts import cards
from stackrank.db.queries import MENDED, outcome_of
from stackrank.db.queries.comparisons.claims import direction
from stackrank.wording import count_of, interval, mean, percent, point_interval, points, words

Spec = dict[str, Any]
_WIDEST_TITLE, _WIDEST_ON_A_PHONE = 90, 44
"""The most characters in the title of an axis that half a window, or a phone, shows on one line."""
_PHASES = {"searching": VIOLETS[2], "diagnosing": VIOLETS[1], "repairing": VIOLETS[0]}
_AXIS_MARGIN = 0.1
"""How far below and above all rates the axis of `course` reaches."""
_NUMBERED_FROM, _NUMBERED_ON_A_PHONE_FROM = 0.03, 0.09
"""A part of a bar contains its number if it is at least this share of the longest bar."""
_IN_TWO_LINES_ON_A_PHONE: Spec = {
    "labelExpr": "width < 450 && indexof(domain('x'), datum.value) % 2 ? ['', datum.label] : [datum.label]",
    "labelAngle": 0,
    "labelOverlap": False,
}
_AS_IT_IS: Spec = {"scale": None, "legend": None}
_LEGEND: Spec = {
    "orient": "top",
    "title": None,
    # Computed from the full width of the container, before Vega subtracts the axes. With the rest of the width, Vega
    # would add legend rows after it has reserved their height, and the first row would be cut off.
    "columns": {"expr": "max(1, floor(containerSize()[0] / 240))"},
    "labelLimit": 280,
    "symbolSize": 90,
    "symbolOpacity": 1,
}


def ranking(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Rates as dots with their 95% intervals, best on top."""
    values, outcome = [], outcome_of(rows)
    for row in (row for row in rows if row["rate"] is not None):
        evidence = f"{count_of(row['tasks'], 'task')}"
        if "resolved" in row:  # observed, not predicted by a model
            part, whole = row["resolved"], count_of(row["resolved"] + row["unresolved"], "episode")
            if outcome == MENDED:
                part, whole = row["faults_mended"], count_of(row["faults"], "fault")
            evidence = f"{part} of {whole}, {evidence}"
        values.append(
            {
                "label": row["entrant"],
                "value": row["rate"],
                "low": row["ci_low"],
                "high": row["ci_high"],
                "color": color_of(row["entrant_id"]),
                "fill": color_of(row["entrant_id"]),
                "shape": _shape_of(row["entrant_id"]),
                "told": f"{percent(row['rate'])} ({interval(row['ci_low'], row['ci_high'])})",
                "about": evidence,
            }
        )
    axis = {"format": ".0%", "tickCount": 6, "grid": False}
    axis = {"title": f"{outcome}, with 95% interval", "axis": axis, "scale": {"domain": [0, 1]}}
    return _dots(values, axis, _told(label="Entrant", told=outcome, about="Of"))


def course(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Plot the rates of runs, oldest first; hollow are those that go on.

    Rows: `run`, `series`, `rate`, `sign` (1 better, -1 worse), `told` and `goes_on`.
    """
    color = on_page(HUES[0])
    names, rates = [row["run"] for row in rows], [row["rate"] for row in rows]
    # An axis of few points would make every wobble a fall.
    domain = [max(0.0, min(rates) - _AXIS_MARGIN), min(1.0, max(rates) + _AXIS_MARGIN)]
    marks = {"worse": "triangle-down", "no clear difference": "circle", "better": "triangle-up"}
    words_of = dict(zip((-1, 0, 1), marks, strict=True))
    values = [{**row, "against": words_of[row["sign"]], "share": percent(row["rate"])} for row in rows]
    line = {
        "mark": {"type": "line", "strokeWidth": 1.5, "opacity": 0.6, "color": color},
        "encoding": {"detail": {"field": "series", "type": "nominal"}},
    }
    shape = {
        "field": "against",
        "type": "nominal",
        "scale": {"domain": list(marks), "range": list(marks.values())},
        "legend": {**_LEGEND, "symbolFillColor": color, "symbolStrokeWidth": 0}
        if any(row["sign"] for row in rows)
        else None,
    }
    points_ = {
        "mark": {"type": "point", "size": 110, "strokeWidth": 2, "opacity": 1, "fill": color, "color": color},
        "encoding": {"shape": shape, "fillOpacity": {"condition": {"test": "datum.goes_on", "value": 0}, "value": 1}},
    }
    encoding = {
        "x": {
            "field": "run",
            "type": "nominal",
            "sort": names,
            "title": None,
            "axis": {"labelAngle": 0, "labelOverlap": "greedy", "labelLimit": 160},
            "scale": {"padding": 0.5},
        },
        "y": {
            "field": "rate",
            "type": "quantitative",
            "title": "Rate over all entrants",
            "axis": {"format": ".0%", "tickCount": 5},
            "scale": {"domain": domain, "nice": False},
        },
        "tooltip": _told(run="Run", share="Rate", told="Against previous"),
    }
    return _figure(values, 170, [line, points_], encoding)


def forest(rows: Sequence[Mapping[str, Any]], first: str, second: str) -> Spec:
    """Plot differences with their intervals: `label`, `difference`, `holm_low`, `holm_high`, `p_holm` and `tasks`."""
    values = []
    for row in rows:
        is_clear = direction(row["difference"], row["p_holm"]) != 0
        color = on_page(RESOLVED)
        value, low, high = (100 * row[name] for name in ("difference", "holm_low", "holm_high"))
        values.append(
            {
                "label": row["label"],
                "value": value,
                "low": low,
                "high": high,
                "color": color,
                "fill": color if is_clear else "transparent",  # Hollow: the interval includes 0.
                "shape": "diamond",
                "told": f"{points(row['difference'])} points ({point_interval(row['holm_low'], row['holm_high'])})",
                "about": f"{count_of(row['tasks'], 'task')}",
            }
        )
    reach = 1.1 * max([5.0, *(abs(row[end]) for row in values for end in ("low", "high"))])
    title = [f"← {first} better · points · {second} better →"]
    if len(title[0]) >= (_WIDEST_ON_A_PHONE if cards.are_needed() else _WIDEST_TITLE):
        title = [f"← {first} better · points", f"{second} better →"]
    zero = {
        "mark": {"type": "rule", "color": "#8C8C8C", "aria": False},
        "encoding": {"x": {"datum": 0, "type": "quantitative"}},
    }
    # Written as in tables: a hyphen for the sign.
    label = "datum.value == 0 ? '0' : replace(format(datum.value, '+'), '\u2212', '-')"
    axis = {"grid": False, "tickCount": 8, "labelExpr": label}
    scale = {"domain": [-reach, reach], "nice": False}
    tooltip = _told(label="Of", told="Difference", about="Over")
    return _dots(values, {"title": title, "axis": axis, "scale": scale}, tooltip, zero)


def tool_calls(rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Calls per episode of one entrant's tools, stacked by phase."""
    longest = max(sum(row[phase] for phase in _PHASES) / row["played"] for row in rows)
    least = longest * (_NUMBERED_ON_A_PHONE_FROM if cards.are_needed() else _NUMBERED_FROM)
    parts = []
    for row in rows:
        end = 0.0
        for phase in _PHASES:
            calls = row[phase] / row["played"]
            name = mean(calls) if calls >= least else ""
            point = {"label": row["tool"], "phase": phase, "told": f"{mean(calls)} calls an episode", "name": name}
            parts.append({**point, "start": end, "end": end + calls, "middle": end + calls / 2})
            end += calls
    shades = {phase: on_page(hue) for phase, hue in _PHASES.items()}
    scale = {"domain": list(shades), "range": list(shades.values())}
    # Text colours that are readable on each part of the bar.
    inks = {
        "domain": list(shades),
        "range": [ink_on(hue) for hue in _PHASES.values()],
    }
    bars = {
        "mark": {"type": "bar", "height": {"band": 0.65}, "cornerRadius": 0},
        "encoding": {
            "x": {"field": "start", "type": "quantitative", "title": "Calls per episode", "axis": {"tickCount": 10}},
            "x2": {"field": "end"},
            "color": {"field": "phase", "scale": scale, "legend": _LEGEND},
        },
    }
    names = {
        "mark": {"type": "text"},
        "encoding": {
            "x": {"field": "middle", "type": "quantitative"},
            "text": {"field": "name"},
            "color": {"field": "phase", "scale": inks, "legend": None},
        },
    }
    tooltip = _told(label="Tool", phase="Phase", told="Calls")
    figure = _figure(parts, 44 * len(rows), [bars, names], {"y": _rows(grid=False), "tooltip": tooltip})
    return {**figure, "resolve": {"scale": {"color": "independent"}}}


def funnel(rows: Sequence[Mapping[str, Any]], stages: Sequence[str]) -> Spec:
    """Plot, as lines over stages, the share of each entrant's episodes that reached a stage; tasks weigh the same."""
    points = [
        {
            "entrant": row["entrant"],
            "id": row["entrant_id"],
            "stage": words(stage).capitalize(),
            "share": row["shares"][stage],
            "told": f"{row[stage]} of {count_of(row['counted'], 'episode')}, {percent(row['shares'][stage])}",
        }
        for row in rows
        for stage in stages
        # An entrant without a debugger cannot inspect, and that is no failure.
        if stage != "inspected" or row["debugger"]
    ]
    names = [row["entrant"] for row in rows]
    colors = {"domain": names, "range": [color_of(row["entrant_id"]) for row in rows]}
    shapes = {"domain": names, "range": [_shape_of(row["entrant_id"]) for row in rows]}
    color = {"field": "entrant", "scale": colors, "legend": _LEGEND}
    marks = {
        "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
        "encoding": {"color": color, "shape": {"field": "entrant", "scale": shapes, "legend": _LEGEND}},
    }
    lines = {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"color": color, "detail": {"field": "id"}}}
    share = {
        "axis": {"format": ".0%", "values": [0, 0.2, 0.4, 0.6, 0.8, 1]},
        "scale": {"domain": [0, 1]},
        "title": "Episodes that reached the stage",
    }
    stage = {"sort": [words(stage).capitalize() for stage in stages], "title": None, "axis": _IN_TWO_LINES_ON_A_PHONE}
    encoding = {
        "x": {"field": "stage", "type": "nominal", **stage},
        "y": {"field": "share", "type": "quantitative", **share},
        "tooltip": _told(entrant="Entrant", stage="Stage", told="Episodes"),
    }
    return _figure(points, 300, [lines, marks], encoding)


def _dots(values: Sequence[Mapping[str, Any]], axis: Spec, tooltip: Sequence[Spec], *behind: Spec) -> Spec:
    """Plot one row per value, with its mark and its interval.

    `axis` describes the axis of the values, `told` lists the fields shown on hover, and `behind` is drawn first.
    """
    color = {"field": "color", **_AS_IT_IS}
    row = _rows(grid=True)
    whiskers = {
        "mark": {
            "type": "errorbar",
            "ticks": {"size": 12, "thickness": 2, "opacity": 1},
            "rule": {"strokeWidth": 2, "opacity": 1},
        },
        "encoding": {
            "x": {"field": "low", "type": "quantitative", **axis},
            "x2": {"field": "high"},
            "y": row,
            "color": color,
            "tooltip": tooltip,
        },
    }
    dots = {
        "mark": {"type": "point", "size": 130, "strokeWidth": 2, "opacity": 1},
        "encoding": {
            "x": {"field": "value", "type": "quantitative"},
            "y": row,
            "stroke": color,
            "fill": {"field": "fill", **_AS_IT_IS},
            "shape": {"field": "shape", **_AS_IT_IS},
            "tooltip": tooltip,
        },
    }
    return _figure(values, 44 * len(values), [*behind, whiskers, dots])


def _rows(*, grid: bool) -> Spec:
    # Names leave the greater part of a phone to what is drawn.
    axis = {"grid": grid, "labelLimit": {"expr": "min(400, max(120, 0.4 * containerSize()[0]))"}}
    return {"field": "label", "type": "nominal", "sort": None, "title": None, "axis": axis}


def _told(**titles: str) -> list[Spec]:
    """Return the fields shown on hover, each with the title written before it."""
    return [{"field": field, "type": "nominal", "title": title} for field, title in titles.items()]


def _figure(
    values: Sequence[Mapping[str, Any]], height: int, layers: Sequence[Spec], encoding: Spec | None = None
) -> Spec:
    """Return a figure as wide as the page. `height` is in pixels; axis and legend are added to it."""
    size = {"height": height, "autosize": {"type": "fit-x", "contains": "padding"}}
    # On the left, what Vega measures too little of a long label; on the right, the half of the last label of the axis
    # that lies beyond its tick.
    size["padding"] = {"left": 6, "top": 5, "right": 18, "bottom": 20}
    ink = on_page(INK)
    config = {"axis": {"labelColor": ink, "titleColor": ink}, "legend": {"labelColor": ink}}
    return {
        "data": {"values": list(values)},
        **size,
        "layer": list(layers),
        "encoding": encoding or {},
        "config": config,
    }


def _shape_of(entrant_id: int) -> str:
    symbol = symbol_of(entrant_id)
    return VEGA_PATHS.get(symbol, symbol)
