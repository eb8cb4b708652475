"""Questions about the steps of one episode. Agents wrote what is in them: a text may have megabytes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, Text, case, cast, func, or_, select
from sqlalchemy.sql import ColumnElement

from db.errors import NotFound
from db.queries.reading import Row, fetch, fetch_one, row_id
from db.transactions import EPISODE, STEP, TASK

_S = STEP.c
_STEP = [column for column in _S if column.name not in {"episode_id", "created_at", "exchanges"}]
_OUTLINE_CHARS = 160
CHARS = 20_000
"""Characters of a text that are read before someone asks for all of it."""
_STATE_CHARS = 400_000


def steps(
    engine: Engine, episode_id: int, *, first: int = 0, limit: int | None = None, exchanges: bool = False
) -> list[Row]:
    """The steps of an episode from index `first` on, in order, `exchanges` where asked for. Index 0 is the reset."""
    query = select(*_STEP, *([_S.exchanges] if exchanges else [])).where(_S.episode_id == episode_id, _S.index >= first)
    return fetch(engine, query.order_by(_S.index).limit(limit))


def step_outline(engine: Engine, episode_id: int, *, first: int = 0, limit: int | None = 500) -> list[Row]:
    """The steps as a list and a timeline show them, in order.

    `arguments` is the beginning of its JSON, `thought` that of the text, 160 characters each. Of the state there are
    `file`, `line`, `function`, `depth`, `passed`, `failed`, `edited`, `path`: texts, or None.
    """
    shown = ("index", "tool", "ok", "milestones", "distance", "distance_lines", "tokens_in", "tokens_out", "model_ms")
    state = {name: _S.state[name] for name in ("file", "line", "function", "depth", "edited", "path")}
    state |= {name: _S.state[("tests", name)] for name in ("passed", "failed")}
    query = select(
        *(_S[name] for name in shown),
        func.substr(cast(_S.arguments, Text), 1, _OUTLINE_CHARS).label("arguments"),
        func.substr(_S.thought, 1, _OUTLINE_CHARS).label("thought"),
        *(func.substr(part.as_string(), 1, _OUTLINE_CHARS).label(name) for name, part in state.items()),
    ).where(_S.episode_id == episode_id, _S.index >= first)
    return fetch(engine, query.order_by(_S.index).limit(limit))


def step(engine: Engine, episode_id: int, index: int, *, chars: int = CHARS) -> Row | None:
    """One step; None where there is none of this index.

    `thought` and `observation` are cut at `chars`, their lengths are `thought_chars` and `observation_chars`.
    `arguments` is None where its JSON is longer than `chars`: `arguments_text` is the beginning of that JSON, and
    `arguments_chars` its length. A `state` of more than 400,000 characters is None.
    """
    plain = [column for column in _STEP if column.name not in {"thought", "observation", "arguments", "state"}]
    arguments, state = cast(_S.arguments, Text), cast(_S.state, Text)
    query = select(
        *plain,
        *(func.substr(_S[name], 1, chars).label(name) for name in ("thought", "observation")),
        *(func.length(_S[name]).label(f"{name}_chars") for name in ("thought", "observation")),
        func.length(arguments).label("arguments_chars"),
        func.substr(arguments, 1, chars).label("arguments_text"),
        _only(func.length(arguments) <= chars, _S.arguments).label("arguments"),
        _only(func.length(state) <= _STATE_CHARS, _S.state).label("state"),
        (func.length(cast(_S.exchanges, Text)) > 2).label("asked"),
    ).where(_S.episode_id == episode_id, _S.index == index)
    return fetch_one(engine, query)


def _only(condition: ColumnElement[bool], column: ColumnElement[Any]) -> ColumnElement[Any]:
    return case((condition, column), else_=None)


def step_text(engine: Engine, episode_id: int, index: int, column: str, *, chars: int) -> str:
    """The first `chars` characters of a step's `thought`, `observation`, `arguments` or `exchanges` (JSON).

    Empty where there is no such step.
    """
    query = select(func.substr(cast(_S[column], Text), 1, chars).label("text"))
    found = fetch_one(engine, query.where(_S.episode_id == episode_id, _S.index == index))
    return "" if found is None else str(found["text"])


def exchanges(engine: Engine, episode_id: int, index: int) -> list[Row]:
    """What was asked of models for one step, and what they answered; [] where nothing was."""
    found = fetch_one(engine, select(_S.exchanges).where(_S.episode_id == episode_id, _S.index == index))
    return [] if found is None else list(found["exchanges"])


def edits(engine: Engine, episode_id: int, last: int) -> list[Row]:
    """The steps up to `last` that changed the file `edited`, or used the shell: index, tool, arguments, edited."""
    edited = _S.state["edited"].as_string()
    query = select(_S.index, _S.tool, _S.arguments, edited.label("edited")).where(
        _S.episode_id == episode_id, _S.index <= last, _S.ok, or_(edited.is_not(None), _S.tool == "bash")
    )
    return fetch(engine, query.order_by(_S.index))


def before(engine: Engine, episode_id: int, index: int, part: str) -> Row | None:
    """The last step up to `index` whose state has `part` (`event`: the debugger stood somewhere; `tests`; ...)."""
    query = select(_S.index, _S.tool, _S.state).where(
        _S.episode_id == episode_id, _S.index <= index, _S.state[part].as_string().is_not(None)
    )
    return fetch_one(engine, query.order_by(_S.index.desc()))


def last_step(engine: Engine, episode_id: int) -> int | None:
    """The index of the last committed step; None before the first."""
    found = fetch_one(engine, select(func.max(_S.index).label("last")).where(_S.episode_id == episode_id))
    return None if found is None else found["last"]


def actions(engine: Engine, episode_id: int, *, limit: int = 5_000) -> list[Row]:
    """The actions of an episode as two are compared: index, tool, the beginning of the arguments' JSON, ok, file."""
    arguments = func.substr(cast(_S.arguments, Text), 1, 2_000).label("arguments")
    query = select(_S.index, _S.tool, arguments, _S.ok).where(_S.episode_id == episode_id)
    return fetch(engine, query.order_by(_S.index).limit(limit))


def task_files(engine: Engine, episode_id: int) -> dict[str, str]:
    """The small text files of the episode's task, as the agent first saw them. Raises `NotFound`."""
    query = select(TASK.c.files).join(EPISODE, EPISODE.c.task_id == TASK.c.id)
    found = fetch_one(engine, query.where(EPISODE.c.id == row_id(episode_id)))
    if found is None:
        raise NotFound(f"There is no episode {episode_id}: `stackrank episodes RUN` lists them.")
    return dict(found["files"])
