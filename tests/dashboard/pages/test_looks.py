"""Appearance: contrast, and figures of many entrants."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import stackrank.dashboard as dashboard
from stackrank.dashboard import charts
from stackrank.dashboard.parts import show

HERE = Path(dashboard.__file__).parent
LEAST = 4.5
"""The contrast that WCAG asks for between a text and what is behind it."""
FADED = 0.6
"""How much of the text's colour Streamlit gives to captions and to pinned columns."""
Color = tuple[float, ...]


def rgb(text: str) -> Color:
    return tuple(int(text[at : at + 2], 16) for at in (1, 3, 5))


def luminance(color: Color) -> float:
    parts = [part / 255 for part in color]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])


def contrast(text_color: Color, background: Color) -> float:
    dark, light = sorted(map(luminance, (text_color, background)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(scheme: str) -> None:
    theme = tomllib.loads((HERE / "theme.toml").read_text())["theme"][scheme]
    text = rgb(theme["textColor"])
    for behind in (rgb(theme["backgroundColor"]), rgb(theme["secondaryBackgroundColor"])):
        faded = tuple(FADED * a + (1 - FADED) * b for a, b in zip(text, behind, strict=True))
        assert contrast(faded, behind) >= LEAST
    code = rgb(theme["codeBackgroundColor"])
    styles = "".join(
        (HERE / file).read_text() for file in ("app.css", "browser/trace/source.css", "browser/trace/step.css")
    )
    pairs = re.findall(r"light-dark\((#[0-9A-F]{6}), (#[0-9A-F]{6})\)", styles)
    assert len(pairs) > 9
    for pair in pairs:
        assert contrast(rgb(pair[scheme == "dark"]), code) >= LEAST, pair


def test_entrant_labels_do_not_overlap() -> None:
    rows: list[dict[str, Any]] = [
        {"entrant_id": number, "entrant": f"e{number}", "cost_per_episode": 0.01 * number, "rate": 0.5 - 0.01 * number}
        | {"ci_low": 0.3, "ci_high": 0.6}
        for number in range(1, 11)
    ]

    def heights(rows: list[dict[str, Any]]) -> list[float]:
        figure = charts.cost_against_rate(rows).layout
        low, high = figure.yaxis.range
        pixels = figure.height - 90
        assert [label.text for label in figure.annotations] == [row["entrant"] for row in rows]
        return [pixels * (label.y - low) / (high - low) - label.ay for label in figure.annotations]

    close = sorted(heights(rows))
    assert all(upper - lower > 14 for lower, upper in pairwise(close)), "a line's height"
    apart = [{**row, "rate": 0.05 * row["entrant_id"]} for row in rows]
    assert heights(apart) == sorted(heights(apart)), "in the order of their marks"


@pytest.mark.parametrize(
    ("costs", "labels"),
    [
        ((0.0195, 0.0197), ["$0.0194", "$0.0195", "$0.0196", "$0.0197", "$0.0198"]),
        ((0.0195, 0.0195), ["$0.0194", "$0.0195", "$0.0196"]),
        ((2.001, 2.002), ["$2.00", "$2.01"]),
        ((0.01, 0.04), ["$0.0100", "$0.0200", "$0.0500"]),
        ((0.01, 9.0), ["$0.0100", "$0.1000", "$1.00", "$10.00"]),
    ],
)
def test_the_axis_of_costs_fits_the_entrants(costs: tuple[float, float], labels: list[str]) -> None:
    rows: list[dict[str, Any]] = [
        {"entrant_id": 1, "entrant": "e", "cost_per_episode": cost, "rate": 0.5, "ci_low": 0.3, "ci_high": 0.6}
        for cost in costs
    ]
    axis = charts.cost_against_rate(rows).layout.xaxis
    assert list(axis.ticktext) == labels


def test_vega_figures_contain_all_rows() -> None:
    rows: list[dict[str, Any]] = [
        {"entrant_id": number, "entrant": f"<b>e{number}", "rate": 0.5, "ci_low": 0.4, "ci_high": 0.6, "tasks": 9}
        for number in range(1, 11)
    ]
    bars = charts.ranking([*rows, {**rows[0], "rate": None}])["data"]["values"]
    assert [row["label"] for row in bars] == [row["entrant"] for row in rows], "nothing reads HTML"
    assert len({(row["color"], row["shape"]) for row in bars}) == 10
    pairs: list[dict[str, Any]] = [
        {"label": "sure", "difference": 0.1, "holm_low": 0.02, "holm_high": 0.18, "p_holm": 0.04, "tasks": 9},
        {"label": "open", "difference": -0.1, "holm_low": -0.2, "holm_high": 0.01, "p_holm": 0.06, "tasks": 9},
    ]
    assert [row["fill"] == row["color"] for row in charts.forest(pairs, "a", "b")["data"]["values"]] == [True, False]
    usage = {"tool": "pdb", "searching": 4, "diagnosing": 14, "repairing": 1, "played": 2}
    parts = charts.tool_calls([usage])["data"]["values"]
    assert [(part["start"], part["end"]) for part in parts] == [(0, 2), (2, 9), (9, 9.5)]
    assert [part["name"] for part in parts] == ["2.0", "7.0", "0.5"]


def test_the_course_of_runs_marks_what_is_clear() -> None:
    rows = [
        {"run": f"n #{n}", "series": "n", "rate": 0.5, "sign": n - 1, "told": "", "goes_on": n == 2} for n in range(3)
    ]
    spec = charts.course(rows)
    assert [row["against"] for row in spec["data"]["values"]] == ["worse", "no clear difference", "better"]
    assert spec["encoding"]["y"]["scale"]["domain"] == pytest.approx([0.4, 0.6])
    assert spec["layer"][1]["encoding"]["shape"]["legend"]
    assert charts.course(rows[1:2])["layer"][1]["encoding"]["shape"]["legend"] is None, "nothing to tell apart"


def test_hostile_command_name_is_escaped() -> None:
    def page() -> None:
        from stackrank.dashboard.parts import show

        show.empty("Nothing.", "stackrank run --benchmark repo/a` ![x](http://example.invalid/x)\n# `b")

    (code,) = AppTest.from_function(page).run().code
    assert code.value == "stackrank run --benchmark repo/a` ![x](http://example.invalid/x) # `b"


def test_entrants_without_a_debugger_have_no_inspecting_point() -> None:
    stages = ["localized", "inspected", "resolved"]
    row = {"entrant_id": 1, "entrant": "e", "counted": 2, "shares": dict.fromkeys(stages, 0.5)} | dict.fromkeys(
        stages, 1
    )
    for debugger in (True, False):
        points = charts.funnel([{**row, "debugger": debugger}], stages)["data"]["values"]
        assert [point["stage"] for point in points] == ["Localized", *(["Inspected"] * debugger), "Resolved"]


def test_a_table_leaves_out_what_says_the_same_in_every_row() -> None:
    frame = pd.DataFrame({"a": [1, 1], "b": [None, 0.5], "c": [[], []], "d": ["x", "y"], "e": ["", ""], "f": [0, 0]})
    assert list(show.telling(frame, *"abcef", "none")) == ["b", "d"]
    assert list(show.telling(frame[:1], *"abcef")) == ["a", "d"], "of one row, only what is empty"


def test_a_card_shows_what_a_row_of_its_table_does() -> None:
    def page() -> None:
        import streamlit as st

        from stackrank.dashboard.parts import columns, show
        from tests.dashboard.seed import HOSTILE

        st.session_state["width_of_the_window"] = "narrow"
        row = {
            "task_id": 7,
            "Task": HOSTILE,
            "Rate": 0.5,
            "Bar": 50.0,
            "Cost": None,
            "Story": "It " * 20,
            "Labels": ["a", "b"],
        }
        kinds = {"Rate": columns.share("Share"), "Bar": columns.rate_bar(), "Cost": columns.dollars(), "task_id": None}
        event = show.grid([row] * 60, about=[row] * 60, column_config=kinds, hidden=["Labels"], alt="<Tasks>")
        assert event.selection.rows == []
        show.grid([{"Few": 1}], alt="narrow enough")

    app = AppTest.from_function(page).run()
    assert not app.exception
    (element,) = app.get("html")
    html = element.proto.body
    first = html.split("</article>")[0]
    assert "<script" not in html and "<img" not in html and "&lt;script&gt;" in first
    assert (
        'href="task?id=7"' in first
        and "<dt>Share</dt><dd>50.0%</dd>" in first
        and "<dt>Bar</dt><dd>50.0%</dd>" in first
    )
    assert "Cost" not in first and "Labels" not in first and "task_id" not in first
    assert f"<p>{'It ' * 20}</p>" in first
    assert (
        html.count("<article>") == 60 and "<summary>50 more</summary>" in html and 'aria-label="&lt;Tasks&gt;"' in html
    )
    assert len(app.dataframe) == 1
