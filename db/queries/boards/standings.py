"""Who is better: leaderboards and the summary of a run. Everything comes from totals on episode rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import eq
from typing import Any, TypedDict

from sqlalchemy import Engine, case, func, select

from stackrank.db import stats
from stackrank.db.connection.transactions import EPISODE
from stackrank.db.queries.boards.ranking import error_warnings, rank_entrants
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, Selection, fetch_entrants
from stackrank.db.queries.boards.scope_description import ScopeDescription, describe
from stackrank.db.queries.catalogue import EntrantRow
from stackrank.db.queries.comparisons.claims import claim
from stackrank.db.queries.comparisons.stopping import stopping
from stackrank.db.queries.reading import Row, fetch_tuples
from stackrank.db.queries.runs import run as find_run
from stackrank.db.totals.sums import Cells, Sums, total
from stackrank.db.totals.tallies import share_of_faults
from stackrank.terms import Verdict
from stackrank.wording import usd

_E = EPISODE.c
_SUMMARY = (
    *("entrant", "agent", "model", "tools", "episodes", "resolved", "sealed", "unverified", "unresolved", "errors"),
    *(
        "rate",
        "ci_low",
        "ci_high",
        "steps_mean",
        "tokens_in",
        "tokens_out",
        "cost_usd",
        "reference",
        "faults_mended",
        "faults",
    ),
)


class Standing(TypedDict):
    """An entrant on a leaderboard. `reference`: it is not ranked, but shown beside the others.

    Means, tokens, `cost_per_episode` and `cost_per_resolved` are over resolved and unresolved episodes; `cost_usd` is
    all that was spent, on errors and repeated tries too. A cost is None if a price is unknown, `rate` and its interval
    if nothing was counted. `rate` is the mean share of mended faults; a task with one fault is resolved or not.
    `faults_mended` of `faults` count those of every episode. `all_attempts_rate`: share of the tasks of which every
    attempt was resolved. `tasks` of `tasks_total` were counted; each weighs the same in the rate. Ranks are ranges,
    because entrants tie if their paired difference may be chance.
    """

    entrant_id: int
    entrant: str
    agent: str
    agent_version: str
    model: str
    tools: str
    reference: bool
    episodes: int
    resolved: int
    sealed: int
    unverified: int
    unresolved: int
    errors: int
    rate: float | None
    ci_low: float | None
    ci_high: float | None
    faults_mended: int
    faults: int
    all_attempts_rate: float | None
    steps_mean: float | None
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    cost_per_episode: float | None
    cost_per_resolved: float | None
    cost_per_resolved_low: float | None
    cost_per_resolved_high: float | None
    wall_mean_s: float | None
    tasks: int
    tasks_total: int
    rank_low: int | None
    rank_high: int | None


class RankedStanding(Standing):
    """A row of a leaderboard. `apart`: why it has no rank; empty for the ranked. `partial`: a warning that its rate is
    over tasks that are easier or harder than the whole board, else empty. `rate_errors_fail`, `rate_errors_pass`: the
    rate if all errors were failures, or successes. `warning`: a warning that its errors may mislead, else empty.
    `errors_by_class`: {machine, endpoint, environment, ours: episodes}; a class without episodes is left out.
    """

    apart: str
    partial: str
    rate_errors_fail: float | None
    rate_errors_pass: float | None
    warning: str
    errors_by_class: dict[str, int]


class Board(TypedDict):
    """A leaderboard: what it is about, the entrants by rank, and below the line the entrants that are not ranked."""

    scope: ScopeDescription
    entrants: list[RankedStanding]
    reference: list[RankedStanding]


def board(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> Board:
    """Return a leaderboard as a document: its scope, the entrants by rank, and those that are not ranked."""
    selection = scope.find(engine)
    rows = ranked_rows(selection)
    return {
        "scope": describe(selection, selection.cells()),
        "entrants": [row for row in rows if not row["reference"]],
        "reference": [row for row in rows if row["reference"]],
    }


def leaderboard(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> list[RankedStanding]:
    """Return a row per entrant, best rank first, unranked entrants last; empty if nothing was played.

    Ranks come from paired differences (`rank_entrants`). They and the rates are over the tasks that the ranked
    entrants have in common.
    """
    return ranked_rows(scope.find(engine))


def ranked_rows(selection: Selection) -> list[RankedStanding]:
    """Return the rows of `leaderboard` for a selection."""
    cells = selection.cells()
    task_count = len({key for tasks in cells.values() for key, sums in tasks.items() if sums.done})
    entrant_rows = fetch_entrants(selection.engine, cells)
    competing = {entrant_id: tasks for entrant_id, tasks in cells.items() if not entrant_rows[entrant_id]["reference"]}
    ranking, warnings = rank_entrants(competing), error_warnings(competing)
    rows: list[RankedStanding] = []
    for entrant_id, entrant in entrant_rows.items():
        tasks = ranking.board_cells(entrant_id, cells[entrant_id])
        ranks, bounds = ranking.ranks.get(entrant_id), stats.error_bounds([sums.outcome for sums in tasks.values()])
        row, all_sums = build_standing(entrant, tasks, task_count), total(cells[entrant_id].values())
        rows.append(
            {
                **row,
                # Errors and costs are over all tasks, even if the rates are over some of them.
                "errors": all_sums.errors,
                "episodes": row["resolved"] + row["unresolved"] + all_sums.errors,
                "cost_usd": total_cost(all_sums),
                "rank_low": ranks[0] if ranks else None,
                "rank_high": ranks[1] if ranks else None,
                "apart": ranking.unranked.get(entrant_id, ""),
                "partial": ranking.partial_warnings.get(entrant_id, ""),
                "rate_errors_fail": bounds[0] if bounds else None,
                "rate_errors_pass": bounds[1] if bounds else None,
                "warning": warnings.get(entrant_id, ""),
                "errors_by_class": all_sums.errors_by_class,
            }
        )
    return sorted(rows, key=lambda row: _sort_key(row, ranking.leads.get(row["entrant_id"], 0.0)))


def has_several_faults(row: Mapping[str, Any]) -> bool:
    """Whether some tasks of a row have several faults, so that its rate is a share of mended faults."""
    return bool(row["faults"] > row["resolved"] + row["unresolved"])


MENDED, RESOLVED = "Mended faults", "Resolved"
"""What rates are about, as axes and figures call it."""


def outcome_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return what the rates of these rows are about: MENDED if one of them has tasks with several faults."""
    return MENDED if any("faults" in row and has_several_faults(row) for row in rows) else RESOLVED


