"""All steps of an episode at a glance, as the list and the timeline in the browser show them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from stackrank import wording
from stackrank.dashboard import data
from stackrank.dashboard.parts.failing import MILESTONES
from stackrank.dashboard.trace import travel
from stackrank.dashboard.trace.repeats import repeats
from stackrank.dashboard.trace.tree import Place, places
from stackrank.dashboard.trace.work import deciding_edit
from stackrank.db import queries
from stackrank.wording import count_of

WINDOW = 5_000
"""The number of steps that are sent to the browser at once."""
_TOOLS = ("reset", "view", "pdb", "rewrite", "eval", "bash", "grep", "listdir", "submit", "malformed")
"""Tools with a colour of their own, in the order of the browser's list of hues."""
_DISTANCES = {
    "line": "at the fault",
    "function": "in the faulty function",
    "file": "in the faulty file",
    "elsewhere": "in another file",
}
_WHOLE = 160
"""From this many characters on, an outline has only the beginning of an action."""


def start_of(episode: Mapping[str, Any], last: int) -> int:
    """Return the step to show if the address names none.

    That is the newest step of a live episode, the deciding edit of a resolved one, else the failure point.
    """
    if not episode["verdict"]:
        return last
    return min(last, data.ask(deciding_edit, episode["id"]) or episode["failure_step"] or 0)


def window_of(step: int) -> int:
    """Return the first of the steps that are sent together with this one."""
    return step // WINDOW * WINDOW


@st.cache_data(ttl=600, max_entries=12, show_spinner=False)
def outline(url: str, episode_id: int, first: int, last: int, marks: tuple[tuple[str, int], ...]) -> dict[str, Any]:
    """Return the steps from `first` on, at most `WINDOW`. `marks`: milestones and the steps that reached them.

    In the result, `repeats` has the first step, last step and period of each repeat; `travel.lines` describes `stops`
    and `edits`.
    """
    engine: Engine = data.engine()
    rows = queries.step_outline(engine, episode_id, first=first, limit=min(WINDOW, last + 1 - first))
    names: dict[int, list[str]] = {}
    for name, index in marks:
        names.setdefault(index, []).append(wording.words(name))
    pauses = travel.pauses(url, episode_id, last)
    circles = repeats([_did(row) for row in rows])
    return {
        "first": first,
        "last": last,
        "meanings": MILESTONES,
        "tools": {name: _hue(name) for name in map(tool_of, rows)},
        "rows": [_row(row, names.get(row["index"], []), place) for row, place in zip(rows, places(rows), strict=True)],
        "repeats": [[rows[circle.first]["index"], rows[circle.last]["index"], circle.period] for circle in circles],
        "files": sorted({*map(wording.visible, queries.task_files(engine, episode_id))}),
        **travel.lines(pauses),
    }


def _did(row: Mapping[str, Any]) -> Hashable:
    """Return what a step did and its result, for comparison.

    An action known only by its beginning equals no other; nor does an answer that was refused, whose text is not here.
    """
    is_short = row["tool"] and len(row["arguments"]) < _WHOLE
    names = ("tool", "arguments", "file", "line", "function", "passed", "failed", "ok")
    return tuple(row[name] for name in names) if is_short else row["index"]


def _hue(tool: str) -> int:
    """Return the index of a tool's colour, the same in every episode. Other tools share the hues by their names."""
    return _TOOLS.index(tool) if tool in _TOOLS else zlib.crc32(tool.encode()) % len(_TOOLS)


def tool_of(row: Mapping[str, Any]) -> str:
    """Return what a step is called: its tool, or `reset` for the first step, which has none."""
    return wording.visible(row["tool"]) or ("reset" if row["index"] == 0 else "malformed")


def _row(row: Mapping[str, Any], marks: list[str], place: Place | None) -> dict[str, Any]:
    passed, failed = _number(row["passed"]), _number(row["failed"])
    depth, line = _number(row["depth"]), _number(row["line"])
    has_counts = passed is not None and failed is not None
    details = [where(row)] + ([] if depth is None else [f"depth {depth}"])
    details += [f"{passed} passed, {failed} failed"] if has_counts else []
    details += [distance(row), *marks]
    return {
        "step": row["index"],
        "tool": tool_of(row),
        "ok": bool(row["ok"]),
        "text": wording.visible(row["changed"] or row["thought"] or brief(row["arguments"])).replace("\n", " ⏎ "),
        "action": wording.visible(" ".join(brief(row["arguments"]).split())) if row["thought"] else "",
        "where": where(row),
        "tests": f"visible tests: {passed} of {passed + failed} pass"
        if passed is not None and failed is not None
        else "",
        "file": wording.visible(row["file"] or "") if line is not None else "",
        "line": line,
        "depth": depth,
        "passed": passed,
        "failed": failed,
        "distance": row["distance"],
        "marks": marks,
        "inside": row["investigation"] is not None,
        "tree": place,
        "parent": row["parent"],
        "about": [part for part in details if part],
    }


def distance(step: Mapping[str, Any]) -> str:
    """Say how near a step came to the fault; empty if that is not known."""
    away = f", {count_of(step['distance_lines'], 'line')} away" if step["distance_lines"] else ""
    return f"{_DISTANCES.get(step['distance'], step['distance'])}{away}"


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None


def where(place: Mapping[str, Any]) -> str:
    """Return the place where the debugger is paused, else the file that was edited or shown."""
    if place.get("file"):
        function = f" {place['function']}" if place.get("function") else ""
        return wording.visible(f"{place['file']}:{place.get('line', '?')}{function}")
    return wording.visible(str(place.get("edited") or place.get("path") or ""))


def brief(arguments: str) -> str:
    """Return the beginning of an action's arguments without the JSON around them, even if the JSON was cut off."""
    for end in ("", '"}', "}"):
        try:
            parsed = json.loads(arguments.rstrip("\\") + end if end else arguments)
        except ValueError:
            continue
        if isinstance(parsed, dict):
            return ", ".join(str(value) for value in parsed.values() if value is not None)
    return arguments
