"""Figures. No figure relies on colour alone: marks, patterns or signs carry the same information."""

from stackrank.dashboard.charts.entrants import budget_curves, cost_against_rate, reliability
from stackrank.dashboard.charts.failures import failure_bars
from stackrank.dashboard.charts.style import color_of, draw, most_drawn, plain_label, symbol_of
from stackrank.dashboard.charts.vega import course, forest, funnel, ranking, tool_calls

__all__ = [
    "budget_curves",
    "color_of",
    "cost_against_rate",
    "course",
    "draw",
    "failure_bars",
    "forest",
    "funnel",
    "most_drawn",
    "plain_label",
    "ranking",
    "reliability",
    "symbol_of",
    "tool_calls",
]
