"""Figures for papers, and the best entrant per dollar."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from stackrank.dashboard.charts import paper
from stackrank.db import queries

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "a&b <script>alert(1)</script>\x1b[31m"


def drawn(text: str) -> tuple[list[str], str, ElementTree.Element]:
    """The texts of a drawing, its caption, and the drawing."""
    drawing = ElementTree.fromstring(text)
    return [label.text or "" for label in drawing.iter(f"{SVG}text")], drawing.findtext(f"{SVG}desc") or "", drawing


def test_board_figure_has_a_caption_and_escaped_names() -> None:
    rows: list[dict[str, Any]] = [
        {"entrant": "debug", "rate": 0.5, "ci_low": 0.25, "ci_high": 0.75, "tasks": 20},
        {"entrant": HOSTILE, "rate": 0.1, "ci_low": 0.0, "ci_high": 0.3, "tasks": 18},
        {"entrant": "errors only", "rate": None, "ci_low": None, "ci_high": None, "tasks": 0},
    ]
    texts, caption, drawing = drawn(paper.ranking(rows, "bugs 1234, run 1; conditions <2>."))
    assert caption.startswith("Resolution rates of 2 entrants on 18 to 20 tasks")
    assert caption.endswith("conditions <2>.")
    assert " ".join(texts).endswith(caption) and {"debug", "50.0%", "10.0%", "100%"} <= set(texts)
    assert not list(drawing.iter(f"{SVG}script")) and "errors only" not in texts and "\x1b" not in "".join(texts)
    places = [float(dot.get("cx", "")) for dot in drawing.iter(f"{SVG}circle")]
    lines = [line.get("d", "") for line in drawing.iter(f"{SVG}path") if line.get("stroke") == "#000"]
    for place, line in zip(places, lines, strict=True):
        least, highest = float(line[1:].split()[0]), float(line.split("H")[1].split("M")[0])
        assert least < place < highest <= float(drawing.get("width", "0"))


@pytest.mark.parametrize("ends", [(0.0, 0.0), (0.02, 0.4), (-0.9, -0.4), (-0.001, 0.001)])
def test_difference_axis_includes_zero(ends: tuple[float, float]) -> None:
    row = {"label": "B − A", "difference": sum(ends) / 2, "holm_low": ends[0], "holm_high": ends[1], "tasks": 7}
    texts, caption, _ = drawn(paper.differences([row], "A", "bugs, run 1."))
    assert "0" in texts and "B − A (7)" in texts and "paired by task" in caption


def row(entrant: str, cost: float | None, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    ends = {"cost_per_resolved_low": low, "cost_per_resolved_high": high}
    return {"entrant": entrant, "reference": entrant == "chance", "cost_per_resolved": cost, **ends}


def test_cost_frontier() -> None:
    cheap, dear, chance = row("cheap", 0.02, 0.01, 0.03), row("dear", 2.0, 1.0, 3.0), row("chance", 0.001, 0.001, 0.002)
    assert queries.best_per_dollar([dear, chance, cheap]) == (
        "Best per dollar: cheap, $0.0200 per resolved episode; cheaper than every other entrant (95% intervals)."
    )
    close_entrant = row("near", 0.025, 0.02, None)
    unclear = "No clear difference per dollar between cheap, $0.0200 per resolved episode, and "
    assert queries.best_per_dollar([close_entrant, dear, cheap]).startswith(unclear + "near")
    assert queries.best_per_dollar([row("cheap", 0.02, 0.01, None), dear]).startswith(unclear + "dear")
    assert queries.best_per_dollar([cheap, chance, row("unknown", None)]) == ""
