"""The legend of a figure on a phone: text of the page, which wraps, instead of a box that scrolls over the figure."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

import plotly.graph_objects as go
import streamlit as st


class Entry(NamedTuple):
    """What stands for one thing in a figure: a field in its colours, or a mark, with the line through it."""

    html: str
    color: str
    mark: str = ""
    line: str = ""
    hatching: str = ""


def of_plotly(figure: go.Figure) -> list[Entry]:
    """Take the names out of a figure. A trace names the mark of its line in `meta` if another trace draws that."""
    entries = []
    for trace in figure.data:
        if trace.showlegend is False or not trace.name:
            continue
        if trace.type == "bar":  # names were escaped for Plotly, which interprets some HTML
            pattern = trace.marker.pattern
            entries.append(Entry(trace.name, trace.marker.color, hatching=pattern.fgcolor if pattern.shape else ""))
        elif trace.mode == "markers":
            entries.append(Entry(trace.name, trace.marker.color, trace.marker.symbol))
        else:
            mark = trace.meta or trace.marker.symbol
            entries.append(Entry(trace.name, trace.line.color, mark, trace.line.dash or "solid"))
    figure.update_layout(showlegend=False)
    figure.layout.annotations = ()
    return entries


def of_vega(spec: dict[str, Any], symbols: dict[str, str]) -> tuple[dict[str, Any], list[Entry]]:
    """Return a specification without its legend, and the legend. `symbols`: path in Vega -> name of the mark."""
    entries: dict[str, Entry] = {}
    layers = []
    for layer in spec["layer"]:
        encoding = dict(layer["encoding"])
        shapes, colors = (_explained(encoding, name) for name in ("shape", "color"))
        kind = layer["mark"]["type"]
        for place, name in enumerate((colors or shapes).get("scale", {}).get("domain", ())):
            color = colors["scale"]["range"][place] if colors else layer["mark"]["color"]
            mark = shapes["scale"]["range"][place] if shapes else ""
            known = entries.get(name, Entry(escape(name), color))
            line = "solid" if kind == "line" else known.line
            entries[name] = known._replace(mark=symbols.get(mark, mark) or known.mark, line=line)
        for name in ("shape", "color"):
            if _explained(encoding, name):
                encoding[name] = {**encoding[name], "legend": None}
        layers.append({**layer, "encoding": encoding})
    return {**spec, "layer": layers}, list(entries.values())


def _explained(encoding: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a channel that a legend explains, else nothing."""
    channel: dict[str, Any] = encoding.get(name) or {}
    return channel if channel.get("legend") else {}


def draw(entries: Iterable[Entry]) -> None:
    """Draw a legend."""
    st.html(f'<div class="legend">{"".join(f"<span>{_sample(entry)}{entry.html}</span>" for entry in entries)}</div>')


def _sample(entry: Entry) -> str:
    hue = f'style="--hue: {escape(entry.color)}; --hatching: {escape(entry.hatching)}"'
    if not entry.mark and not entry.line:
        return f'<i class="field{" hatched" if entry.hatching else ""}" {hue}></i>'
    line = f'<i class="line {escape(entry.line)}" {hue}></i>' if entry.line else ""
    mark = f'<i class="mark {escape(entry.mark)}{" alone" if not line else ""}" {hue}></i>' if entry.mark else ""
    return line + mark
