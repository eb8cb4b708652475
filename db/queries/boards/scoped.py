"""What a board is about, in one line and as JSON. Every board, page, export and command says it in this way."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine

from stackrank.db import rows
from stackrank.db.connection.errors import NO_RUN
from stackrank.db.queries.boards.pooling import PooledRun, conditions_of, why_apart
from stackrank.db.queries.boards.scope import EVERYTHING, Scope, Selection, entrants_of
from stackrank.db.queries.comparisons.stopping import ended_early
from stackrank.db.totals.sums import Cells, total
from stackrank.db.writes import conditions
from stackrank.terms import ErrorsAre

_MOST_NAMED = 4
"""Up to this many runs, tasks or entrants are named one by one."""


def scope_of(engine: Engine, scope: Scope = EVERYTHING, *, entrants: Sequence[int] | None = None) -> rows.Scoped:
    """Describe what a query with this scope is about. `entrants`: only these. Raises as `Scope.find` does."""
    selection = scope.find(engine)
    return describe(selection, selection.cells(entrants))


def describe(selection: Selection, cells: Mapping[int, Cells]) -> rows.Scoped:
    """Describe a selection, given the sums of the entrants that the query is about."""
    lead = selection.pooled[0] if selection.pooled else None
    known = conditions_of(selection.engine, (*selection.pooled, *selection.apart))
    about = entrants_of(selection.engine, cells)
    competing = [one for one in cells if not about[one]["reference"]] or list(cells)
    played = [{key for key, sums in cells[one].items() if sums.counted} for one in competing]
    errors = {about[one]["name"]: total(cells[one].values()).errors for one in cells}
    invalid, aside = selection.set_aside
    document: rows.Scoped = {
        "sentence": "",
        "benchmark": lead.benchmark if lead else "",
        "version": lead.version if lead else "",
        "conditions": known[lead.conditions_digest] if lead else {},
        "conditions_digest": lead.conditions_digest if lead else "",
        "series": selection.scope.series or "",
        "finished_only": selection.scope.finished_only,
        "runs": [
            {"run": run.id, "name": run.name, "status": run.status, "date": _day(run)}
            for run in reversed(selection.pooled)
        ],
        "tasks": len(selection.tasks),
        "common_tasks": len(set.intersection(*played)) if played else 0,
        "entrants": len(competing),
        "errors_are": selection.scope.errors,
        "errors": {name: count for name, count in sorted(errors.items()) if count},
        "invalid_tasks": invalid,
        "invalid_episodes": aside.done,
        "invalid_usd": aside.spent_usd,
        "disputed_tasks": sorted({name for one, name in selection.disputed.items() if one in selection.played}),
        "without_disputed": selection.scope.without_disputed,
        "stopped": ended_early(selection.engine, [run.id for run in selection.pooled]),
        "apart": _apart(selection, lead, known),
    }
    document["sentence"] = _sentence(document) if lead else _nothing(selection.scope, document)
    return document


def _day(run: PooledRun) -> str:
    """Return the day on which the run was started, or else created, in UTC."""
    moment = run.started_at or run.created_at
    return f"{moment:%Y-%m-%d}" if moment else ""


def _apart(selection: Selection, lead: PooledRun | None, known: Mapping[str, Mapping[str, Any]]) -> list[rows.Apart]:
    """Group the runs that are left out by the reason; the group with the newest run comes first."""
    reasons: dict[str, list[int]] = defaultdict(list)
    for run in selection.apart:
        reasons[why_apart(run, lead, known) if lead else f"not finished but {run.status}"].append(run.id)
    return [{"why": why, "runs": found[::-1]} for why, found in reasons.items()]


def _sentence(document: rows.Scoped) -> str:
    found = document["runs"]
    days = sorted({run["date"] for run in found} - {""})
    statuses = Counter(run["status"] for run in found)
    status = ", ".join(statuses if len(statuses) == 1 else (f"{count} {name}" for name, count in statuses.items()))
    when = f", {days[0]} to {days[-1]}" if len(days) > 1 else f", {days[0]}" if days else ""
    parts = [
        f"{document['benchmark']} {document['version'][:8]}, {_runs([run['run'] for run in found])} ({status}{when})",
        f"conditions {document['conditions_digest'][:8]}: {conditions.describe(document['conditions'])}",
        _common(document),
        f"errors{_counted_as(document)}: {_listed([f'{name} {count}' for name, count in document['errors'].items()])}"
        if document["errors"]
        else "no errors",
    ]
    if document["stopped"]:
        whose = "its" if len(document["stopped"]) == 1 else "their"
        rely = f"rely on {whose} own p-values and intervals, because those of leaderboards assume complete runs"
        parts.append(f"{_runs(document['stopped'])} stopped early: {rely}")
    if document["invalid_tasks"]:
        spent = f", ${document['invalid_usd']:.2f}" if document["invalid_usd"] else ""
        episodes = f"{document['invalid_episodes']} episodes{spent}"
        parts.append(f"invalid tasks count nowhere: {_listed(document['invalid_tasks'])} ({episodes})")
    if document["disputed_tasks"]:
        what = "left out" if document["without_disputed"] else "counted all the same"
        parts.append(f"disputed by people, {what}: {_listed(document['disputed_tasks'])}")
    return "; ".join(parts) + "."


def _counted_as(document: rows.Scoped) -> str:
    return ", counted as failures" if document["errors_are"] == ErrorsAre.AS_FAILURES else ""


def _common(document: rows.Scoped) -> str:
    common, of = document["common_tasks"], document["tasks"]
    if not document["entrants"]:
        return "no episode has a verdict"
    by = "by the one entrant" if document["entrants"] == 1 else f"by all {document['entrants']} entrants"
    return f"{common} of {of} {'task' if of == 1 else 'tasks'} played {by}"


def _runs(ids: Sequence[int]) -> str:
    if len(ids) > _MOST_NAMED:
        return f"{len(ids)} runs ({min(ids)} to {max(ids)})"
    return f"{'run' if len(ids) == 1 else 'runs'} {', '.join(map(str, ids))}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def apart_sentence(document: rows.Scoped) -> str:
    """Say which runs the board leaves out, and why; empty if there are none."""
    if not document["apart"]:
        return ""
    parts = [f"{each['why']}: {_runs(each['runs'])}" for each in document["apart"]]
    return f"Not in it: {'; '.join(parts[:_MOST_NAMED])}{_more(document['apart'][_MOST_NAMED:])}."


def _more(left: Sequence[rows.Apart]) -> str:
    return f"; for other reasons: {sum(len(each['runs']) for each in left)} runs" if left else ""


def _nothing(scope: Scope, document: rows.Scoped) -> str:
    """Say why there is nothing to show."""
    asked = {"benchmark": scope.benchmark, "version": scope.version, "conditions": scope.conditions}
    asked |= {"series": scope.series, "tags": ", ".join([scope.tags] if isinstance(scope.tags, str) else scope.tags)}
    said = ", ".join(f"{name} {value}" for name, value in asked.items() if value)
    if document["apart"]:
        left_out = _runs([run for each in document["apart"] for run in each["runs"]])
        return f"No run {f'of {said} ' if said else ''}has finished; --all (on pages Runs: All) counts {left_out} too."
    return f"No run matches: {said}." if said else NO_RUN
