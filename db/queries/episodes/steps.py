"""Queries about the steps of an episode. Agents wrote their contents, so a text may have megabytes."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, NotRequired, TypedDict

from sqlalchemy import Engine, LargeBinary, func, select, type_coerce

from stackrank.db.connection.errors import no_episode
from stackrank.db.connection.transactions import EPISODE, STEP, TASK
from stackrank.db.queries.episodes.blobs import BlobReader, blobs_of
from stackrank.db.queries.reading import Json, Row, fetch, fetch_one, open_connection, parse_id
from stackrank.debug_events import KEY, with_stop
from stackrank.lines import line_to

_S = STEP.c
_STEP_COLUMNS = [column for column in _S if column.name not in {"episode_id", "created_at", "exchanges"}]
_OUTLINE_CHARS = 160
CHARS = 20_000
"""Characters of a text that are returned until someone asks for all of it."""
_STATE_CHARS = 400_000
_AT_ONCE = 500
"""Most steps that are read at a time."""
_INVESTIGATIONS = ("investigate", "answer")
"""The tools that begin and end an investigation."""


class PlainStep(TypedDict):
    """One action and its observation."""

    index: int
    tool: str
    """Empty: the reset, or an answer of the model that was no action."""
    arguments: Json
    thought: str
    observation: str
    ok: bool
    """Whether the tool could do what was asked."""
    state: Json
    """Where the program stands, as data: its `kind` says which keys it has."""
    env_ms: float
    model_ms: float
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_reasoning: int
    cost_usd: float | None
    milestones: list[str]
    distance: str
    """How near the step came to the fault: `line`, `function`, `file` or `elsewhere`; empty: at no place in code."""
    distance_lines: int | None
    """Lines to the nearest faulty line, in the same file."""
    investigation: int | None
    """The step that asked for the investigation that this step is part of, if any."""
    parent: int | None
    """The step that this one follows: for a `branch`, the step that it went back to. None for the reset."""


class StepRow(PlainStep):
    """One action and its observation. `exchanges` are present only if requested."""

    exchanges: NotRequired[list[Json]]


def _read_steps(engine: Engine, episode_id: int, query: Any) -> list[Row]:
    return blobs_of(engine, episode_id).complete(fetch(engine, query))


def steps(
    engine: Engine, episode_id: int, *, first: int = 0, limit: int | None = None, exchanges: bool = False
) -> list[StepRow]:
    """Return the steps of an episode from index `first` on, in order, with `exchanges` if asked. Index 0 is the reset.

    `investigation`: in a step that is part of an investigation, the index of the step that asked for it. `parent`: the
    step before, or the step that a `branch` went back to.
    """
    query = select(*_STEP_COLUMNS, *([_S.exchanges] if exchanges else [])).where(
        _S.episode_id == episode_id, _S.index >= first
    )
    rows: Any = _read_steps(engine, episode_id, query.order_by(_S.index).limit(limit))
    return _add_investigations(engine, episode_id, _add_parents(rows))


def steps_of(
    engine: Engine, run_id: int, episode_ids: Collection[int], *, exchanges: bool = False
) -> dict[int, list[StepRow]]:
    """Return the steps of several episodes of one run, as `steps` does: id of an episode -> its steps, maybe none.

    For readers of many episodes: it takes two statements for all of them, and holds all their steps in memory at once.
    """
    columns = [_S.episode_id, *_STEP_COLUMNS, *([_S.exchanges] if exchanges else [])]
    query = select(*columns).where(_S.episode_id.in_(episode_ids)).order_by(_S.episode_id, _S.index)
    rows_of: dict[int, list[Any]] = {episode_id: [] for episode_id in episode_ids}
    for row in BlobReader(engine, run_id).complete(fetch(engine, query)):
        rows_of[row.pop("episode_id")].append(row)
    for rows in rows_of.values():
        _mark_investigations(
            _add_parents(rows),
            [(row["index"], row["tool"]) for row in rows if row["ok"] and row["tool"] in _INVESTIGATIONS],
        )
    return rows_of


def texts_of(
    engine: Engine, run_id: int, episode_ids: Collection[int], *, index: int | None = None
) -> Iterator[tuple[int, int, tuple[str, Row, str]]]:
    """Yield episode, index, and (thought, arguments, observation) of the steps of several episodes of a run, in order.

    `index`: only the steps with this index.
    """
    columns = (_S.episode_id, _S.index, _S.thought, _S.arguments, _S.observation)
    query = select(*columns).where(_S.episode_id.in_(episode_ids)).order_by(_S.episode_id, _S.index)
    query = query if index is None else query.where(_S.index == index)
    for row in BlobReader(engine, run_id).complete(fetch(engine, query)):
        yield row["episode_id"], row["index"], (row["thought"], row["arguments"], row["observation"])


def _add_investigations(engine: Engine, episode_id: int, rows: list[Any]) -> list[Any]:
    """Add `investigation` to the rows of steps: set on those after a successful `investigate`, up to an `answer`."""
    query = select(_S.index, _S.tool).where(_S.episode_id == episode_id, _S.ok, _S.tool.in_(_INVESTIGATIONS))
    ends = [(row["index"], row["tool"]) for row in fetch(engine, query.order_by(_S.index))]
    return _mark_investigations(rows, ends)


def _mark_investigations(rows: list[Any], ends: list[tuple[int, str]]) -> list[Any]:
    asking_step: int | None = None
    for row in rows:
        while ends and ends[0][0] < row["index"]:
            index, tool = ends.pop(0)
            asking_step = index if tool == "investigate" else None
        row["investigation"] = asking_step
    return rows


def _add_parents(rows: list[Any]) -> list[Any]:
    """Add `parent` to the rows of whole steps."""
    for row in rows:
        row["parent"] = _parent(row["index"], row["state"])
    return rows


def _parent(index: int, state: Any) -> int | None:
    """Return the step that a step follows; None for the reset."""
    if isinstance(state, dict) and state.get("kind") == "branch":
        return int(state["at"])
    return index - 1 if index else None


def full_steps(engine: Engine, episode_id: int) -> Iterator[Row]:
    """Yield the steps of an episode with all their columns, in order; times are not converted."""
    blobs = blobs_of(engine, episode_id)
    first: int | None = 0
    while first is not None:
        query = select(STEP).where(_S.episode_id == episode_id, _S.index >= first)
        with open_connection(engine) as connection:
            rows = connection.execute(query.order_by(_S.index).limit(_AT_ONCE)).mappings().all()
        yield from blobs.complete([dict(row) for row in rows])
        first = rows[-1]["index"] + 1 if rows else None


def step_outline(engine: Engine, episode_id: int, *, first: int = 0, limit: int | None = 500) -> list[Row]:
    """Return the steps as a list and a timeline show them, in order.

    `arguments` is the beginning of the JSON, `thought` that of the text, 160 characters each. From the state come
    `file`, `line`, `function`, `depth`, `passed`, `failed`, `edited`, `path`: texts, or None. `changed`: the first line
    of code that the step changed in the workspace, as in a diff, else None. `investigation`, `parent`: as in `steps`.
    """
    column_names = (
        "index",
        "tool",
        "ok",
        "milestones",
        "distance",
        "distance_lines",
        "tokens_in",
        "tokens_out",
        "model_ms",
    )
    columns = [_S[name] for name in (*column_names, "arguments", "thought", "state")]
    query = select(*columns).where(_S.episode_id == episode_id, _S.index >= first)
    rows = fetch(engine, query.order_by(_S.index).limit(limit))
    blobs = blobs_of(engine, episode_id)
    names = ("file", "line", "function", "depth", "edited", "path")
    folded = [row.pop("state") for row in rows]
    states = [with_stop(state) for state in blobs.parts(folded, (*names, "tests", "kind", "diff", "at", KEY))]
    outline = []
    for row, state in zip(blobs.complete(rows), states, strict=True):
        tests = state.get("tests")
        state |= {name: tests.get(name) for name in ("passed", "failed")} if isinstance(tests, dict) else {}
        row |= {"arguments": json.dumps(row["arguments"])[:_OUTLINE_CHARS], "thought": row["thought"][:_OUTLINE_CHARS]}
        row |= {name: _shorten(state.get(name)) for name in (*names, "passed", "failed")}
        row["parent"] = _parent(row["index"], state)
        is_edit = state.get("diff") and state.get("kind") != "tests"  # what a run of the tests leaves behind is no edit
        outline.append(row | {"changed": _shorten(_first_change(state["diff"])) if is_edit else None})
    return _add_investigations(engine, episode_id, outline)


def _first_change(diff: Any) -> str | None:
    """Return the first line of a unified diff that was added, or else removed, and is neither blank nor a comment."""
    for kind in (r"^\+(?!\+\+ )", r"^-(?!-- )"):
        if match := re.search(rf"{kind}[ \t]*[^\s#].*", str(diff or ""), re.M):
            return f"{match[0][0]} {match[0][1:].strip()}"
    return None


def _shorten(value: Any) -> str | None:
    if value is None:
        return None
    return (value if isinstance(value, str) else json.dumps(value))[:_OUTLINE_CHARS]


def step(engine: Engine, episode_id: int, index: int, *, chars: int = CHARS) -> Row | None:
    """Return one step as `display_steps` does; None if there is none with this index."""
    return next(iter(display_steps(engine, episode_id, first=index, limit=1, chars=chars)), None)


def display_steps(engine: Engine, episode_id: int, *, first: int, limit: int, chars: int = CHARS) -> list[Row]:
    """Return the existing steps with the indexes `first` to `first + limit - 1`, in order.

    `thought` and `observation` are cut at `chars`; their full lengths are `thought_chars` and `observation_chars`.
    `arguments` is None if its JSON is longer than `chars`: `arguments_text` is the beginning of that JSON, and
    `arguments_chars` its length. A `state` of more than 400,000 characters is None.
    """
    has_exchanges = func.length(type_coerce(_S.exchanges, LargeBinary)) > 0
    query = select(*_STEP_COLUMNS, has_exchanges.label("asked")).where(_S.episode_id == episode_id)
    query = query.where(_S.index >= first, _S.index < first + limit).order_by(_S.index)
    rows = _read_steps(engine, episode_id, query)
    for row in rows:
        arguments = json.dumps(row["arguments"])
        for name in ("thought", "observation"):
            row |= {name: row[name][:chars], f"{name}_chars": len(row[name])}
        row |= {"arguments_text": arguments[:chars], "arguments_chars": len(arguments), "asked": bool(row["asked"])}
        row["parent"] = _parent(row["index"], row["state"])
        if len(arguments) > chars:
            row["arguments"] = None
        if len(json.dumps(row["state"])) > _STATE_CHARS:
            row["state"] = None
    return rows


def step_text(engine: Engine, episode_id: int, index: int, column: str, *, chars: int) -> str:
    """Return the first `chars` characters of a step's `thought`, `observation`, `arguments` or `exchanges` (JSON).

    Empty if there is no such step.
    """
    value = _read_column(engine, episode_id, index, column)
    return "" if value is None else (value if isinstance(value, str) else json.dumps(value))[:chars]


def exchanges(engine: Engine, episode_id: int, index: int) -> list[Row]:
    """Return the requests to models for one step and the answers; [] if there were none."""
    return _read_column(engine, episode_id, index, "exchanges") or []


def _read_column(engine: Engine, episode_id: int, index: int, column: str) -> Any:
    """Return a column of one step; None if there is no such step."""
    query = select(_S[column]).where(_S.episode_id == episode_id, _S.index == index)
    return next((row[column] for row in _read_steps(engine, episode_id, query)), None)


class EditRow(TypedDict):
    """A step that changed the workspace, whichever tool did it."""

    index: int
    tool: str
    kind: str
    """The kind of its state. `tests`: a run of the tests left files behind, which is no edit."""
    diff: str


def edits(engine: Engine, episode_id: int, last: int) -> list[EditRow]:
    """Return the steps up to `last` that changed files, in order; those that failed included."""
    query = select(_S.index, _S.tool, _S.state).where(_S.episode_id == episode_id, _S.index <= last)
    rows = fetch(engine, query.order_by(_S.index))
    states = blobs_of(engine, episode_id).parts([row["state"] for row in rows], ("diff", "kind"))
    return [
        {"index": row["index"], "tool": row["tool"], "kind": str(state.get("kind")), "diff": str(state["diff"])}
        for row, state in zip(rows, states, strict=True)
        if state.get("diff")
    ]


def branches(engine: Engine, episode_id: int) -> dict[int, int]:
    """Return the steps that went back to an earlier step: index -> index of that step."""
    query = select(_S.index, _S.state).where(_S.episode_id == episode_id, _S.ok, _S.tool == "branch")
    rows = fetch(engine, query.order_by(_S.index))
    states = blobs_of(engine, episode_id).parts([row["state"] for row in rows], ("kind", "at"))
    returns = zip(rows, states, strict=True)
    return {row["index"]: int(state["at"]) for row, state in returns if state.get("kind") == "branch"}


def last_step_with(engine: Engine, episode_id: int, index: int, *parts: str) -> Row | None:
    """Return the last step on the line to `index` whose state has one of these parts, such as `tests`."""
    blobs, at_once = blobs_of(engine, episode_id), 16
    for span in line_to(branches(engine, episode_id), index):
        last = span[-1]
        while last >= span.start:
            query = select(_S.index, _S.tool, _S.state).where(_S.episode_id == episode_id)
            query = query.where(_S.index.between(span.start, last)).order_by(_S.index.desc())
            rows = fetch(engine, query.limit(at_once))
            for row, state in zip(rows, blobs.parts([row["state"] for row in rows], parts), strict=True):
                if any(state.get(part) is not None for part in parts):
                    return blobs.complete([row])[0]
            last, at_once = rows[-1]["index"] - 1 if rows else -1, _AT_ONCE
    return None


def last_step(engine: Engine, episode_id: int) -> int | None:
    """Return the index of the last committed step; None before the first."""
    row = fetch_one(engine, select(func.max(_S.index).label("last")).where(_S.episode_id == episode_id))
    return None if row is None else row["last"]


def actions(engine: Engine, episode_id: int, *, limit: int = 5_000) -> list[Row]:
    """Return an episode's actions, to compare two episodes: index, tool, the beginning of the arguments' JSON, ok."""
    query = select(_S.index, _S.tool, _S.arguments, _S.ok).where(_S.episode_id == episode_id)
    rows = _read_steps(engine, episode_id, query.order_by(_S.index).limit(limit))
    return [row | {"arguments": json.dumps(row["arguments"])[:2_000]} for row in rows]


def task_files(engine: Engine, episode_id: int) -> dict[str, str]:
    """Return the small text files of the episode's task, as the agent first saw them. Raises `NotFound`."""
    query = select(TASK.c.files).join(EPISODE, EPISODE.c.task_id == TASK.c.id)
    row = fetch_one(engine, query.where(EPISODE.c.id == parse_id(episode_id)))
    if row is None:
        raise no_episode(episode_id)
    return dict(row["files"])


def count_model_steps(engine: Engine, episode_id: int) -> int:
    """Count the steps of an episode for which a model gave an answer."""
    query = select(func.count().label("n")).where(_S.episode_id == episode_id, _S.model_ms > 0)
    return int(fetch(engine, query)[0]["n"])
