"""Finds runs, tasks, entrants and episodes by any part of their names, or episodes by a query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypedDict

from sqlalchemy import Engine, and_, func, or_, select
from sqlalchemy.sql import ColumnElement

from stackrank.db.connection.transactions import BENCHMARK, ENTRANT, EPISODE, RUN, TASK
from stackrank.db.queries.episodes.episodes import EpisodeSummary, episodes
from stackrank.db.queries.episodes.search import search
from stackrank.db.queries.reading import fetch
from stackrank.db.search import STEP, TEXT, parse
from stackrank.storable import storable_text
from stackrank.terms import EpisodeStatus
from stackrank.wording import words

MOST = 5
"""So many of each kind are found."""
_QUERY = re.compile(r"^-|[:<>]")
_E = EPISODE.c


class Place(TypedDict):
    """Something that has a page: its name, what it is, and the page with its query."""

    name: str
    about: str
    page: str
    query: dict[str, Any]


def find_places(engine: Engine, text: str) -> list[Place]:
    """Return the newest tasks, entrants, runs and episodes whose names have every word of a text, ignoring case.

    The words of an episode may be spread over the names of its task, its entrant and its run. A text in the language of
    `db.search` finds episodes; if it asks for texts in steps, nothing is found, because no steps are read here. Raises
    `UsageError` for a query without a meaning.
    """
    text = storable_text(text).strip()
    if not text:
        return []
    if _QUERY.search(text):
        if any(word.field in (TEXT, STEP) for word in parse(text)):
            return []
        return [_episode(row) for row in search(engine, text, limit=MOST, newest_first=True)["episodes"]]
    parts = text.split()
    return [*_tasks(engine, parts), *_entrants(engine, parts), *_runs(engine, parts), *_episodes(engine, parts)]


def _has(columns: Sequence[ColumnElement[Any]], part: str) -> ColumnElement[bool]:
    return or_(*(column.icontains(part, autoescape=True) for column in columns))


def _exact_first(name: ColumnElement[Any], parts: Sequence[str]) -> ColumnElement[Any]:
    return (func.lower(name) == " ".join(parts).lower()).desc()


def _all(columns: Sequence[ColumnElement[Any]], parts: Sequence[str]) -> ColumnElement[bool]:
    return and_(*(_has(columns, part) for part in parts))


def _tasks(engine: Engine, parts: Sequence[str]) -> list[Place]:
    """Find tasks, of each name the newest version."""
    newest = func.max(TASK.c.id).label("id")
    query = select(TASK.c.name, BENCHMARK.c.name.label("benchmark"), newest).join(BENCHMARK)
    query = query.where(_all((TASK.c.name, TASK.c.title, BENCHMARK.c.name), parts))
    rows = fetch(
        engine,
        query.group_by(TASK.c.name, BENCHMARK.c.name)
        .order_by(_exact_first(TASK.c.name, parts), newest.desc())
        .limit(MOST),
    )
    return [
        {"name": row["name"], "about": f"task of {row['benchmark']}", "page": "task", "query": {"id": row["id"]}}
        for row in rows
    ]


def _entrants(engine: Engine, parts: Sequence[str]) -> list[Place]:
    query = select(ENTRANT.c.name, ENTRANT.c.id).where(_all((ENTRANT.c.name, ENTRANT.c.model), parts))
    rows = fetch(engine, query.order_by(_exact_first(ENTRANT.c.name, parts), ENTRANT.c.id.desc()).limit(MOST))
    return [
        {
            "name": row["name"],
            "about": "entrant",
            "page": "episodes",
            "query": {"ep_query": f'entrant:"{row["name"].replace(chr(34), "")}"'},
        }
        for row in rows
    ]


def _runs(engine: Engine, parts: Sequence[str]) -> list[Place]:
    columns = (RUN.c.name, RUN.c.leaderboard, RUN.c.schedule, RUN.c.owner, RUN.c.project, BENCHMARK.c.name)
    query = select(RUN.c.id, RUN.c.name, RUN.c.status).join(BENCHMARK, RUN.c.benchmark_id == BENCHMARK.c.id)
    rows = fetch(
        engine, query.where(_all(columns, parts)).order_by(_exact_first(RUN.c.name, parts), RUN.c.id.desc()).limit(MOST)
    )
    return [
        {"name": row["name"], "about": f"run {row['id']}, {row['status']}", "page": "run", "query": {"id": row["id"]}}
        for row in rows
    ]


def _episodes(engine: Engine, parts: Sequence[str]) -> list[Place]:
    tables = ((TASK, _E.task_id), (ENTRANT, _E.entrant_id), (RUN, _E.run_id))
    conditions = [
        or_(*(key.in_(select(table.c.id).where(_has((table.c.name,), part))) for table, key in tables))
        for part in parts
    ]
    conditions.append(_E.status != EpisodeStatus.PENDING)
    found = episodes(engine, extra_conditions=conditions, newest_first=True, limit=MOST)
    return [_episode(row) for row in found]


def _episode(row: EpisodeSummary) -> Place:
    verdict = words(row["verdict"] or row["status"])
    return {
        "name": f"{row['task']}: {row['entrant']}",
        "about": f"episode {row['id']} of run {row['run_id']}, {verdict}",
        "page": "episode",
        "query": {"id": row["id"]},
    }
