"""The legend of a figure on a phone: text of the page, which wraps, instead of a box that scrolls over the figure."""

from __future__ import annotations

from html import escape
from typing import Any

import plotly.graph_objects as go
import streamlit as st


def draw_above(figure: go.Figure) -> None:
    """Draw the legend of a figure as text, and take it out of the figure.

    A trace names the mark of its line in `meta` if another trace draws that.
    """
    named = [trace for trace in figure.data if trace.showlegend is not False and trace.name]
    entries = "".join(f"<span>{_sample(trace)}{trace.name}</span>" for trace in named)  # escaped when it was drawn
    st.html(f'<div class="legend">{entries}</div>')
    figure.update_layout(showlegend=False)


def _sample(trace: Any) -> str:
    """Return what a trace looks like: a field in its colour, or its line with its mark."""
    if trace.type == "bar":
        return f'<i class="field{" hatched" if trace.marker.pattern.shape else ""}" style="--hue: {_color(trace)}"></i>'
    symbol = trace.meta or trace.marker.symbol or "none"
    return f'<i class="line {escape(trace.line.dash or "solid")}" style="--hue: {_color(trace)}"></i>' + (
        f'<i class="mark {escape(symbol)}" style="--hue: {_color(trace)}"></i>'
    )


def _color(trace: Any) -> str:
    return escape(trace.marker.color if trace.type == "bar" else trace.line.color)
