"""Where the program was paused at a step: source with breakpoints and the current line, calls, local variables."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import streamlit as st

from stackrank import wording
from stackrank.dashboard.trace.colors import colored
from stackrank.dashboard.trace.files import Files, plain_path
from stackrank.dashboard.trace.steps import where
from stackrank.dashboard.trace.travel import Changes
from stackrank.dashboard.trace.work import doubts
from stackrank.debug_events import watched_places

LINES = 2_000
"""The number of lines of a file that are shown around the relevant one."""
_STRIDE = 500
_MOST_VALUE = 2_000
"""The most characters of a local's value that are shown."""


class Excerpt(NamedTuple):
    """A version of a file, from the line `first` on."""

    path: str
    text: str
    first: int

    @property
    def key(self) -> str:
        """A name that is unique to this version."""
        return hashlib.sha256("\0".join(map(str, self)).encode("utf-8", "surrogatepass")).hexdigest()[:20]


@st.cache_data(ttl=600, max_entries=100, show_spinner=False)
def lines_of(path: str, text: str, first: int) -> dict[str, Any]:
    """Return the lines of a version of a file for the browser, split into coloured pieces."""
    lines = wording.visible(text).split("\n")
    return {"first": first, "lines": colored(path, text, lines)[first - 1 : first - 1 + LINES]}


def path_of(state: Mapping[str, Any], stood: Mapping[str, Any], files: Files, former: str) -> str:
    """Return the file that a step was about, else the one where the program was paused, else the one shown before."""
    paths = [state.get("file"), state.get("edited"), state.get("path"), stood.get("file")]
    choices = [plain_path(path) for path in paths if path]
    listed = next((path for path in choices if path in files.texts), None)
    return listed or next(iter(choices), "") or former or next(iter(sorted(files.texts)), "")


def source(
    state: Mapping[str, Any], stood: Mapping[str, Any], files: Files, path: str
) -> tuple[dict[str, Any], Excerpt | None]:
    """Return a file as it was after a step, for the browser, and its text if that is known."""
    line, span = stood.get("line"), state.get("lines")
    current = [line] if plain_path(stood.get("file")) == path and isinstance(line, int) else []
    text = files.texts.get(path)
    touched: list[int] = []
    if plain_path(state.get("edited")) == path and isinstance(span, list) and all(isinstance(n, int) for n in span):
        touched = list(range(span[0], min(span[-1], (text or "").count("\n") + 1) + 1)) if span else []
    view = {
        "path": wording.visible(path),
        "file": None,
        "current": current,
        "touched": touched,
        "breakpoints": [number for file, number in breakpoints(stood) if file == path],
        "excerpt": "",
        "doubts": doubts(files),
    }
    if text is None:
        source_text = state.get("source") if plain_path(state.get("file")) == path else None
        view["excerpt"] = wording.visible("\n".join(map(str, source_text))) if isinstance(source_text, list) else ""
        return view, None
    middle = next(iter(current + touched), 1)
    first = 1
    if text.count("\n") >= LINES:
        first = max(1, middle // _STRIDE * _STRIDE - (LINES - _STRIDE) // 2)
    excerpt = Excerpt(path, text, first)
    return view | {"file": excerpt.key}, excerpt


def breakpoints(stood: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return file and line of each breakpoint."""
    table = stood.get("breakpoints", watched_places(stood))
    rows = [row for row in table if isinstance(row, dict)] if isinstance(table, list) else []
    return [(plain_path(row.get("file")), row["line"]) for row in rows if isinstance(row.get("line"), int)]


def stack(stood: Mapping[str, Any], at: int | None, changes: Changes) -> dict[str, Any]:
    """Return calls and local variables as the debugger last reported them, at step `at`."""
    values = stood.get("locals")
    locals_text = {str(n): str(v) for n, v in values.items()} if isinstance(values, dict) else {}
    former = changes.of(str(stood.get("function") or ""), locals_text)
    facts = [where(stood)] if stood.get("file") else []
    facts += [f"depth {stood['depth']}"] if facts and stood.get("depth") else []
    facts += [str(stood["exception"])] if facts and stood.get("exception") else []
    frames = [frame for frame in stood.get("stack") or [] if isinstance(frame, dict)]
    return {
        "at": at,
        "where": wording.visible(" · ".join(facts)),
        "frames": [_frame(frame) for frame in frames],
        "locals": [_local(name, value, former) for name, value in locals_text.items()],
        "breakpoints": [[wording.visible(file), line] for file, line in breakpoints(stood)],
    }


def _frame(frame: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "function": wording.visible(str(frame.get("function", ""))),
        "file": wording.visible(plain_path(frame.get("file"))),
        "line": frame["line"] if isinstance(frame.get("line"), int) else None,
        "current": bool(frame.get("current")),
    }


def _local(name: str, value: str, former: Mapping[str, str | None]) -> dict[str, Any]:
    local: dict[str, Any] = {"name": name, "shown": wording.visible(name), "value": _short(value)}
    if name in former:
        earlier = former[name]
        local["former"] = None if earlier is None else _short(earlier)
    return local


def _short(value: str) -> str:
    return wording.visible(value[:_MOST_VALUE]) + ("…" if len(value) > _MOST_VALUE else "")
