"""Tables in a narrow window: a card for each row, so that nothing is outside of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from types import SimpleNamespace
from typing import Any

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard.browser.modules import component, packed

_WINDOW = component("window", "lib/window.js")
_WIDTH = "width_of_the_window"
_NARROWEST, _USUAL = 330, 100
"""Pixels that a table has on a phone, and those of a column that states no width."""
_MOST_OPEN = 50
_LONG = 30
"""Characters of a text that explains itself, and gets a line of its own."""


@st.fragment
def watch() -> None:
    """Draw the page again when the window becomes narrow, or wide."""
    with st.container(key="window_feed", gap=None):
        width = _WINDOW(key="window", data=packed(_width()), on_width_change=lambda: None).width
    if width and width != _width():
        st.session_state[_WIDTH] = width
        st.rerun(scope="app")


def are_needed() -> bool:
    """Whether the window is too narrow for tables."""
    return _width() == "narrow"


def _width() -> str:
    return str(st.session_state.get(_WIDTH, "wide"))


def draw(
    frame: pd.DataFrame,
    configuration: Mapping[str, Any],
    writers: Mapping[str, Callable[[Any], str]],
    links: Mapping[str, Sequence[str | None]],
    alt: str,
) -> Any:
    """Draw the rows of a table as cards, if it is wider than the window; return what ticking no row returns."""
    names = [name for name in map(str, frame) if configuration.get(name, {}) is not None]
    if sum(int(configuration.get(name, {}).get("width") or _USUAL) for name in names) <= _NARROWEST:
        return None
    cells = {name: frame[name].tolist() for name in names}
    rows = [_card(place, cells, configuration, writers, links) for place in range(len(frame))]
    more = f"<details><summary>{len(rows) - _MOST_OPEN:,} more</summary>{''.join(rows[_MOST_OPEN:])}</details>"
    text = "".join(rows[:_MOST_OPEN]) + (more if len(rows) > _MOST_OPEN else "")
    st.html(f'<section class="cards" aria-label="{escape(alt)}">{text}</section>')
    return SimpleNamespace(selection=SimpleNamespace(rows=[]))


def _card(
    place: int,
    cells: Mapping[str, Sequence[Any]],
    configuration: Mapping[str, Any],
    writers: Mapping[str, Callable[[Any], str]],
    links: Mapping[str, Sequence[str | None]],
) -> str:
    names, facts, lines = [], [], []
    for column, values in cells.items():
        looks = configuration.get(column, {})
        text = _text(values[place], writers.get(column), (looks.get("type_config") or {}).get("type"))
        label = str(looks.get("label") or column)
        if not text:
            continue
        if column in links and (address := links[column][place]):
            name = text if text[0].isalpha() else f"{label} {text}"
            names.append(f'<a href="{escape(address)}">{escape(name)}</a>')
        elif len(text) > _LONG:
            lines.append(f"<p>{escape(text)}</p>")
        else:
            facts.append(f"<div><dt>{escape(label)}</dt><dd>{escape(text)}</dd></div>")
    if not names and facts:  # what a row is about comes first
        names, facts = [f"<b>{escape(str(cells[next(iter(cells))][place]))}</b>"], facts[1:]
    title = f"<p>{' '.join(names)}</p>" if names else ""
    numbers = f"<dl>{''.join(facts)}</dl>" if facts else ""
    return f"<article>{title}{''.join(lines)}{numbers}</article>"


def _text(value: Any, write: Callable[[Any], str] | None, kind: str | None) -> str:
    """Write a cell as its table does; empty for what a card leaves out."""
    if kind == "line_chart":
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if pd.isna(value):
        return ""
    if write:
        return write(value)
    if kind == "progress":
        return f"{wording.fixed(value, 1)}%"
    return f"{value:%Y-%m-%d %H:%M}" if kind == "datetime" else str(value)
