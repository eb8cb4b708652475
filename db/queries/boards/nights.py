"""One leaderboard of all nights of `fresh`, and how entrants do on new tasks compared with known ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TypedDict

from sqlalchemy import Engine, select

from stackrank.db import stats
from stackrank.db.connection.transactions import BENCHMARK, RUN
from stackrank.db.queries.boards.abilities import count_matrices
from stackrank.db.queries.boards.pooling import find_leading_run
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, fetch_entrants, without_reference
from stackrank.db.queries.reading import fetch_tuples
from stackrank.db.stats.abilities import AbilityEstimate, AbilityModel, fit_abilities
from stackrank.db.totals.sums import Sums, TaskKey
from stackrank.wording import count_of

FAMILY, FIXED = "fresh", "deep"
_Key = tuple[str, TaskKey]
"""A night (or `FIXED`), and a task."""


class NightsStanding(TypedDict):
    """An entrant over the nights of `fresh`: its `observed` rate, its equated `rate`, and its gap to fixed tasks."""

    entrant_id: int
    entrant: str
    nights: int
    tasks: int
    observed: float
    observed_low: float | None
    observed_high: float | None
    rate: float
    ci_low: float
    ci_high: float
    linked: bool
    fixed_tasks: int
    fixed_rate: float | None
    fixed_low: float | None
    fixed_high: float | None
    gap: float | None
    gap_low: float | None
    gap_high: float | None


class NightRow(TypedDict):
    """One night: its mean `difficulty` in logits, and the results of each entrant by its name."""

    night: str
    tasks: int
    difficulty: float
    rates: dict[str, dict[str, float | None]]


class NightsBoard(TypedDict):
    """All nights that form one leaderboard."""

    conditions: str
    fixed: str
    entrants: list[NightsStanding]
    nights: list[NightRow]
    note: str


def nights(engine: Engine, scope: Scope = DEFAULT_SCOPE, fixed: str = FIXED) -> NightsBoard:
    """Compare the nights of `fresh` that were played under the conditions of the newest finished run of a night.

    Abilities and difficulties are fitted to all these nights together with the `fixed` benchmark, whose tasks are the
    anchors. The equated rate is what the model expects of an entrant on all tasks of all nights, whichever it played.
    The gap is an entrant's rate on the nights minus its rate on the fixed tasks. `scope` may ask for a series, tags and
    conditions. Reference entrants are left out.
    """
    run_conditions = [*replace(scope, benchmark=None).run_conditions(engine), BENCHMARK.c.name.startswith(f"{FAMILY}/")]
    lead = find_leading_run(engine, run_conditions, finished_only=True)
    if lead is None:
        return {"conditions": "", "fixed": fixed, "entrants": [], "nights": [], "note": ""}
    query = select(BENCHMARK.c.name).join(RUN, RUN.c.benchmark_id == BENCHMARK.c.id).where(*run_conditions).distinct()
    cells: dict[int, dict[_Key, Sums]] = {}
    for name in sorted(row[0] for row in fetch_tuples(engine, query)):
        _add_cells(cells, name, engine, replace(scope, run=None, benchmark=name, conditions=lead.conditions_digest))
    _add_cells(cells, fixed, engine, Scope(benchmark=fixed, conditions=lead.conditions_digest, errors=scope.errors))
    entrant_rows = fetch_entrants(engine, cells)
    played = {
        entrant_id: entrant_cells
        for entrant_id, entrant_cells in without_reference(cells, entrant_rows).items()
        if any(name != fixed for name, _ in entrant_cells)
    }
    names = {entrant_id: entrant_rows[entrant_id]["name"] for entrant_id in played}
    keys = sorted({key for entrant_cells in played.values() for key in entrant_cells})
    if not keys:
        return {"conditions": lead.conditions_digest, "fixed": fixed, "entrants": [], "nights": [], "note": ""}
    model = _fit_model(played, keys, fixed)
    entrants = [
        _entrant_row(entrant_id, names[entrant_id], played[entrant_id], ability, fixed)
        for entrant_id, ability in zip(played, model.entrants, strict=True)
    ]
    difficulties = {key: task.difficulty for key, task in zip(keys, model.tasks, strict=True)}
    night_names = sorted({name for name, _ in keys if name != fixed})
    night_rows = [_night_row(name, played, names, difficulties) for name in night_names]
    fixed_tasks = sum(name == fixed for name, _ in keys)
    note = (
        f"Equated over {count_of(len(night_rows), 'night')} with {count_of(len(keys) - fixed_tasks, 'task')}, "
        f"and {count_of(fixed_tasks, 'task')} of "
        f"{fixed} as anchors. Gap: rate on the nights minus rate on {fixed}. An entrant that learns nothing, such as "
        "repair, shows how much of a gap comes from the tasks."
    )
    order = sorted(entrants, key=lambda row: -row["rate"])
    return {"conditions": lead.conditions_digest, "fixed": fixed, "entrants": order, "nights": night_rows, "note": note}


def _add_cells(cells: dict[int, dict[_Key, Sums]], name: str, engine: Engine, scope: Scope) -> None:
    for entrant_id, entrant_cells in scope.find(engine).cells().items():
        counted = {(name, key): sums for key, sums in entrant_cells.items() if sums.counted}
        if counted:
            cells.setdefault(entrant_id, {}).update(counted)


def _fit_model(played: Mapping[int, Mapping[_Key, Sums]], keys: Sequence[_Key], fixed: str) -> AbilityModel:
    resolved, counted = count_matrices(played.values(), keys)
    # Tasks of a night may be alike, so they form a cluster; each fixed task is a cluster of its own.
    clusters = [f"{name} {key[0]}" if name == fixed else name for name, key in keys]
    return fit_abilities(resolved, counted, clusters, [name != fixed for name, _ in keys])


def _cluster_rate(entrant_cells: Mapping[_Key, Sums], keys: Sequence[_Key]) -> stats.Rate:
    """Return the rate over these tasks. Tasks of a night may be alike, so they form a cluster."""
    sums = [entrant_cells[key] for key in keys]
    return stats.rate_over_clusters([s.mended for s in sums], [s.counted for s in sums], [name for name, _ in keys])


def _entrant_row(
    entrant_id: int, name: str, entrant_cells: Mapping[_Key, Sums], ability: AbilityEstimate, fixed: str
) -> NightsStanding:
    night_keys, fixed_keys = (
        [key for key in entrant_cells if (key[0] == fixed) is is_fixed] for is_fixed in (False, True)
    )
    night_rate = _cluster_rate(entrant_cells, night_keys)
    fixed_rate = stats.rate(
        [entrant_cells[key].mended for key in fixed_keys], [entrant_cells[key].counted for key in fixed_keys]
    )
    difference = stats.gap(fixed_rate, night_rate)
    assert night_rate.rate is not None
    return {
        "entrant_id": entrant_id,
        "entrant": name,
        "nights": len({night for night, _ in night_keys}),
        "tasks": len(night_keys),
        "observed": night_rate.rate,
        "observed_low": night_rate.low,
        "observed_high": night_rate.high,
        "rate": ability.rate,
        "ci_low": ability.rate_low,
        "ci_high": ability.rate_high,
        "linked": ability.linked,
        "fixed_tasks": len(fixed_keys),
        "fixed_rate": fixed_rate.rate,
        "fixed_low": fixed_rate.low,
        "fixed_high": fixed_rate.high,
        "gap": difference.difference,
        "gap_low": difference.low,
        "gap_high": difference.high,
    }


def _night_row(
    name: str,
    played: Mapping[int, Mapping[_Key, Sums]],
    names: Mapping[int, str],
    difficulties: Mapping[_Key, float],
) -> NightRow:
    keys = [key for key in difficulties if key[0] == name]
    rates = {}
    for entrant_id, entrant_cells in played.items():
        if played_keys := [key for key in keys if key in entrant_cells]:
            rate = stats.rate(
                [entrant_cells[key].mended for key in played_keys],
                [entrant_cells[key].counted for key in played_keys],
            )
            rates[names[entrant_id]] = {"rate": rate.rate, "ci_low": rate.low, "ci_high": rate.high}
    difficulty = fmean(difficulties[key] for key in keys)
    return {"night": name.partition("/")[2], "tasks": len(keys), "difficulty": difficulty, "rates": rates}
