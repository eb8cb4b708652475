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
from stackrank.db.queries.episodes.episodes import EpisodeSummary, count_episodes, episodes
from stackrank.db.queries.episodes.steps import texts_of
from stackrank.db.queries.labels import has_label
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
_OPERATORS = {":": operator.eq, ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_BATCH = 50
"""Episodes whose texts are read at once."""
_CHARS_BEFORE, _CHARS_AFTER = 60, 90
"""The most characters of an excerpt before and after the text that was found."""


class Hit(TypedDict):
    """The first step of an episode that has the text, and the line around the text; or the step that was asked for.

    Step 0, which every episode of a task begins with, is a hit only if no later step has the text.
    """

    step: int
    excerpt: str


class SearchResult(TypedDict):
    """The result of a search.

    `hits`: episode -> its hit; empty if neither a text nor a step was asked for. `following`: the episode after which
    to continue the search; None if all have been searched.
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
    after_id: int | None = None,
    seconds: float | None = None,
    **filters: Any,
) -> SearchResult:
    """Return the episodes that `episodes` finds with these filters and that match the query.

    Texts are searched for in thoughts, arguments and observations, ignoring case. They are stored compressed and only
    once in a run, so the search reads episode after episode until there are `limit` hits, or `seconds` have passed. The
    reset, which is the same in all episodes of a task, is searched only if the query asks for step 0.
    Raises `UsageError` for an invalid query, and `NotFound` for an unknown run.
    """
    words = parse(query)
    conditions = [_condition(engine, word) for word in words if word.field != TEXT]
    texts = [word for word in words if word.field == TEXT]
    step_index = next((int(word.values[0]) for word in words if word.field == STEP and not word.negated), None)
    result: SearchResult = {"episodes": [], "hits": {}, "looked_at": 0, "following": None}
    deadline = None if seconds is None else time.monotonic() + seconds
    while len(result["episodes"]) < limit and (
        deadline is None or not result["looked_at"] or time.monotonic() < deadline
    ):
        size = _BATCH if texts else limit - len(result["episodes"])
        batch = episodes(engine, run, **filters, extra_conditions=conditions, after_id=after_id, limit=size + 1)
        has_more = len(batch) > size
        matches, hits = _match_texts(engine, batch[:size], texts, first_step=0 if step_index == 0 else 1)
        hits |= {} if step_index is None else _hits_at_step(engine, matches, step_index)
        room = limit - len(result["episodes"])
        result["episodes"] += matches[:room]
        result["hits"] |= hits
        result["looked_at"] += len(batch[:size])
        is_full = len(matches) > room
        result["following"] = after_id = (
            matches[room - 1]["id"] if is_full else batch[size - 1]["id"] if has_more else None
        )
        if after_id is None:
            break
    return result


def asks_for_text(query: str) -> bool:
    """Whether a query asks for a text, so that only a search can tell how many episodes it finds."""
    return any(word.field == TEXT for word in parse(query))


def count_matches(
    engine: Engine, /, query: str, run: int | str | None = None, *, before_id: int | None = None, **filters: Any
) -> int:
    """Count all episodes that `search` finds, or looks through if the query asks for texts.

    `before_id`: count only episodes with smaller ids. `filters`: as `episode_conditions` takes them. Raises as `search`
    does.
    """
    conditions = [_condition(engine, word) for word in parse(query) if word.field != TEXT]
    conditions += [] if before_id is None else [_E.id < before_id]
    return count_episodes(engine, run, **filters, extra_conditions=conditions)


def find_hits(engine: Engine, run_id: int, episode_id: int, text: str) -> list[Hit]:
    """Return the steps of one episode that have the text, in order, and the words around it. Case is ignored."""
    hits = (
        _first_hit([(index, "\n".join(_iterate_strings(parts)))], [text])
        for _, index, parts in texts_of(engine, run_id, [episode_id])
    )
    return [hit for hit in hits if hit is not None]


def _condition(engine: Engine, word: Word) -> ColumnElement[bool]:
    condition = _positive_condition(engine, word)
    # A condition on an unknown value (NULL) does not hold, so its negation does.
    return not_(func.coalesce(condition, false())) if word.negated else condition


def _positive_condition(engine: Engine, word: Word) -> ColumnElement[bool]:
    if word.field in MILESTONES:
        return _E[f"at_{word.field}"].is_not(None)
    if word.field == "tool":
        return _E.id.in_(select(EPISODE_TOOL.c.episode_id).where(EPISODE_TOOL.c.tool.in_(word.values)))
    if word.field == "label":
        return has_label(engine, word.values)
    if word.field == STEP:
        # The step of each episode is looked up by the primary key.
        return select(STEPS.c.index).where(STEPS.c.episode_id == _E.id, STEPS.c.index == int(word.values[0])).exists()
    if word.field == "tag":
        return or_(*(has_tag(engine, tag, _E.tags) for tag in word.values))
    column = _COLUMNS[word.field]
    if word.field in NAMES:
        return or_(*(column.icontains(value, autoescape=True) for value in word.values))
    if word.field in NUMBERS:
        return or_(*(_OPERATORS[word.op](column, float(value)) for value in word.values))
    if word.field == "failure":
        unlabelled = (_E.verdict == "unresolved") & (column == "")
        has_failure_point = column.in_([value for value in word.values if value != UNKNOWN])
        return or_(has_failure_point, unlabelled) if UNKNOWN in word.values else has_failure_point
    return column.in_(word.values)


def _by_run(episode_rows: Iterable[EpisodeSummary]) -> dict[int, list[int]]:
    by_run: dict[int, list[int]] = {}
    for row in episode_rows:
        by_run.setdefault(row["run_id"], []).append(row["id"])
    return by_run


def _hits_at_step(engine: Engine, episode_rows: Iterable[EpisodeSummary], index: int) -> dict[int, Hit]:
    """Return the beginning of what each of the episodes saw at one step."""
    return {
        episode_id: {"step": step, "excerpt": " ".join(observation[:400].split())[: _CHARS_BEFORE + _CHARS_AFTER]}
        for run_id, ids in _by_run(episode_rows).items()
        for episode_id, step, (_, _, observation) in texts_of(engine, run_id, ids, index=index)
    }


def _match_texts(
    engine: Engine, episode_rows: Sequence[EpisodeSummary], texts: Sequence[Word], *, first_step: int
) -> tuple[list[EpisodeSummary], dict[int, Hit]]:
    """Return the episodes that match the query's words about texts, and the first hit in each."""
    if not texts:
        return list(episode_rows), {}
    hits: dict[int, Hit] = {}
    matching_ids = set()
    for run_id, ids in _by_run(episode_rows).items():
        steps: dict[int, list[tuple[int, str]]] = {episode_id: [] for episode_id in ids}
        for episode_id, index, parts in texts_of(engine, run_id, ids):
            if index >= first_step:
                steps[episode_id].append((index, "\n".join(_iterate_strings(parts))))
        for episode_id, step_texts in steps.items():
            word_hits = [(word, _first_hit(step_texts, word.values)) for word in texts]
            if all((hit is None) == word.negated for word, hit in word_hits):
                matching_ids.add(episode_id)
                if first := next((hit for _, hit in word_hits if hit is not None), None):
                    hits[episode_id] = first
    return [row for row in episode_rows if row["id"] in matching_ids], hits


def _first_hit(step_texts: Iterable[tuple[int, str]], phrases: Sequence[str]) -> Hit | None:
    for index, text in step_texts:
        low = text.lower()
        places = [low.find(value.lower()) for value in phrases]
        if matches := [(place, value) for place, value in zip(places, phrases, strict=True) if place >= 0]:
            place, value = min(matches)
            # A few letters get longer in lower case; the excerpt is then taken from the lower-case text.
            source = text if len(text) == len(low) else low
            return {"step": index, "excerpt": _excerpt(source, place, place + len(value))}
    return None


def _excerpt(text: str, first: int, end: int) -> str:
    """Return the line around a part of a text; a long line is cut between words, where … stands for the rest."""
    line_start = text.rfind("\n", 0, first) + 1
    line_end = found if (found := text.find("\n", end)) >= 0 else len(text)
    before, after = text[line_start:first].lstrip(), text[end:line_end].rstrip()
    if len(before) > _CHARS_BEFORE:
        before = f"… {before[-_CHARS_BEFORE:].partition(' ')[2]}"
    if len(after) > _CHARS_AFTER:
        after = f"{after[:_CHARS_AFTER].rpartition(' ')[0]} …"
    return " ".join(f"{before}{text[first:end]}{after}".split())


def _iterate_strings(value: Any) -> Iterator[str]:
    """Yield all strings in JSON, except the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _iterate_strings(part)