def best_per_dollar(board: Sequence[Mapping[str, Any]]) -> str:
    """Return which entrant of a leaderboard is cheapest per resolved episode, and which others may be as cheap.

    Empty if fewer than two of the competing entrants have a known price.
    """
    priced = [row for row in board if row["cost_per_resolved"] and not row["reference"]]
    if len(priced) < 2:
        return ""
    best, *costlier = sorted(priced, key=lambda row: row["cost_per_resolved"])
    high = best["cost_per_resolved_high"]
    indistinct = [row["entrant"] for row in costlier if high is None or (row["cost_per_resolved_low"] or 0.0) <= high]
    cost = f"{usd(best['cost_per_resolved'])} per resolved episode"
    if indistinct:
        between = f"per dollar between {best['entrant']}, {cost}, and {', '.join(indistinct)}"
        return f"{claim(None, None, above='', below='', between=between)} (95% intervals)."
    return f"Best per dollar: {best['entrant']}, {cost}; cheaper than every other entrant (95% intervals)."


def _sort_key(row: RankedStanding, lead: float) -> tuple[Any, ...]:
    """Sort by rank, then by lead on the same tasks, since rates over different tasks do not compare. Entrants without
    a rank follow, by rate, and after them those that do not compete."""
    ranks = (row["rank_low"] or 0, row["rank_high"] or 0, -round(lead, 9))
    return row["reference"], row["rank_low"] is None, *ranks, row["rate"] is None, -(row["rate"] or 0), row["entrant"]


def total_cost(sums: Sums) -> float | None:
    """Return all that was spent, errors and repeated tries included; None if a price is unknown."""
    return None if sums.unpriced else sums.spent_usd


