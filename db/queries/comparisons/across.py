"""Compares an entrant with itself under two conditions that differ in one field, while all others are equal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from sqlalchemy import Engine

from stackrank.db.connection.errors import NotComparable, NotFound
from stackrank.db.queries.boards.consumption import EffortUnit
from stackrank.db.queries.boards.pooling import PooledRun, fetch_conditions
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, Selection, fetch_entrants
from stackrank.db.queries.boards.scope_description import ScopeDescription, describe
from stackrank.db.queries.catalogue import EntrantRow
from stackrank.db.queries.comparisons.compare import Comparison, add_holm_alone, compare_entrants
from stackrank.db.queries.comparisons.effort import EffortComparison, effort_across
from stackrank.db.queries.comparisons.entrant_lookup import candidates_for
from stackrank.db.writes import conditions
from stackrank.terms import UNKNOWN, RunStatus
from stackrank.wording import count_of

_UNITS: tuple[EffortUnit, ...] = ("steps", "tokens", "cost_usd")


class AcrossComparison(TypedDict):
    """Entrants under the first and under the second of two `values` of a `condition`.

    `pairs`: one for each entrant; its names say under which value a side played. `effort`: in steps, tokens and
    dollars, of the same pairs. `scopes`: what the two sides are about. `p_holm` is corrected over the pairs.
    """

    condition: str
    values: list[Any]
    pairs: list[Comparison]
    effort: list[list[EffortComparison]]
    scopes: list[ScopeDescription]


def compare_across(
    engine: Engine,
    condition: str,
    scope: Scope = DEFAULT_SCOPE,
    *,
    values: Sequence[str] = (),
    entrants: Sequence[int | str] = (),
) -> AcrossComparison:
    """Compare entrants (ids or names; all, if none is named) with themselves across a condition.

    `values`: which two of its values, as people write them; they may be left out if there are only two. Raises
    `NotComparable` for an unknown condition, and if there are not two values under otherwise equal conditions.
    Raises `NotFound` for an entrant that has not played under both.
    """
    by_value, excluded = _runs_by_value(engine, condition, scope)
    pair = _choose_values(condition, by_value, values)
    first, second = (Selection(engine, scope, tuple(by_value[value][: scope.last]), tuple(excluded)) for value in pair)
    cells = [first.cells(), second.cells()]
    both = fetch_entrants(engine, cells[0].keys() & cells[1].keys())
    chosen = [_find_entrant(engine, ref, both, condition) for ref in entrants]
    chosen = chosen or sorted(both.values(), key=lambda row: str(row["name"]))
    comparisons: list[Comparison] = []
    for row in chosen:
        named: list[EntrantRow] = [
            {**row, "name": f"{row['name']} ({conditions.label(condition, value)})"} for value in pair
        ]
        compared = compare_entrants(named, [side[row["id"]] for side in cells], first.tasks)
        comparisons.append({**compared, "differs": {condition: list(pair)}})
    ids = [row["id"] for row in chosen]
    return {
        "condition": condition,
        "values": list(pair),
        "pairs": add_holm_alone(comparisons),
        "effort": [list(row) for row in zip(*(effort_across(ids, (first, second), by) for by in _UNITS), strict=True)],
        "scopes": [describe(side, side.cells(ids)) for side in (first, second)],
    }


def varying_conditions(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> dict[str, list[Any]]:
    """Return the conditions across which entrants can be compared: field -> its values."""
    varying = {}
    for field in conditions.FIELDS:
        by_value, _ = _runs_by_value(engine, field, scope)
        if len(by_value) > 1:
            varying[field] = list(by_value)
    return varying


def _runs_by_value(engine: Engine, condition: str, scope: Scope) -> tuple[dict[Any, list[PooledRun]], list[PooledRun]]:
    """Return the runs whose other conditions are those of the leading run, by value, and the runs that are left out."""
    if condition not in conditions.FIELDS:
        raise NotComparable(f"there is no condition {condition!r}: choose from {', '.join(conditions.FIELDS)}")
    matching, lead = scope.candidates(engine)
    documents = fetch_conditions(engine, matching)
    by_value: dict[Any, list[PooledRun]] = defaultdict(list)
    excluded = []
    for run in matching:
        document = documents[run.conditions_digest]
        value = document.get(condition, UNKNOWN)
        is_equal = lead is not None and run.benchmark_id == lead.benchmark_id
        if is_equal and lead is not None:
            others = documents[lead.conditions_digest]
            is_equal = conditions.apart_from(document, condition) == conditions.apart_from(others, condition)
        is_counted = scope.run is not None or not scope.finished_only or run.status == RunStatus.FINISHED
        if is_equal and is_counted and not conditions.is_mixed(value):
            by_value[value].append(run)
        else:
            excluded.append(run)
    return {value: by_value[value] for value in sorted(by_value, key=_order)}, excluded


def _order(value: Any) -> tuple[int, float, str]:
    """Sort numbers and flags by size, no limit last, and texts by name."""
    if value is None:
        return 1, 0.0, ""
    return (0, float(value), "") if isinstance(value, int | float) else (0, 0.0, str(value))


def _choose_values(
    condition: str, by_value: Mapping[Any, Sequence[PooledRun]], values: Sequence[str]
) -> tuple[Any, Any]:
    texts = {conditions.value_text(value): value for value in by_value}
    known = ", ".join(texts) or "none"
    if values:
        if len(set(values)) != 2:
            raise NotComparable(f"two different values of {condition} are compared, not {', '.join(values)}")
        if missing := [value for value in values if value not in texts]:
            raise NotComparable(
                f"no run with {condition} {missing[0]} has otherwise the conditions of the others: there is {known}"
            )
        return texts[values[0]], texts[values[1]]
    if not by_value:
        raise NotComparable(f"no finished run matches, so there is nothing to compare across {condition}")
    if len(by_value) == 1:
        raise NotComparable(
            f"all runs with otherwise equal conditions have {condition} {known}: play one with another value, or "
            "name runs that differ in it only"
        )
    if len(by_value) != 2:
        reason = f"there are {count_of(len(by_value), 'value')} of {condition} ({known})"
        raise NotComparable(f"{reason}: choose two, as in --across {condition}={','.join(list(texts)[:2])}")
    first, second = by_value
    return first, second


def _find_entrant(engine: Engine, ref: int | str, both: Mapping[int, EntrantRow], condition: str) -> EntrantRow:
    row = next((both[row["id"]] for row in candidates_for(engine, ref) if row["id"] in both), None)
    if row is None:
        raise NotFound(f"No entrant {str(ref)[:80]!r} has played under both values of {condition}.")
    return row
