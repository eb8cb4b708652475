"""Colours and marks. Each entrant has one of seven hues (Okabe-Ito) and a mark for good, which nothing else has.

How episodes end and the phases of an episode have a palette of their own: an ink for what is resolved, and violets,
browns and slates for what is not.
"""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from stackrank.dashboard.charts import legend
from stackrank.dashboard.parts import cards

# Okabe and Ito 2008, without yellow and black, which are hard to see in one of the two themes.
HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C8C8C")
RESOLVED = "#2E3B4B"
VIOLETS = ("#5B4A91", "#8B7DBB", "#B9AFDA")
BROWNS = ("#6E5338", "#A18767", "#CDBB9F")
SLATES = ("#6F8496", "#9DB0BF", "#C6D2DB")
INK = "#454C55"
"""The colour of the text around a figure; Streamlit's own grey is too faint to read."""
# The same colours, light enough for a dark page.
_ON_DARK = {
    INK: "#D3D9DF",
    RESOLVED: "#DCE4EC",
    VIOLETS[0]: "#7A68B5",
    BROWNS[0]: "#8A6B4A",
    SLATES[2]: "#3F4D5A",
    "#0072B2": "#3D9BD1",
    "#009E73": "#19B88B",
    "#D55E00": "#E8742A",
    "#56B4E9": "#8CCBF2",
    "#8C8C8C": "#A6A6A6",
}
_MOST_ON_A_PHONE = 4
_SAVED_WIDTH = 900
"""The width in pixels of a saved figure; a paper scales it down to its column."""
VEGA_PATHS = {
    "x": "M-1 -.6L-.6 -1L0 -.4L.6 -1L1 -.6L.4 0L1 .6L.6 1L0 .4L-.6 1L-1 .6L-.4 0Z",
    "star": "M0 -1L.24 -.32L.95 -.31L.38 .12L.59 .81L0 .4L-.59 .81L-.38 .12L-.95 -.31L-.24 -.32Z",
}
"""Marks for which Vega has no name, as paths."""
_OF_VEGA = {path: name for name, path in VEGA_PATHS.items()}
_LIGHT_INK, _DARK_INK = "#FFFFFF", "#101010"
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")


def most_drawn() -> int:
    """The most entrants in one line chart; more could not be told apart, on a phone even sooner."""
    return _MOST_ON_A_PHONE if cards.are_needed() else len(HUES)


def color_of(entrant_id: int) -> str:
    """The colour that an entrant has on every page."""
    return on_page(HUES[(entrant_id - 1) % len(HUES)])


def on_page(color: str) -> str:
    """The shade of a colour that the theme of the page needs."""
    return _ON_DARK.get(color, color) if st.context.theme.type == "dark" else color


def symbol_of(entrant_id: int) -> str:
    """The mark that goes with the colour."""
    # Two entrants that share a colour have different marks.
    return _SYMBOLS[(entrant_id - 1 + (entrant_id - 1) // len(HUES)) % len(_SYMBOLS)]


def dash_of(entrant_id: int) -> str:
    """The kind of line that goes with the colour: two entrants that share a colour have different lines."""
    return ("solid", "dash", "longdashdot")[(entrant_id - 1) // len(HUES) % 3]


def draw(figure: go.Figure | dict[str, Any], *, key: str, alt: str, **options: Any) -> Any:
    """Draw a Plotly figure or a Vega-Lite specification; return what Streamlit returns.

    A Plotly figure has a button that saves it as a scalable drawing, named after its key. On a phone, a legend above
    the figure has its names, which would cover what is drawn.
    """
    if isinstance(figure, dict):
        if cards.are_needed():
            figure, entries = legend.of_vega(figure, _OF_VEGA)
            if entries:
                legend.draw(entries)
        return st.vega_lite_chart(spec=figure, key=key, alt=alt, width="stretch", **options)
    if cards.are_needed():
        legend.draw(legend.of_plotly(figure))
    saved = {"format": "svg", "filename": f"stackrank_{key}", "width": _SAVED_WIDTH, "height": figure.layout.height}
    config = {"toImageButtonOptions": saved, "displaylogo": False}
    return st.plotly_chart(figure, key=key, alt=alt, config=config, **options)


def ink_on(color: str) -> str:
    """The colour of a text that can be read on this colour, in the shade that the page has."""
    shade = on_page(color)
    red, green, blue = (int(shade[at : at + 2], 16) for at in (1, 3, 5))
    return _LIGHT_INK if 0.299 * red + 0.587 * green + 0.114 * blue < 125 else _DARK_INK


def plain_label(text: str) -> str:
    """Escape `text` for Plotly, which interprets some HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def finished(figure: go.Figure, rows: int, **layout: Any) -> go.Figure:
    """Give the figure the height that its rows need, and return it."""
    # Explicit, because Streamlit's theme makes them faint.
    ink = {"color": on_page(INK)}
    figure.update_xaxes(tickfont=ink, title_font=ink).update_yaxes(tickfont=ink, title_font=ink)
    figure.update_traces(textfont=ink, selector=lambda trace: trace.textfont.color is None)
    figure.update_layout(
        height=max(180, 90 + 44 * rows), margin={"l": 8, "r": 24, "t": 16, "b": 8}, showlegend=False, **layout
    )
    return figure


def marker_of(entrant_id: int, size: int = 12) -> dict[str, Any]:
    """Return the marker with which an entrant is drawn."""
    return {"size": size, "color": color_of(entrant_id), "symbol": symbol_of(entrant_id)}


def bar_of(color: str, pattern: str) -> dict[str, Any]:
    """Return the style of a part of a bar; the pattern tells parts apart without their colours."""
    shade = on_page(color)
    # Away from the ink of the number on it, which could not be read among lines like itself.
    lines = "#000000" if ink_on(color) == _LIGHT_INK else "#FFFFFF"
    return {
        "color": shade,
        "pattern": {"shape": pattern, "bgcolor": shade, "fgcolor": lines, "fgopacity": 0.5, "solidity": 0.2},
        "line": {"width": 0},
    }


def with_legend(figure: go.Figure) -> go.Figure:
    """Put the legend above the figure, where it covers nothing, and return the figure."""
    legend = {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "traceorder": "normal", "title": None}
    return figure.update_layout(showlegend=True, legend=legend)
