"""The scope of a board, in one line and as JSON: every board, page, export and command describes it in this way."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from sqlalchemy import Engine

from stackrank.db.connection.errors import NO_RUN
from stackrank.db.queries.boards.pooling import PooledRun, explain_exclusion, fetch_conditions
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, Selection, fetch_entrants
from stackrank.db.queries.comparisons.stopping import runs_stopped_early
from stackrank.db.queries.reading import Json
from stackrank.db.totals.sums import Cells, total
from stackrank.db.writes import conditions
from stackrank.terms import ErrorsAre
from stackrank.wording import count_of, usd

_MAX_NAMED = 4
"""Up to this many runs, tasks or entrants are named one by one."""


class ScopeRun(TypedDict):
    """A run that a board is about. `date`: the day in UTC on which it was started."""

    run: int
    name: str
    status: str
    date: str


class ExcludedRuns(TypedDict):
    """Runs that a board is not about, and why they are not pooled with its own."""

    why: str
    runs: list[int]


class ScopeDescription(TypedDict):
    """What a board is about; `sentence` sums it all up.

    `version` is the digest of the benchmark. Of its `tasks` (without the invalid ones), `played_tasks` have a verdict
    on one of the `entrants`, the number of ranked ones, and `common_tasks` on all of them. `errors`: entrant ->
    episodes; `errors_are` says what they count as. `disputed_tasks` are disputed by people, and count unless
    `without_disputed` is set. `stopped`: the runs that left out episodes because their comparisons were decided.
    `provisional`: whether a run has not finished. `apart`: see `ExcludedRuns`.
    """

    sentence: str
    benchmark: str
    version: str
    conditions: Json
    conditions_digest: str
    series: str
    owner: str
    finished_only: bool
    provisional: bool
    runs: list[ScopeRun]
    tasks: int
    common_tasks: int
    played_tasks: int
    entrants: int
    errors_are: str
    errors: dict[str, int]
    invalid_tasks: list[str]
    invalid_episodes: int
    invalid_usd: float
    disputed_tasks: list[str]
    without_disputed: bool
    task_tag: str
    stopped: list[int]
    apart: list[ExcludedRuns]


def describe_scope(
    engine: Engine, scope: Scope = DEFAULT_SCOPE, *, entrants: Sequence[int] | None = None
) -> ScopeDescription:
    """Describe what a query with this scope is about. `entrants`: only these. Raises as `Scope.find` does."""
    selection = scope.find(engine)
    return describe(selection, selection.cells(entrants))


def describe(selection: Selection, cells: Mapping[int, Cells]) -> ScopeDescription:
    """Describe a selection, given the sums of the entrants that the query is about."""
    lead = selection.pooled[0] if selection.pooled else None
    conditions_by_digest = fetch_conditions(selection.engine, (*selection.pooled, *selection.excluded))
    entrant_rows = fetch_entrants(selection.engine, cells)
    competing = [entrant_id for entrant_id in cells if not entrant_rows[entrant_id]["reference"]] or list(cells)
    played = [{key for key, sums in cells[entrant_id].items() if sums.counted} for entrant_id in competing]
    errors = {entrant_rows[entrant_id]["name"]: total(cells[entrant_id].values()).errors for entrant_id in cells}
    invalid, invalid_sums = selection.invalid_sums
    document: ScopeDescription = {
        "sentence": "",
        "benchmark": lead.benchmark if lead else "",
        "version": lead.version if lead else "",
        "conditions": conditions_by_digest[lead.conditions_digest] if lead else {},
        "conditions_digest": lead.conditions_digest if lead else "",
        "series": selection.scope.series or "",
        "owner": selection.scope.owner or "",
        "finished_only": selection.scope.finished_only,
        "provisional": bool(selection.unfinished),
        "runs": [
            {"run": run.id, "name": run.name, "status": run.status, "date": _day(run)}
            for run in reversed(selection.pooled)
        ],
        "tasks": len(selection.tasks),
        "common_tasks": len(set.intersection(*played)) if played else 0,
        "played_tasks": len(set().union(*played)),
        "entrants": len(competing),
        "errors_are": selection.scope.errors,
        "errors": {name: count for name, count in sorted(errors.items()) if count},
        "invalid_tasks": invalid,
        "invalid_episodes": invalid_sums.done,
        "invalid_usd": invalid_sums.spent_usd,
        "disputed_tasks": sorted(
            {name for entrant_id, name in selection.disputed.items() if entrant_id in selection.played}
        ),
        "without_disputed": selection.scope.without_disputed,
        "task_tag": selection.scope.task_tag,
        "stopped": runs_stopped_early(selection.engine, [run.id for run in selection.pooled]),
        "apart": _group_excluded(selection, lead, conditions_by_digest),
    }
    document["sentence"] = _sentence(document) if lead else _nothing_sentence(selection.scope, document)
    return document


def _day(run: PooledRun) -> str:
    """Return the day on which the run was started, or else created, in UTC."""
    moment = run.started_at or run.created_at
    return f"{moment:%Y-%m-%d}" if moment else ""


def _group_excluded(
    selection: Selection, lead: PooledRun | None, conditions_by_digest: Mapping[str, Mapping[str, Any]]
) -> list[ExcludedRuns]:
    """Group the runs that are left out by the reason; the group with the newest run comes first."""
    reasons: dict[str, list[int]] = defaultdict(list)
    for run in selection.excluded:
        reasons[explain_exclusion(run, lead, conditions_by_digest) if lead else f"status {run.status}"].append(run.id)
    return [{"why": reason, "runs": run_ids[::-1]} for reason, run_ids in reasons.items()]


def _sentence(document: ScopeDescription) -> str:
    runs = document["runs"]
    days = sorted({run["date"] for run in runs} - {""})
    statuses = Counter(run["status"] for run in runs)
    status = ", ".join(statuses if len(statuses) == 1 else (f"{count} {name}" for name, count in statuses.items()))
    period = f", {days[0]} to {days[-1]}" if len(days) > 1 else f", {days[0]}" if days else ""
    error_counts = [f"{name} {count}" for name, count in document["errors"].items()]
    run_ids = _runs_text([run["run"] for run in runs])
    provisional = "Provisional: " if document["provisional"] else ""
    parts = [
        f"{provisional}{document['benchmark']} {document['version'][:8]}, {run_ids} ({status}{period})",
        f"{conditions.describe(document['conditions'])} (conditions {document['conditions_digest'][:8]})",
        _common_tasks_text(document),
        f"errors{_error_rule_text(document)}: {_list_text(error_counts)}" if document["errors"] else "no errors",
    ]
    if document["task_tag"]:
        parts.append(f"only tasks tagged {document['task_tag']}")
    if document["stopped"]:
        whose = "its" if len(document["stopped"]) == 1 else "their"
        rely = f"rely on {whose} own p-values and intervals, because those of leaderboards assume complete runs"
        parts.append(f"{_runs_text(document['stopped'])} stopped early: {rely}")
    if document["invalid_tasks"]:
        spent = f", {usd(document['invalid_usd'])}" if document["invalid_usd"] else ""
        episodes = f"{count_of(document['invalid_episodes'], 'episode')}{spent}"
        parts.append(f"invalid tasks are excluded: {_list_text(document['invalid_tasks'])} ({episodes})")
    if document["disputed_tasks"]:
        parts.append(f"disputed tasks, {_treatment(document)}: {_list_text(document['disputed_tasks'])}")
    return "; ".join(parts) + "."


def _treatment(document: ScopeDescription) -> str:
    return "excluded" if document["without_disputed"] else "still counted"


def _error_rule_text(document: ScopeDescription) -> str:
    return ", counted as failures" if document["errors_are"] == ErrorsAre.AS_FAILURES else ""


def _common_tasks_text(document: ScopeDescription) -> str:
    common, of = document["common_tasks"], document["tasks"]
    if not document["entrants"]:
        return "no episode has a verdict"
    entrants = document["entrants"]
    by = {1: "by the only entrant", 2: "by both entrants"}.get(entrants, f"by all {count_of(entrants, 'entrant')}")
    return f"{count_of(common, 'task')} played {by}, of {of:,} in the benchmark"


def _short_tasks_text(document: ScopeDescription) -> str:
    if not document["entrants"]:
        return "no episode has a verdict"
    common, played = document["common_tasks"], document["played_tasks"]
    return count_of(played, "task") + ("" if common == played else f" ({common:,} played by all)")


def _runs_text(ids: Sequence[int]) -> str:
    if len(ids) > _MAX_NAMED:
        return f"{count_of(len(ids), 'run')} ({min(ids)} to {max(ids)})"
    return f"{'run' if len(ids) == 1 else 'runs'} {', '.join(map(str, ids))}"


def _list_text(names: Sequence[str]) -> str:
    unnamed = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {unnamed} more" if unnamed > 0 else "")


def scope_in_short(document: ScopeDescription) -> str:
    """Return what a board is about in a few words, with everything that is not usual."""
    if not document["runs"]:
        return "No run"
    ids = sorted(run["run"] for run in document["runs"])
    disputed = document["disputed_tasks"]
    errors, apart = sum(document["errors"].values()), sum(len(excluded["runs"]) for excluded in document["apart"])
    parts = [
        "provisional" if document["provisional"] else "",
        document["benchmark"],
        f"runs {ids[0]}–{ids[-1]}" if 1 < len(ids) == ids[-1] - ids[0] + 1 else _runs_text(ids),
        f"only tasks tagged {document['task_tag']}" if document["task_tag"] else "",
        _short_tasks_text(document),
        count_of(document["entrants"], "entrant") if document["entrants"] else "",
        f"{count_of(errors, 'error')}{_error_rule_text(document) or ' excluded'}" if errors else "",
        f"{count_of(apart, 'run')} not included" if apart else "",
        f"{_runs_text(document['stopped'])} stopped early" if document["stopped"] else "",
        f"{count_of(len(document['invalid_tasks']), 'invalid task')} excluded" if document["invalid_tasks"] else "",
        f"{count_of(len(disputed), 'disputed task')} {_treatment(document)}" if disputed else "",
    ]
    return ", ".join(filter(None, parts))


def exclusion_sentence(document: ScopeDescription) -> str:
    """Return which runs the board leaves out, and why; empty if there are none."""
    if not document["apart"]:
        return ""
    parts = [f"{_runs_text(excluded['runs'])} ({excluded['why']})" for excluded in document["apart"]]
    return f"Not included: {'; '.join(parts[:_MAX_NAMED])}{_other_reasons_text(document['apart'][_MAX_NAMED:])}."


def _other_reasons_text(excluded_runs: Sequence[ExcludedRuns]) -> str:
    return (
        f"; and {count_of(sum(len(excluded['runs']) for excluded in excluded_runs), 'run')} for other reasons"
        if excluded_runs
        else ""
    )


def _nothing_sentence(scope: Scope, document: ScopeDescription) -> str:
    """Return why there is nothing to show."""
    filters = {"benchmark": scope.benchmark, "version": scope.version, "conditions": scope.conditions}
    filters |= {"series": scope.series, "owner": scope.owner}
    filters |= {"tags": ", ".join([scope.tags] if isinstance(scope.tags, str) else scope.tags)}
    description = ", ".join(f"{name} {value}" for name, value in filters.items() if value)
    return f"No run matches: {description}." if description else NO_RUN
