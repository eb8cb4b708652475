"""Where the program stood at a step: source with breakpoints and the current line, calls, local variables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard import address, show
from stackrank.dashboard.data import ask
from stackrank.dashboard.trace import travel
from stackrank.dashboard.trace.colors import colored
from stackrank.dashboard.trace.files import plain_path
from stackrank.dashboard.trace.steps import where
from stackrank.dashboard.trace.work import doubts, files_at
from stackrank.db import queries

_HERE = Path(__file__).parent
_LINES = 2_000
"""Lines of a file that are shown around the one that matters."""
_SOURCE = st.components.v2.component(
    "stackrank_source",
    html='<div class="source" role="region" tabindex="0">\n</div>',
    css=(_HERE / "source.css").read_text(),
    js=(_HERE / "source.js").read_text(),
)


def standing(episode: Mapping[str, Any], step: Mapping[str, Any]) -> tuple[dict[str, Any], int | None]:
    """What the debugger last said up to this step, and at which step; ({}, None) where it was not used yet."""
    found = ask(queries.before, episode["id"], step["index"], "breakpoints")
    return (found["state"], found["index"]) if found else ({}, None)


def source(episode: Mapping[str, Any], step: Mapping[str, Any], key: str) -> None:
    """The file that the step was about, as it was then."""
    state, stood = step["state"] or {}, standing(episode, step)[0]
    files = files_at(episode["id"], step["index"])
    about = [state.get("file"), state.get("edited"), state.get("path"), stood.get("file")]
    choices = [plain_path(one) for one in about if one]
    wanted = next((one for one in choices if one in files.texts), next(iter(choices), ""))
    names = sorted({*files.texts, *([wanted] if wanted else [])})
    if not names:
        st.caption("No text of this task's files is stored.")
        return
    index = names.index(wanted) if wanted in names else 0
    path = st.selectbox("File", names, index=index, key=f"{key}_file_{wanted}", format_func=wording.visible)
    text = files.texts.get(path)
    if text is None:
        excerpt = state.get("source") if plain_path(state.get("file")) == path else None
        if isinstance(excerpt, list):
            st.code(wording.visible("\n".join(map(str, excerpt))), language=None)
        st.caption("More of this file is not stored: only small text files of a task are, as they were given.")
        return
    st.caption(_legend(episode, state, stood, path))
    line = address.number("step_line")
    if line is None and plain_path(stood.get("file")) == path and isinstance(stood.get("line"), int):
        line = stood["line"]
    if line is not None:
        travel.line_history(episode, step["index"], path, line)

    def clicked() -> None:
        chosen = st.session_state[f"{key}_source"].line
        if isinstance(chosen, int) and 0 < chosen < 10**9:
            address.put(step_line=chosen)

    _SOURCE(key=f"{key}_source", data=_view(episode, state, stood, path, text), on_line_change=clicked)
    doubts(files)


def _legend(episode: Mapping[str, Any], state: dict[str, Any], stood: dict[str, Any], path: str) -> str:
    parts = ["as it was after this step"]
    if plain_path(stood.get("file")) == path:
        parts.append(":red[▶] where the program is paused")
    if any(file == path for file, _ in _breakpoints(stood)):
        parts.append(":red[●] breakpoint")
    if plain_path(state.get("edited")) == path:
        parts.append(":green[green] rewritten by this step")
    if _spoiled() and any(fault.get("file") == path for fault in episode["faults"]):
        parts.append("red edge: changed by the known fix")
    return " · ".join(parts)


def _spoiled() -> bool:
    """Whether the reader has asked for the known fix."""
    return bool(st.session_state.get("trace_step_spoiler") or st.session_state.get("trace_spoiler"))


def _breakpoints(stood: dict[str, Any]) -> list[tuple[str, int]]:
    table = stood.get("breakpoints")
    rows = [row for row in table if isinstance(row, dict)] if isinstance(table, list) else []
    return [(plain_path(row.get("file")), row["line"]) for row in rows if isinstance(row.get("line"), int)]


def _view(episode: Mapping[str, Any], state: dict[str, Any], stood: dict[str, Any], path: str, text: str) -> bytes:
    lines = wording.visible(text).split("\n")
    line = stood.get("line")
    current = [line] if plain_path(stood.get("file")) == path and isinstance(line, int) else []
    span = state.get("lines")
    touched: list[int] = []
    if plain_path(state.get("edited")) == path and isinstance(span, list) and all(isinstance(n, int) for n in span):
        touched = list(range(span[0], min(span[-1], len(lines)) + 1))
    faults = [n for fault in episode["faults"] if fault.get("file") == path for n in fault.get("lines") or []]
    middle = next(iter(current + touched), 1)
    first = max(1, middle - _LINES // 2) if len(lines) > _LINES else 1
    value = {
        "path": wording.visible(path),
        "first": first,
        "lines": colored(path, text, lines)[first - 1 : first - 1 + _LINES],
        "current": current,
        "breakpoints": [number for file, number in _breakpoints(stood) if file == path],
        "touched": touched,
        "faults": faults if _spoiled() else [],
    }
    return json.dumps(value, ensure_ascii=False).encode()


def stack(episode: Mapping[str, Any], step: Mapping[str, Any]) -> None:
    """Calls and local variables, as the debugger last told them."""
    state, index = standing(episode, step)
    if index is None:
        st.caption("The debugger was not used yet.")
        return
    if index != step["index"]:
        st.caption(f"As the debugger last told at step {index}.")
    if not state.get("file"):
        st.caption("The program was not paused: it had not started, or had ended.")
    else:
        facts = [where(state)]
        facts += [f"depth {state['depth']}"] if state.get("depth") else []
        facts += [str(state["exception"])] if state.get("exception") else []
        st.text(wording.visible(" · ".join(facts)))
    frames = [one for one in state.get("stack") or [] if isinstance(one, dict)]
    if frames:
        table = pd.DataFrame(
            {
                "": ["▶" if one.get("current") else "" for one in frames],
                "Function": [wording.visible(str(one.get("function", ""))) for one in frames],
                "Line": [wording.visible(f"{one.get('file')}:{one.get('line')}") for one in frames],
            }
        )
        show.grid(table, height=show.table_height(len(frames), 320), alt="Calls, outermost first")
    _pairs(state.get("locals"), ("Local", "Value"), "Local variables")
    travel.values(episode, step["index"])
    points = [f"{file}:{line}" for file, line in _breakpoints(state)]
    if points:
        st.text(wording.visible(f"Breakpoints: {', '.join(points)}"))
    with st.expander("All of it"):
        st.json(state)


def _pairs(found: Any, names: tuple[str, str], alt: str) -> None:
    if isinstance(found, dict) and found:
        values = [[wording.visible(str(part)) for part in column] for column in (found, found.values())]
        frame = pd.DataFrame(dict(zip(names, values, strict=True)))
        show.grid(frame, height=show.table_height(len(found), 420), alt=alt)
