"""Which of two entrants needs less to resolve a task. This can tell them apart even if both resolve nearly all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import TypedDict, cast

from sqlalchemy import Engine

from stackrank.db import stats
from stackrank.db.queries.boards.consumption import EffortUnit, read_consumption
from stackrank.db.queries.boards.pooling import fetch_conditions
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, Selection
from stackrank.db.queries.boards.standings import Standing
from stackrank.db.queries.comparisons.claims import claim, corrected_p
from stackrank.db.totals.sums import TaskKey
from stackrank.wording import allowance, amount, amount_interval, mean, usd, whole

Needs = Mapping[TaskKey, tuple[float, int, int]]
"""Task -> what the episodes of an entrant that resolved it took together, how many these are, and how many did not."""


class EffortComparison(TypedDict):
    """What two entrants need to resolve a task, `by` steps, tokens or dollars, over the `tasks` that both played.

    From `spending`: what an episode takes, whether it resolved its task or not.
    `first` and `second` are means over tasks. An episode that did not resolve its task counts as the whole `budget`:
    what a run allows (`is_limited`), else the most that an episode of the two took. `saved` (first - second) has a 95%
    interval (`low`, `high`) and a p-value for this pair alone. `p_holm` is corrected over the `family` of pairs that
    were asked for together, and `holm_low` and `holm_high` are the interval that belongs to it.
    """

    first_id: int
    second_id: int
    by: str
    budget: float
    is_limited: bool
    tasks: int
    first: float | None
    second: float | None
    saved: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_holm: float | None
    holm_low: float | None
    holm_high: float | None
    family: int


def effort(
    engine: Engine, pairs: Sequence[tuple[int, int]], scope: Scope = DEFAULT_SCOPE, by: EffortUnit = "steps"
) -> list[EffortComparison]:
    """Compare what the two entrants of each pair (ids) need, on the tasks that both played.

    By cost, a pair with an unknown price has no tasks.
    """
    selection = scope.find(engine)
    return _compare_in(selection, pairs, by, _allowed_budget(selection, by))


def spending(
    engine: Engine, pairs: Sequence[tuple[int, int]], scope: Scope = DEFAULT_SCOPE, by: EffortUnit = "steps"
) -> list[EffortComparison]:
    """Compare what an episode of either entrant takes, resolved or not, on the tasks that both played."""
    return _compare_in(scope.find(engine), pairs, by, resolving=False)


def _compare_in(
    selection: Selection,
    pairs: Sequence[tuple[int, int]],
    by: EffortUnit,
    allowed: float = 0.0,
    *,
    resolving: bool = True,
) -> list[EffortComparison]:
    entrants = {entrant_id for pair in pairs for entrant_id in pair}
    needs, longest = _read_needs(selection, entrants, by, allowed, resolving=resolving)
    sides = [[needs.get(entrant_id, {}) for entrant_id in pair] for pair in pairs]
    return _compare_pairs(pairs, sides, longest, allowed, by)


def effort_across(
    entrants: Sequence[int], sides: tuple[Selection, Selection], by: EffortUnit = "steps"
) -> list[EffortComparison]:
    """Compare what each entrant (an id) needs in two selections. The budget is the larger one."""
    limits = [_allowed_budget(selection, by) for selection in sides]
    allowed = max(limits) if all(limits) else 0.0
    (first, first_longest), (second, second_longest) = (
        _read_needs(selection, set(entrants), by, allowed) for selection in sides
    )
    longest = {key: max(first_longest.get(key, 0.0), second_longest.get(key, 0.0)) for key in entrants}
    needs = [[first.get(key, {}), second.get(key, {})] for key in entrants]
    return _compare_pairs([(key, key) for key in entrants], needs, longest, allowed, by)


def _compare_pairs(
    pairs: Sequence[tuple[int, int]],
    needs: Sequence[Sequence[Needs]],
    longest: Mapping[int, float],
    allowed: float,
    by: EffortUnit,
) -> list[EffortComparison]:
    """Compare the two sides of each pair, and correct over all pairs."""
    budgets = [allowed or max(longest.get(entrant_id, 0.0) for entrant_id in pair) for pair in pairs]
    means = [_shared_means(sides, budget) for sides, budget in zip(needs, budgets, strict=True)]
    alone = [stats.effort(a, b, budget) for (a, b), budget in zip(means, budgets, strict=True)]
    tested = [place for place, row in enumerate(alone) if row.p_value is not None]
    p_values = [row.p_value for row in alone if row.p_value is not None]
    corrected = dict(zip(tested, zip(stats.holm(p_values), stats.holm_levels(p_values), strict=True), strict=True))
    rows = []
    for place, (pair, row, budget) in enumerate(zip(pairs, alone, budgets, strict=True)):
        p_holm, level = corrected.get(place, (None, stats.ALPHA))
        ends = stats.effort(*means[place], budget, alpha=level) if level != stats.ALPHA else row
        question = {"first_id": pair[0], "second_id": pair[1], "by": by, "budget": budget, "is_limited": bool(allowed)}
        answer = {"p_holm": p_holm, "holm_low": ends.low, "holm_high": ends.high}
        family = {"family": len(tested) if place in corrected else 0}
        rows.append(cast("EffortComparison", question | asdict(row) | answer | family))
    return rows


def _shared_means(sides: Sequence[Needs], budget: float) -> tuple[list[float], list[float]]:
    """Return what each task took that both sides played, for the first and for the second."""
    first, second = sides
    shared = sorted(first.keys() & second.keys())
    return [_mean(first[key], budget) for key in shared], [_mean(second[key], budget) for key in shared]


def _mean(need: tuple[float, int, int], budget: float) -> float:
    resolving, resolved, unresolved = need
    return (resolving + unresolved * budget) / (resolved + unresolved)


def _read_needs(
    selection: Selection, entrants: Collection[int], by: EffortUnit, allowed: float = 0.0, *, resolving: bool = True
) -> tuple[dict[int, Needs], dict[int, float]]:
    """Return needs by entrant, without those of unknown price, and the most that an episode of each entrant took.

    Unless what counts is `resolving`, all that an episode took counts.
    """
    needs: dict[int, dict[TaskKey, tuple[float, int, int]]] = defaultdict(dict)
    longest: dict[int, float] = defaultdict(float)
    unknown: set[int] = set()
    for row in read_consumption(selection, by, entrants, allowed):
        if row.unpriced:
            unknown.add(row.entrant_id)
        longest[row.entrant_id] = max(longest[row.entrant_id], float(row.longest))
        key = selection.keys[row.task_id]
        took, done, failed = needs[row.entrant_id].get(key, (0.0, 0, 0))
        more, ended = (row.resolving, row.resolved) if resolving else (row.total, row.counted)
        sums = (took + float(more), done + ended, failed + row.counted - ended)
        needs[row.entrant_id][key] = sums
    return {entrant_id: sums for entrant_id, sums in needs.items() if entrant_id not in unknown}, longest


def _allowed_budget(selection: Selection, by: EffortUnit) -> float:
    """Return the most that the runs allow an episode to take; 0 if there is no limit."""
    if not selection.pooled:
        return 0.0
    limit = fetch_conditions(selection.engine, selection.pooled[:1])[selection.pooled[0].conditions_digest].get(by)
    return float(limit) if isinstance(limit, int | float) else 0.0


_NOUNS = {"cost_usd": ("less", "more", "in cost")}
"""The words for less and more of a unit, and for a difference in it; those of other units contain its name."""


def effort_claim(comparison: EffortComparison, *, subject: str = "", against: str = "") -> str:
    """State what the second of two entrants saves, with its interval; empty if they have no task in common.

    The texts are put before and behind what is saved.
    """
    saved, by = comparison["saved"], comparison["by"]
    if saved is None or comparison["holm_low"] is None:
        return ""
    less, more, noun = _NOUNS.get(by, (f"fewer {by}", f"more {by}", f"in {by}"))
    size = f"{subject}{amount(abs(saved), by)} {less if saved >= 0 else more}{against}"
    statement = claim(saved, comparison["p_holm"], above=size, below=size, between=noun, measured=size)
    low, high = comparison["holm_low"], comparison["holm_high"]
    if high is not None and saved < 0:
        low, high = -high, -low  # of how much more it needs
    return f"{statement} ({amount_interval(low, high, by)})"


def effort_sentence(first: str, second: str, comparison: EffortComparison) -> str:
    """Say what the second of two entrants saves; empty if they have no task in common."""
    by = comparison["by"]
    stated = effort_claim(comparison, subject=f"{second} needs ", against=f" than {first} to resolve a task")
    if not stated:
        return ""
    means = f"{amount(comparison['second'] or 0, by)} for {second}, {amount(comparison['first'] or 0, by)} for {first}"
    tested = corrected_p(comparison["p_value"], comparison["p_holm"], comparison["family"])
    budget = allowance(comparison["budget"], by)
    return f"{stated}, {tested}: {means}; an episode that does not resolve its task counts as {budget}."


def spending_sentence(first: Standing, second: Standing) -> str:
    """Say what an episode of either side took, whether it resolved its task or not; empty if nothing is known."""
    known = [pair for pair in zip(_spent(second), _spent(first), strict=True) if all(pair)]
    if not known:
        return ""
    ours, theirs = (", ".join(side) for side in zip(*known, strict=True))
    took = f"An episode of {second['entrant']}, resolved or not, took on average {ours}"
    return f"{took}; one of {first['entrant']} {theirs}."


def _spent(side: Standing) -> list[str]:
    """Return the mean steps, tokens and dollars of an episode, each empty if it is unknown or nothing was used."""
    counted = side["resolved"] + side["unresolved"]
    tokens = (side["tokens_in"] + side["tokens_out"]) / counted if counted else 0
    steps, cost = side["steps_mean"], side["cost_per_episode"]
    return [
        f"{mean(steps)} steps" if steps else "",
        f"{whole(tokens)} tokens" if tokens else "",
        usd(cost) if cost else "",
    ]
