"""Tables in a narrow window: a card for each row, so that nothing is outside of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from types import SimpleNamespace
from typing import Any, Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from stackrank import wording
from stackrank.dashboard.browser.modules import component, packed

_WINDOW = component("window", "lib/window.js")
_WIDTH = "width_of_the_window"
_NARROWEST, _USUAL = 350, 100
"""Pixels that a table has on a phone, and those of a column that states no width."""
_MOST_OPEN = 10
_LONG = 30
"""Characters of a text that explains itself, and gets a line of its own."""


@st.fragment
def watch() -> None:
    """Draw the page again when the window becomes narrow, or wide."""
    with st.container(key=f"window_{_width()}", gap=None):
        width = _WINDOW(key="window", data=packed(_width()), on_width_change=lambda: None).width
    if width and width != _width():
        st.session_state[_WIDTH] = width
        st.rerun(scope="app")


def are_needed() -> bool:
    """Whether the window is too narrow for tables."""
    return _width() == "narrow"


def _width() -> str:
    """Return how wide the window is; until it has said so, a phone is known by what its browser calls itself."""
    is_phone = "Mobi" in (st.context.headers.get("User-Agent") or "")
    return str(st.session_state.get(_WIDTH, "narrow" if is_phone else "wide"))


def beside(widths: Sequence[int] = (1, 1), gap: Literal["small", "medium"] = "small") -> Sequence[DeltaGenerator]:
    """Return places for a table and, on its right, for what sums it up; on a phone, that comes first."""
    if are_needed():
        first, second = st.container(), st.container()
        return second, first
    return st.columns(widths, gap=gap)


def folded(label: str) -> DeltaGenerator:
    """Return a place for what is not the answer itself: on a phone, it opens when its label is touched."""
    return st.expander(label) if are_needed() else st.container()


def width_of(names: Sequence[str], configuration: Mapping[str, Any]) -> int:
    """Return the pixels that a table of these columns needs."""
    return sum(int((configuration.get(name) or {}).get("width") or _USUAL) for name in names)


def draw(
    frame: pd.DataFrame,
    configuration: Mapping[str, Any],
    writers: Mapping[str, Callable[[Any], str]],
    links: Mapping[str, Sequence[str | None]],
    alt: str,
    key: str | None,
    on_select: Any,
    *,
    several: bool,
) -> Any:
    """Draw the rows of a table as cards, if it is wider than the window; return which rows are picked.

    One of the rows can be picked, or `several`, if the table has a `key` and `on_select`, as of `st.dataframe`.
    """
    names = [name for name in map(str, frame) if configuration.get(name, {}) is not None]
    if width_of(names, configuration) <= _NARROWEST:
        return None
    cells = {name: frame[name].tolist() for name in names}
    titles, rows = [], []
    for place in range(len(frame)):
        title, row = _card(place, cells, configuration, writers, links)
        titles.append(title)
        rows.append(row)
    picked = _picked(titles, key, on_select, several=several) if key and on_select and len(rows) > 1 else []
    more = f"<details><summary>{len(rows) - _MOST_OPEN:,} more</summary>{''.join(rows[_MOST_OPEN:])}</details>"
    text = "".join(rows[:_MOST_OPEN]) + (more if len(rows) > _MOST_OPEN else "")
    st.html(f'<section class="cards" aria-label="{escape(alt)}">{text}{_meanings(names, configuration)}</section>')
    return _selection(picked)


def _selection(rows: Sequence[int]) -> Any:
    return SimpleNamespace(selection=SimpleNamespace(rows=list(rows)))


def _picked(titles: Sequence[str], key: str, on_select: Any, *, several: bool) -> Sequence[int]:
    """Draw a field in place of a table's boxes to tick, and return the places of the picked rows."""
    field = f"{key}_picked"

    def remember() -> None:
        st.session_state[key] = _selection(st.session_state[field])
        on_select()

    looks: dict[str, Any] = {"format_func": titles.__getitem__, "key": field}
    looks |= {"on_change": remember} if callable(on_select) else {}
    places = range(len(titles))
    if not several:
        if st.session_state.get(field) not in places:
            st.session_state[field] = None
        place = st.selectbox("Open here", places, index=None, placeholder="Choose one", **looks)
        return [] if place is None else [place]
    if field not in st.session_state:
        st.session_state[field] = st.session_state.get(key, {}).get("selection", {}).get("rows", [])
    st.session_state[field] = [place for place in st.session_state[field] if place in places]
    return st.multiselect("Compare", places, placeholder="Choose what to compare", **looks)


def _meanings(names: Sequence[str], configuration: Mapping[str, Any]) -> str:
    """Return what a table says of its columns where a pointer rests on their headings, which a finger cannot."""
    looks = [(name, configuration.get(name, {})) for name in names]
    told = [(look.get("label") or name, look["help"]) for name, look in looks if look.get("help")]
    lines = "".join(f"<p><b>{escape(str(label))}</b> {escape(text)}</p>" for label, text in told)
    return f"<details><summary>What these numbers mean</summary>{lines}</details>" if told else ""


def _card(
    place: int,
    cells: Mapping[str, Sequence[Any]],
    configuration: Mapping[str, Any],
    writers: Mapping[str, Callable[[Any], str]],
    links: Mapping[str, Sequence[str | None]],
) -> tuple[str, str]:
    """Return the names of a row, and its card."""
    names, facts, lines, title = [], [], [], []
    for column, values in cells.items():
        looks = configuration.get(column, {})
        text = _text(values[place], writers.get(column), (looks.get("type_config") or {}).get("type"))
        label = str(looks.get("label") or column)
        if not text:
            continue
        if column in links and (address := links[column][place]):
            name = text if text[0].isalpha() else f"{label} {text}"
            title.append(name)
            names.append(f'<a href="{escape(address)}">{escape(name)}</a>')
        elif len(text) > _LONG:
            lines.append(f"<p>{escape(text)}</p>")
        else:
            facts.append(f"<div><dt>{escape(label)}</dt><dd>{escape(text)}</dd></div>")
    if not names and facts:  # what a row is about comes first
        title.append(str(cells[next(iter(cells))][place]))
        names, facts = [f"<b>{escape(title[0])}</b>"], facts[1:]
    heading = f"<p>{' '.join(names)}</p>" if names else ""
    numbers = f"<dl>{''.join(facts)}</dl>" if facts else ""
    return ", ".join(title), f"<article>{heading}{''.join(lines)}{numbers}</article>"


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
