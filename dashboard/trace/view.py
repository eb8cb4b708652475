"""What a reader of a trace looks at. The browser keeps it in the address and tells Python which parts to send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from stackrank.dashboard import address

TABS = ("Step", "Source", "Stack", "Diff", "Tests", "Model")
_ADDRESS = {"tab": "step_tab", "file": "step_file", "local": "step_local", "find": "find"}
_MOST = 500
"""The most characters of a name or of a text to search for."""
_LOAD = "trace_text_wanted"


@dataclass(frozen=True)
class View:
    """A step, and what the reader asks for beyond what every step has; a text is empty if nothing is asked for."""

    step: int | None
    tab: str
    file: str
    local: str
    find: str
    load: str
    """The name of the step's text that is wanted in full."""


def current() -> View:
    """Return what the reader looks at now."""
    tab = next(iter(address.known(_ADDRESS["tab"], TABS)), TABS[0])
    file, local, find = (address.text(_ADDRESS[name])[:_MOST] for name in ("file", "local", "find"))
    step = address.number("step")
    load = st.session_state.get(_LOAD, (None, ""))
    return View(step, tab, file, local, find, load[1] if load[0] == step else "")


def keep(values: object) -> None:
    """Store the view that the browser reports, without values that mean nothing."""
    if not isinstance(values, Mapping):
        return
    step = values.get("step")
    step = step if isinstance(step, int) and not isinstance(step, bool) and 0 <= step < 10**9 else None
    texts = {parameter: str(values.get(name) or "").replace("\0", "")[:_MOST] for name, parameter in _ADDRESS.items()}
    if texts[_ADDRESS["tab"]] not in TABS:
        texts[_ADDRESS["tab"]] = ""
    address.learn(step=step, **texts)
    st.session_state[_LOAD] = (step, str(values.get("load") or ""))
