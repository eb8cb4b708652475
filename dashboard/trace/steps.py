"""All steps of an episode at a glance: a timeline over a virtualised list. The address says which one is selected."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from stackrank import wording
from stackrank.dashboard import address, data
from stackrank.db import queries
from stackrank.db.engine import default_url

WINDOW = 5_000
"""Steps that are sent to the browser at once."""
_HERE = Path(__file__).parent
_TOOLS = ("reset", "view", "pdb", "rewrite", "eval", "bash", "grep", "listdir", "submit", "malformed")
"""Tools with a colour of their own, by their places in the browser's list of hues."""
_DISTANCES = {
    "line": "at the fault",
    "function": "in the faulty function",
    "file": "in the faulty file",
    "elsewhere": "in another file",
}


def _component(name: str, html: str) -> Callable[..., Any]:
    parts = [(_HERE / file).read_text() for file in ("shared.js", f"{name}.js")]
    css = (_HERE / f"{name}.css").read_text()
    return st.components.v2.component(f"stackrank_{name}", html=html, css=css, js="\n".join(parts))


_LANES = _component(
    "lanes",
    """<div class="lanes"><div class="labels" aria-hidden="true"></div>
<div class="plot"><canvas role="img" aria-label="Timeline of the steps; the list below has the same"></canvas></div>
<div class="readout" aria-live="off"></div></div>""",
)
_LIST = _component(
    "list",
    """<div class="tools" role="group" aria-label="Kinds of steps"></div>
<div class="box" role="listbox" aria-label="Steps of the episode" tabindex="0">
<div class="space"></div><div class="none" hidden>Every kind of step is hidden.</div></div>
<div class="keys"><kbd>j</kbd> <kbd>k</kbd> next and previous step · <kbd>n</kbd> <kbd>p</kbd> of the same tool ·
<kbd>f</kbd> failure point</div>""",
)


def timeline(episode: Mapping[str, Any], selected: int, last: int, *, key: str) -> None:
    """The lanes over all steps."""
    _mount(_LANES, *payloads(episode, selected, last)[:1], key=f"{key}_lanes")


def step_list(episode: Mapping[str, Any], selected: int, last: int, *, key: str) -> None:
    """The steps; a click or a key on one puts it into the address."""
    _mount(_LIST, payloads(episode, selected, last)[1], key=f"{key}_list")
    first = selected // WINDOW * WINDOW
    with st.container(horizontal=True):
        if first > 0:
            st.button("Earlier steps", icon=":material/chevron_left:", on_click=_go, args=(first - 1,))
        if last >= first + WINDOW:
            st.button("Later steps", icon=":material/chevron_right:", on_click=_go, args=(first + WINDOW,))


def _go(step: int) -> None:
    address.put(step=step)


def _mount(component: Callable[..., Any], payload: bytes, *, key: str) -> None:
    def chosen() -> None:
        step = st.session_state[key].step
        if isinstance(step, int) and 0 <= step < 10**9:
            address.put(step=step)

    component(key=key, data=payload, on_step_change=chosen)


def payloads(episode: Mapping[str, Any], selected: int, last: int) -> tuple[bytes, bytes]:
    """What the timeline and the list are given. The same bytes until there are new steps: they are sent once."""
    start = start_of(episode, last)
    marks = tuple(episode["milestones"].items())
    return _payloads(
        default_url(), episode["id"], selected // WINDOW * WINDOW, last, start, episode["failure_step"], marks
    )


def start_of(episode: Mapping[str, Any], last: int) -> int:
    """The step that is shown where the address names none: the failure point, the newest one of a live episode."""
    if not episode["verdict"]:
        return last
    return min(last, episode["failure_step"] or 0)


@st.cache_data(ttl=600, max_entries=12, show_spinner=False)
def _payloads(
    url: str, episode_id: int, first: int, last: int, start: int, failure: int | None, marks: tuple[Any, ...]
) -> tuple[bytes, bytes]:
    engine: Engine = data.engine()
    outline = queries.step_outline(engine, episode_id, first=first, limit=min(WINDOW, last + 1 - first))
    tools = {name: _hue(name) for name in map(tool_of, outline)}
    names: dict[int, list[str]] = {}
    for name, index in marks:
        names.setdefault(index, []).append(wording.words(name))
    common = {"start": start, "failure": failure, "tools": tools}
    lanes = [_lane(row, names.get(row["index"], [])) for row in outline]
    listed = [_listed(row, names.get(row["index"], [])) for row in outline]
    return _packed({**common, "rows": lanes}), _packed({**common, "rows": listed})


def _hue(tool: str) -> int:
    """The place of a tool's colour: the same in every episode. Tools of others share the hues by their names."""
    return _TOOLS.index(tool) if tool in _TOOLS else zlib.crc32(tool.encode()) % len(_TOOLS)


def _packed(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def tool_of(row: Mapping[str, Any]) -> str:
    """What a step is called: its tool; the first one has none."""
    return wording.visible(row["tool"]) or ("reset" if row["index"] == 0 else "malformed")


def _lane(row: Mapping[str, Any], marks: list[str]) -> dict[str, Any]:
    passed, failed = _number(row["passed"]), _number(row["failed"])
    depth, line = _number(row["depth"]), _number(row["line"])
    about = [where(row)]
    if depth is not None:
        about.append(f"depth {depth}")
    if passed is not None and failed is not None:
        about.append(f"{passed} passed, {failed} failed")
    about += [distance(row), *marks]
    return {
        "step": row["index"],
        "tool": tool_of(row),
        "ok": bool(row["ok"]),
        "file": wording.visible(row["file"] or "") if line is not None else "",
        "line": line,
        "depth": depth,
        "passed": passed,
        "failed": failed,
        "distance": row["distance"],
        "marks": marks,
        "about": [part for part in about if part],
    }


def _listed(row: Mapping[str, Any], marks: list[str]) -> dict[str, Any]:
    passed, failed = _number(row["passed"]), _number(row["failed"])
    tests = f"{passed} of {passed + failed} pass" if passed is not None and failed is not None else ""
    return {
        "step": row["index"],
        "tool": tool_of(row),
        "ok": bool(row["ok"]),
        "text": wording.visible(row["changed"] or brief(row["arguments"]) or row["thought"]).replace("\n", " ⏎ "),
        "where": where(row),
        "tests": tests,
        "marks": marks,
        "inside": row["investigation"] is not None,
    }


def distance(step: Mapping[str, Any]) -> str:
    """How near a step came to the fault; empty where it was nowhere."""
    away = f", {step['distance_lines']} lines away" if step["distance_lines"] else ""
    return f"{_DISTANCES.get(step['distance'], step['distance'])}{away}"


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None


def where(place: Mapping[str, Any]) -> str:
    """The place where the debugger is paused, else what was edited or shown."""
    if place.get("file"):
        function = f" {place['function']}" if place.get("function") else ""
        return wording.visible(f"{place['file']}:{place.get('line', '?')}{function}")
    return wording.visible(str(place.get("edited") or place.get("path") or ""))


def brief(arguments: str) -> str:
    """The beginning of an action's arguments, without the JSON around them, also where that was cut off."""
    for end in ("", '"}', "}"):
        try:
            parsed = json.loads(arguments.rstrip("\\") + end if end else arguments)
        except ValueError:
            continue
        if isinstance(parsed, dict):
            return ", ".join(str(value) for value in parsed.values() if value is not None)
    return arguments
