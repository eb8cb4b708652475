"""What can be said of looks without looking: contrast, and figures of many entrants."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import stackrank.dashboard as dashboard
from stackrank.dashboard import charts

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


def contrast(one: Color, other: Color) -> float:
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(scheme: str) -> None:
    theme = tomllib.loads((HERE / "theme.toml").read_text())["theme"][scheme]
    text = rgb(theme["textColor"])
    for behind in (rgb(theme["backgroundColor"]), rgb(theme["secondaryBackgroundColor"])):
        faded = tuple(FADED * a + (1 - FADED) * b for a, b in zip(text, behind, strict=True))
        assert contrast(faded, behind) >= LEAST
    code = rgb(theme["codeBackgroundColor"])
    styles = "".join(
        (HERE / file).read_text() for file in ("app.css", "trace/browser/source.css", "trace/browser/step.css")
    )
    pairs = re.findall(r"light-dark\((#[0-9A-F]{6}), (#[0-9A-F]{6})\)", styles)
    assert len(pairs) > 9
    for pair in pairs:
        assert contrast(rgb(pair[scheme == "dark"]), code) >= LEAST, pair


def test_names_of_many_entrants_do_not_lie_on_each_other() -> None:
    rows: list[dict[str, Any]] = [
        {"entrant_id": number, "entrant": f"e{number}", "cost_per_episode": 0.01 * number, "rate": 0.5 - 0.01 * number}
        for number in range(1, 11)
    ]
    named = [trace.text[0] for trace in charts.cost_against_rate(rows).data if trace.mode == "markers+text"]
    assert named == ["e1"] + [""] * 9, "only the one that nobody beats"
    few = [trace.text[0] for trace in charts.cost_against_rate(rows[:7]).data if trace.mode == "markers+text"]
    assert few == [f"e{number}" for number in range(1, 8)]