def build_standing(entrant: EntrantRow, tasks: Cells, tasks_total: int) -> Standing:
    """Return the row of one entrant, without a rank, from its sums per task. `tasks_total`: all tasks in question."""
    sums, counted = total(tasks.values()), [task.counted for task in tasks.values()]
    played = [task for task, episodes in zip(tasks.values(), counted, strict=True) if episodes]
    counted, resolved = list(filter(None, counted)), [task.resolved for task in played]
    rate = stats.rate([task.mended for task in played], counted)
    priced = sums.scored > 0 and sums.priced == sums.scored
    per_resolved = stats.CostEstimate(None, None, None)
    if priced:
        per_resolved = stats.cost_per_resolved([task.cost_usd for task in played], resolved)
    all_resolved = sum(map(eq, resolved, counted))
    return {
        "entrant_id": entrant["id"],
        "entrant": entrant["name"],
        "agent": entrant["agent"],
        "agent_version": entrant["agent_version"],
        "model": entrant["model"],
        "tools": entrant["tools"],
        "reference": entrant["reference"],
        "episodes": sums.done,
        "resolved": sums.resolved,
        "sealed": sums.sealed,
        "unverified": sums.unverified,
        "unresolved": sums.unresolved,
        "errors": sums.errors,
        "rate": rate.rate,
        "ci_low": rate.low,
        "ci_high": rate.high,
        "faults_mended": sums.faults_mended,
        "faults": sums.faults,
        "all_attempts_rate": all_resolved / len(played) if played else None,
        "steps_mean": sums.steps / sums.scored if sums.scored else None,
        "tokens_in": sums.tokens_in,
        "tokens_out": sums.tokens_out,
        "cost_usd": total_cost(sums),
        "cost_per_episode": sums.cost_usd / sums.scored if priced else None,
        "cost_per_resolved": per_resolved.cost,
        "cost_per_resolved_low": per_resolved.low,
        "cost_per_resolved_high": per_resolved.high,
        "wall_mean_s": sums.wall_s / sums.scored if sums.scored else None,
        "tasks": len(played),
        "tasks_total": tasks_total,
        "rank_low": None,
        "rank_high": None,
    }


def run_summary(engine: Engine, ref: int | str) -> Row:
    """Return the JSON document of a run, as the command line prints it. `episodes` counts those with a verdict."""
    run = find_run(engine, ref)
    selection = Scope(run=run["id"]).find(engine)
    board: list[Row] = [dict(row) for row in ranked_rows(selection)]
    return {
        "run": run["id"],
        "name": run["name"],
        "benchmark": run["benchmark"],
        "status": run["status"],
        "wall_s": run["wall_s"],
        "episodes": run["done"],
        "resolved": run["resolved"],
        "sealed": run["sealed"],
        "unverified": run["unverified"],
        "unresolved": run["unresolved"],
        "errors": run["errors"],
        "stop": stopping(engine, run["id"]),
        "entrants": [{name: row[name] for name in _SUMMARY} for row in board],
        "scope": describe(selection, selection.cells()),
    }


def rate_history(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> dict[int, list[float]]:
    """Return the rate of every entrant in each run of the scope, oldest first; tasks weigh the same.

    A run is left out if the entrant counted less than `stats.MIN_SHARED` of the tasks of its widest run, because a rate
    over a few tasks next to rates over all of them would look like a change.
    """
    selection = scope.find(engine)
    share = func.avg(case((_E.verdict != Verdict.ERROR, share_of_faults()), else_=0.0)).label("share")
    tasks = (
        select(_E.entrant_id, _E.run_id, share)
        .where(selection.condition, selection.valid, _E.counted, _E.verdict.in_(selection.counting))
        .group_by(_E.entrant_id, _E.run_id, _E.task_id)
    ).subquery()
    groups = (tasks.c.entrant_id, tasks.c.run_id)
    query = select(tasks.c.entrant_id, func.avg(tasks.c.share), func.count()).group_by(*groups).order_by(tasks.c.run_id)
    history: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for entrant_id, rate, played in fetch_tuples(engine, query):
        history[entrant_id].append((float(rate), played))
    return {
        entrant_id: [rate for rate, played in rates if played >= stats.MIN_SHARED * max(played for _, played in rates)]
        for entrant_id, rates in history.items()
    }
