"""Two episodes of one task beside each other, both at one line of their alignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.browser.modules import component, feed, packed
from stackrank.dashboard.trace.debugger import STYLES, parts, steps_of
from stackrank.dashboard.trace.divergence import Pair
from stackrank.dashboard.trace.steps import brief, tool_of
from stackrank.dashboard.trace.view import TABS, View, current

_BESIDE = component("beside", "trace/beside.js", html="trace/beside.html", styles=[*STYLES, "trace/beside.css"])
_WANTED = "beside_wanted"
_MOST_TEXT = 120
_MOST_CHARS = 500
Rows = Sequence[Mapping[str, Any]]
"""The actions of an episode, rows of `db.queries.actions`."""


@st.fragment
def beside(
    episodes: Sequence[Mapping[str, Any]], rows: Sequence[Rows], pairs: Sequence[Pair], parted: Pair | None
) -> None:
    """Draw two episodes, whose `rows` are aligned as `pairs`. `parted`: see `divergence`."""
    key = "beside_" + "_".join(str(episode["id"]) for episode in episodes)
    split = next((at for at, pair in enumerate(pairs) if not pair.same), None)

    def changed() -> None:
        # The last event of a reader who has just left arrives when the component is gone.
        keep(getattr(st.session_state.get(key), "view", None))

    position = address.number("at")
    at = min(len(pairs) - 1, (split or 0) if position is None else position)
    lasts = [side[-1]["index"] if side else 0 for side in rows]
    content = {
        "pairs": [[*_steps(pair, rows), pair.same] for pair in pairs],
        "texts": [_texts(pair, rows) for pair in pairs],
        "split": split,
        "parted": None if parted is None else [*_steps(parted, rows), False],
        "sides": [
            {**steps_of(episode, 0, last), "entrant": wording.visible(episode["entrant"]), "faults": {}}
            for episode, last in zip(episodes, lasts, strict=True)
        ],
    }
    _BESIDE(key=key, data=packed(content), on_view_change=changed)
    wanted = st.session_state.get(_WANTED) or {}
    tab = current().tab
    shown = _steps(parted if parted is not None and at == split else pairs[at], rows)
    sent: set[tuple[int, str]] = set()
    with st.container(key="trace_feed", gap=None):
        for place, (episode, last) in enumerate(zip(episodes, lasts, strict=True)):
            earlier = (_steps(pair, rows)[place] for pair in reversed(pairs[: at + 1]))
            step = next(step for step in (shown[place], *earlier, 0) if step is not None)
            asked = wanted.get(place, ("", "")) if wanted.get("at") == at else ("", "")
            view = View(step, tab, asked[0], wanted.get("local", ""), "", asked[1])
            for name, value in parts(episode, view, step, last):
                if (episode["id"], name) not in sent:
                    sent.add((episode["id"], name))
                    feed(episode["id"], name, value())


def _steps(pair: Pair, rows: Sequence[Rows]) -> list[int | None]:
    """Return the steps of either side at a line of the alignment."""
    return [None if at is None else side[at]["index"] for at, side in zip((pair.a, pair.b), rows, strict=True)]


def _texts(pair: Pair, rows: Sequence[Rows]) -> list[str]:
    """Return what either side did at a line of the alignment."""
    texts = []
    for at, side in zip((pair.a, pair.b), rows, strict=True):
        row = None if at is None else side[at]
        text = "" if row is None else f"{row['index']} {tool_of(row)}: {brief(row['arguments'])[:_MOST_TEXT]}"
        texts.append(wording.visible(text).replace("\n", " "))
    return texts


def keep(values: object) -> None:
    """Store what the browser reports, without values that mean nothing."""
    if not isinstance(values, Mapping):
        return
    at, sides = values.get("at"), values.get("sides")
    if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < 10**9 or not isinstance(sides, list):
        return
    tab = values.get("tab")
    address.learn(at=at, step_tab=tab if tab in TABS[1:] else "")
    wanted: dict[Any, Any] = {"at": at, "local": _text(values.get("local"))}
    for place, side in enumerate(sides[:2]):
        if isinstance(side, Mapping):
            wanted[place] = (_text(side.get("file")), _text(side.get("load")))
    st.session_state[_WANTED] = wanted


def _text(value: object) -> str:
    return str(value or "").replace("\0", "")[:_MOST_CHARS]
