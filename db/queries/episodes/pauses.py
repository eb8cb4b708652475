"""Where the debugger was paused in an episode, step by step, and the local variables there."""

from __future__ import annotations

from typing import Any, TypedDict

from sqlalchemy import Engine, select

from stackrank.db.connection.transactions import STEP
from stackrank.db.queries.episodes.blobs import blobs_of
from stackrank.db.queries.reading import fetch
from stackrank.debug_events import KEY, with_stop

_S = STEP.c


class Pause(TypedDict):
    """What a step shows: where the program was paused, or which lines of which file the step edited."""

    index: int
    file: str
    line: int | None
    function: str
    locals: dict[str, str]
    edited: str
    lines: list[int]


def pauses(engine: Engine, episode_id: int) -> list[Pause]:
    """Return the steps of an episode that paused the program or edited a file, in order. Agents wrote the contents."""
    rows = fetch(engine, select(_S.index, _S.state).where(_S.episode_id == episode_id, _S.ok).order_by(_S.index))
    names = ("file", "line", "function", "locals", "edited", "lines", KEY)
    states = blobs_of(engine, episode_id).parts([row["state"] for row in rows], names)
    steps = zip(rows, map(with_stop, states), strict=True)
    return [_pause(row["index"], state) for row, state in steps if state.get("file") or state.get("edited")]


def _pause(index: int, state: dict[str, Any]) -> Pause:
    variables, lines = state.get("locals"), state.get("lines")
    return {
        "index": index,
        "file": str(state.get("file") or ""),
        "line": state["line"] if isinstance(state.get("line"), int) else None,
        "function": str(state.get("function") or ""),
        "locals": {str(name): str(value) for name, value in variables.items()} if isinstance(variables, dict) else {},
        "edited": str(state.get("edited") or ""),
        "lines": [line for line in lines if isinstance(line, int)] if isinstance(lines, list) else [],
    }
