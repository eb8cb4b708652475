"""One leaderboard of all nights of `fresh`, and how entrants do on new tasks compared with known ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TypedDict

from sqlalchemy import Engine, select

from stackrank.db import stats
from stackrank.db.connection.transactions import BENCHMARK, RUN
from stackrank.db.queries.boards.pooling import leading
from stackrank.db.queries.boards.scope import EVERYTHING, Scope, entrants_of
from stackrank.db.queries.reading import tuples
from stackrank.db.stats.abilities import Abilities, Ability, abilities
from stackrank.db.totals.sums import Sums, TaskKey

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


def nights(engine: Engine, scope: Scope = EVERYTHING, fixed: str = FIXED) -> NightsBoard:
    """Compare the nights of `fresh` that were played under the conditions of the newest finished run of a night.

    Abilities and difficulties are fitted to all these nights together with the `fixed` benchmark, whose tasks are the
    anchors. The equated rate is what the model expects of an entrant on all tasks of all nights, whichever it played.
    The gap is an entrant's rate on the nights minus its rate on the fixed tasks. `scope` may ask for a series, tags and
    conditions. Reference entrants are left out.
    """
    asked = [*replace(scope, benchmark=None).asked(engine), BENCHMARK.c.name.startswith(f"{FAMILY}/")]
    lead = leading(engine, asked, finished_only=True)
    if lead is None:
        return {"conditions": "", "fixed": fixed, "entrants": [], "nights": [], "note": ""}
    query = select(BENCHMARK.c.name).join(RUN, RUN.c.benchmark_id == BENCHMARK.c.id).where(*asked).distinct()
    cells: dict[int, dict[_Key, Sums]] = {}
    for name in sorted(row[0] for row in tuples(engine, query)):
        _add(cells, name, engine, replace(scope, run=None, benchmark=name, conditions=lead.conditions_digest))
    _add(cells, fixed, engine, Scope(benchmark=fixed, conditions=lead.conditions_digest, errors=scope.errors))
    about = entrants_of(engine, cells)
    played = {one: own for one, own in cells.items() if not about[one]["reference"]}
    played = {one: own for one, own in played.items() if any(name != fixed for name, _ in own)}
    names = {one: about[one]["name"] for one in played}
    keys = sorted({key for own in played.values() for key in own})
    if not keys:
        return {"conditions": lead.conditions_digest, "fixed": fixed, "entrants": [], "nights": [], "note": ""}
    found = _fitted(played, keys, fixed)
    entrants = [_entrant(one, names[one], own, ability, fixed) for (one, own), ability in zip(
        played.items(), found.entrants, strict=True)]  # fmt: skip
    place = {key: number for number, key in enumerate(keys)}
    of_nights = [_night(name, played, names, [key for key in keys if key[0] == name], found, place) for name in sorted(
        {name for name, _ in keys if name != fixed})]  # fmt: skip
    known = sum(name == fixed for name, _ in keys)
    note = (
        f"Equated over {len(of_nights)} nights, {len(keys) - known} tasks, with {known} tasks of {fixed} as anchors. "
        f"Gap: rate on the nights less rate on {fixed}. An entrant that learned nothing, such as repair, shows how "
        "much of a gap comes from the tasks."
    )
    order = sorted(entrants, key=lambda row: -row["rate"])
    return {"conditions": lead.conditions_digest, "fixed": fixed, "entrants": order, "nights": of_nights, "note": note}


def _add(cells: dict[int, dict[_Key, Sums]], name: str, engine: Engine, scope: Scope) -> None:
    for one, own in scope.find(engine).cells().items():
        counted = {(name, key): sums for key, sums in own.items() if sums.counted}
        if counted:
            cells.setdefault(one, {}).update(counted)


def _fitted(played: Mapping[int, Mapping[_Key, Sums]], keys: Sequence[_Key], fixed: str) -> Abilities:
    resolved = [[own[key].resolved if key in own else 0 for key in keys] for own in played.values()]
    counted = [[own[key].counted if key in own else 0 for key in keys] for own in played.values()]
    # Tasks of a night may be alike, so they form a cluster; each fixed task is a cluster of its own.
    clusters = [f"{name} {key[0]}" if name == fixed else name for name, key in keys]
    return abilities(resolved, counted, clusters, [name != fixed for name, _ in keys])


def _rate(own: Mapping[_Key, Sums], keys: Sequence[_Key]) -> stats.Rate:
    """Return the rate over these tasks. Tasks of a night may be alike, so they form a cluster."""
    sums = [own[key] for key in keys]
    return stats.rate_over_clusters([s.resolved for s in sums], [s.counted for s in sums], [name for name, _ in keys])


def _entrant(one: int, name: str, own: Mapping[_Key, Sums], ability: Ability, fixed: str) -> NightsStanding:
    new, known = ([key for key in own if (key[0] == fixed) is is_known] for is_known in (False, True))
    on_new = _rate(own, new)
    on_known = stats.rate([own[key].resolved for key in known], [own[key].counted for key in known])
    difference = stats.gap(on_known, on_new)
    assert on_new.rate is not None
    return {
        "entrant_id": one,
        "entrant": name,
        "nights": len({night for night, _ in new}),
        "tasks": len(new),
        "observed": on_new.rate,
        "observed_low": on_new.low,
        "observed_high": on_new.high,
        "rate": ability.rate,
        "ci_low": ability.rate_low,
        "ci_high": ability.rate_high,
        "linked": ability.linked,
        "fixed_tasks": len(known),
        "fixed_rate": on_known.rate,
        "fixed_low": on_known.low,
        "fixed_high": on_known.high,
        "gap": difference.difference,
        "gap_low": difference.low,
        "gap_high": difference.high,
    }


def _night(
    name: str,
    played: Mapping[int, Mapping[_Key, Sums]],
    names: Mapping[int, str],
    keys: Sequence[_Key],
    found: Abilities,
    place: Mapping[_Key, int],
) -> NightRow:
    rates = {}
    for one, own in played.items():
        if mine := [key for key in keys if key in own]:
            seen = stats.rate([own[key].resolved for key in mine], [own[key].counted for key in mine])
            rates[names[one]] = {"rate": seen.rate, "ci_low": seen.low, "ci_high": seen.high}
    difficulty = fmean(found.tasks[place[key]].difficulty for key in keys)
    return {"night": name.partition("/")[2], "tasks": len(keys), "difficulty": difficulty, "rates": rates}
