"""Finds episodes by a query of `db.search`, which may ask for texts in their steps."""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from sqlalchemy import Engine, false, func, not_, or_, select
from sqlalchemy.sql import ColumnElement

from stackrank.db.connection.transactions import ENTRANT, EPISODE, EPISODE_TOOL, RUN, TASK
from stackrank.db.connection.transactions import STEP as STEPS
from stackrank.db.queries.episodes.episodes import EpisodeSummary, episodes
from stackrank.db.queries.episodes.steps import texts_of
from stackrank.db.queries.labels import labelled
from stackrank.db.queries.runs import has_tag
from stackrank.db.search import MILESTONES, NAMES, NUMBERS, STEP, TEXT, Word, parse
from stackrank.terms import UNKNOWN

_E = EPISODE.c
_COLUMNS: Mapping[str, ColumnElement[Any]] = {
    "entrant": ENTRANT.c.name,
    "model": ENTRANT.c.model,
    "tools": ENTRANT.c.tools,
    "task": TASK.c.name,
    "category": TASK.c.category,
    "difficulty": TASK.c.difficulty,
    "run": RUN.c.name,
    "verdict": _E.verdict,
    "failure": _E.failure_point,
    "stop": _E.stop_reason,
    "steps": _E.steps,
    "cost": _E.cost_usd,
    "tokens": _E.tokens_in + _E.tokens_out,
    "seconds": _E.wall_s,
    "attempt": _E.attempt,
}
_COMPARED = {":": operator.eq, ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_AT_ONCE = 50
"""Episodes whose texts are read at once."""
_BEFORE, _AFTER = 30, 90
"""Characters of an excerpt before and after the text that was found."""


class Hit(TypedDict):
    """The first step of an episode that has the text, and the words around the text; or the step that was asked for."""

    step: int
    excerpt: str


class Found(TypedDict):
    """The result of a search.

    `hits`: episode -> its hit; empty if neither a text nor a step was asked for. `following`: the episode after which
    the search goes on; None if all have been searched.
    """

    episodes: list[EpisodeSummary]
    hits: dict[int, Hit]
    looked_at: int
    following: int | None


def search(
    engine: Engine,
    /,
    query: str,
    run: int | str | None = None,
    *,
    limit: int = 100,
    after: int | None = None,
    seconds: float | None = None,
    **filters: Any,
) -> Found:
    """Return the episodes that `episodes` finds with these filters and that match the query.

    Texts are searched for in thoughts, arguments and observations, ignoring case. They are stored compressed and only
    once in a run, so the search reads episode after episode until there are `limit` hits, or `seconds` have passed.
    Raises `UsageError` for an invalid query, and `NotFound` for an unknown run.
    """
    words = parse(query)
    where = [_condition(engine, word) for word in words if word.field != TEXT]
    texts = [word for word in words if word.field == TEXT]
    at = next((int(word.values[0]) for word in words if word.field == STEP and not word.negated), None)
    found: Found = {"episodes": [], "hits": {}, "looked_at": 0, "following": None}
    end = None if seconds is None else time.monotonic() + seconds
    while len(found["episodes"]) < limit and (end is None or not found["looked_at"] or time.monotonic() < end):
        size = _AT_ONCE if texts else limit - len(found["episodes"])
        part = episodes(engine, run, **filters, where=where, after=after, limit=size + 1)
        more = len(part) > size
        kept, hits = _with_texts(engine, part[:size], texts)
        hits |= {} if at is None else _at(engine, kept, at)
        room = limit - len(found["episodes"])
        found["episodes"] += kept[:room]
        found["hits"] |= hits
        found["looked_at"] += len(part[:size])
        cut = len(kept) > room
        found["following"] = after = kept[room - 1]["id"] if cut else part[size - 1]["id"] if more else None
        if after is None:
            break
    return found


def hits_in(engine: Engine, run_id: int, episode_id: int, text: str) -> list[Hit]:
    """Return the steps of one episode that have the text, in order, and the words around it. Case is ignored."""
    found = (
        _first([(index, "\n".join(_strings(parts)))], [text])
        for _, index, parts in texts_of(engine, run_id, [episode_id])
    )
    return [hit for hit in found if hit is not None]


def _condition(engine: Engine, word: Word) -> ColumnElement[bool]:
    found = _holds(engine, word)
    # A condition on an unknown value (NULL) does not hold, so its negation does.
    return not_(func.coalesce(found, false())) if word.negated else found


def _holds(engine: Engine, word: Word) -> ColumnElement[bool]:
    if word.field in MILESTONES:
        return _E[f"at_{word.field}"].is_not(None)
    if word.field == "tool":
        return _E.id.in_(select(EPISODE_TOOL.c.episode_id).where(EPISODE_TOOL.c.tool.in_(word.values)))
    if word.field == "label":
        return labelled(engine, word.values)
    if word.field == STEP:
        # The step of each episode is looked up by the primary key.
        return select(STEPS.c.index).where(STEPS.c.episode_id == _E.id, STEPS.c.index == int(word.values[0])).exists()
    if word.field == "tag":
        return or_(*(has_tag(engine, tag, _E.tags) for tag in word.values))
    column = _COLUMNS[word.field]
    if word.field in NAMES:
        return or_(*(column.icontains(value, autoescape=True) for value in word.values))
    if word.field in NUMBERS:
        return or_(*(_COMPARED[word.op](column, float(value)) for value in word.values))
    if word.field == "failure":
        unlabelled = (_E.verdict == "unresolved") & (column == "")
        known = column.in_([value for value in word.values if value != UNKNOWN])
        return or_(known, unlabelled) if UNKNOWN in word.values else known
    return column.in_(word.values)


def _by_run(found: Iterable[EpisodeSummary]) -> dict[int, list[int]]:
    by_run: dict[int, list[int]] = {}
    for row in found:
        by_run.setdefault(row["run_id"], []).append(row["id"])
    return by_run


def _at(engine: Engine, found: Iterable[EpisodeSummary], index: int) -> dict[int, Hit]:
    """Return the beginning of what each of the episodes saw at one step."""
    return {
        episode_id: {"step": step, "excerpt": " ".join(seen[:400].split())[: _BEFORE + _AFTER]}
        for run_id, ids in _by_run(found).items()
        for episode_id, step, (_, _, seen) in texts_of(engine, run_id, ids, index=index)
    }


def _with_texts(
    engine: Engine, found: Sequence[EpisodeSummary], texts: Sequence[Word]
) -> tuple[list[EpisodeSummary], dict[int, Hit]]:
    """Return the episodes that match the query's words about texts, and the first hit in each."""
    if not texts:
        return list(found), {}
    hits: dict[int, Hit] = {}
    kept = set()
    for run_id, ids in _by_run(found).items():
        steps: dict[int, list[tuple[int, str]]] = {each: [] for each in ids}
        for episode_id, index, parts in texts_of(engine, run_id, ids):
            steps[episode_id].append((index, "\n".join(_strings(parts))))
        for episode_id, said in steps.items():
            seen = [(word, _first(said, word.values)) for word in texts]
            if all((hit is None) == word.negated for word, hit in seen):
                kept.add(episode_id)
                if first := next((hit for _, hit in seen if hit is not None), None):
                    hits[episode_id] = first
    return [row for row in found if row["id"] in kept], hits


def _first(said: Iterable[tuple[int, str]], wanted: Sequence[str]) -> Hit | None:
    for index, text in said:
        low = text.lower()
        places = [low.find(value.lower()) for value in wanted]
        if found := [(place, value) for place, value in zip(places, wanted, strict=True) if place >= 0]:
            place, value = min(found)
            # A few letters get longer in lower case; the excerpt is then taken from the lower-case text.
            whole = text if len(text) == len(low) else low
            excerpt = whole[max(0, place - _BEFORE) : place + len(value) + _AFTER]
            return {"step": index, "excerpt": " ".join(excerpt.split())}
    return None


def _strings(value: Any) -> Iterator[str]:
    """Yield all strings in JSON, except the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)
