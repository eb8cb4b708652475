"""Compares two entrants on the same tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypedDict, cast

from sqlalchemy import Engine

from stackrank.db import stats
from stackrank.db.connection.transactions import EPISODE
from stackrank.db.queries.boards.ranking import error_warnings, p_values, ranked_entrants
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, Selection, fetch_entrants, without_reference
from stackrank.db.queries.boards.standings import Standing, build_standing
from stackrank.db.queries.catalogue import EntrantRow
from stackrank.db.queries.comparisons.claims import claim, corrected_p, direction
from stackrank.db.queries.comparisons.entrant_lookup import candidates_for, choose_playing, require_different
from stackrank.db.queries.reading import Row
from stackrank.db.totals.sums import Cells, TaskKey, total
from stackrank.wording import count_of, distance, fixed, p_is, point_interval, points, uplift

_E = EPISODE.c
_TELLING = 0.5
"""With a greater detectable difference, too few tasks were played to tell two entrants apart."""
_SETTINGS = ("agent", "agent_version", "model", "tools", "tool_list", "tool_versions")


class ComparedTask(TypedDict):
    """A task that both of two entrants played."""

    task: str
    task_id: int
    category: str
    difficulty: str
    first_resolved: int
    first_counted: int
    second_resolved: int
    second_counted: int
    difference: float
    flaky: bool


class Comparison(TypedDict):
    """Two entrants on the tasks that both played.

    `difference` (second - first) is in 0..1, `uplift` is relative: 0.12 is a rate 12% higher than the first's.
    `only_first` and `only_second` name the tasks on which one did better, `flaky` those where attempts of one entrant
    differ. `differs` is {setting: [first's, second's]}. The `errors` of the two are those on all tasks, shared or not.
    `ci_low`, `ci_high` and `p_value` are of this pair alone. `p_holm` is corrected over `family` pairs, and None
    without a test; `holm_low` and `holm_high` are the interval that belongs to it, and the uplift's ends and those of
    clusters are likewise. `sentence` sums it up, and says who is ahead only if `p_holm` does; `warning` says whether
    errors may mislead. `cluster_low` and `cluster_high` are None unless `clusters` (categories, repositories) group the
    tasks; `cluster_sentence` states them.
    """

    first: Standing
    second: Standing
    tasks: int
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    holm_low: float | None
    holm_high: float | None
    uplift: float | None
    uplift_low: float | None
    uplift_high: float | None
    p_value: float | None
    p_holm: float | None
    family: int
    test: str
    detectable: float | None
    only_first: list[str]
    only_second: list[str]
    flaky: list[str]
    by_task: list[ComparedTask]
    differs: dict[str, list[Any]]
    clusters: int
    cluster_low: float | None
    cluster_high: float | None
    cluster_sentence: str
    sentence: str
    warning: str


def compare(engine: Engine, first: int | str, second: int | str, scope: Scope = DEFAULT_SCOPE) -> Comparison:
    """Compare two entrants (ids or names) on the tasks of the scope that both played.

    Raises `NotFound` for an entrant without an episode in the scope. Raises `NotComparable` if both are the same
    entrant, or if one of them played only in runs that are not pooled with the others.
    """
    return compare_all(engine, [first, second], scope)[0]


def compare_all(engine: Engine, entrants: Sequence[int | str], scope: Scope = DEFAULT_SCOPE) -> list[Comparison]:
    """Compare every pair of these entrants, each as `compare` does.

    `p_holm` is corrected over the pairs of all entrants that the scope ranks, as its ranks are, and of those asked for.
    So a difference does not look more certain because only some pairs are shown, perhaps the best ones.
    """
    selection = scope.find(engine)
    candidate_lists = [candidates_for(engine, ref) for ref in entrants]
    cells = selection.cells()
    sides = [
        choose_playing(ref, candidates, cells, selection)
        for ref, candidates in zip(entrants, candidate_lists, strict=True)
    ]
    require_different(entrants, sides, candidate_lists)
    pairs = [
        compare_entrants(pair, [cells[side["id"]] for side in pair], selection.tasks) for pair in combinations(sides, 2)
    ]
    return add_holm(pairs, selection)


def add_holm(pairs: list[Comparison], selection: Selection) -> list[Comparison]:
    """Return the comparisons with `p_holm` and the sentence that follows from it.

    The correction covers the pairs of all entrants that the selection ranks, and of those compared. So a pair has one
    answer, whichever page, command or message gives it. Pairs without a task in common have no p-value.
    """
    cells = selection.cells()
    compared = {pair[side]["entrant_id"] for pair in pairs for side in ("first", "second")}
    entrant_rows = fetch_entrants(selection.engine, cells)
    board = ranked_entrants(without_reference(cells, entrant_rows))
    board_p_values = p_values({entrant_id: cells[entrant_id] for entrant_id in {*board, *compared}})
    ids = [frozenset((pair["first"]["entrant_id"], pair["second"]["entrant_id"])) for pair in pairs]
    tested = {
        pair_ids: pair["p_value"] for pair_ids, pair in zip(ids, pairs, strict=True) if pair["p_value"] is not None
    }
    family = {**board_p_values, **tested}
    corrected = dict(zip(family, stats.holm(list(family.values())), strict=True))
    levels = dict(zip(family, stats.holm_levels(list(family.values())), strict=True))
    return [
        _stated(pair, corrected.get(pair_ids), levels.get(pair_ids, stats.ALPHA), len(family))
        for pair_ids, pair in zip(ids, pairs, strict=True)
    ]


def add_holm_alone(pairs: list[Comparison]) -> list[Comparison]:
    """Return the comparisons as `add_holm` does, corrected over these alone, which are not the pairs of one board."""
    tested = [pair["p_value"] for pair in pairs if pair["p_value"] is not None]
    corrected = iter(zip(stats.holm(tested), stats.holm_levels(tested), strict=True))
    answers = [(None, stats.ALPHA) if pair["p_value"] is None else next(corrected) for pair in pairs]
    return [_stated(pair, p_holm, level, len(tested)) for pair, (p_holm, level) in zip(pairs, answers, strict=True)]


def _stated(pair: Comparison, p_holm: float | None, level: float, family: int) -> Comparison:
    row: Comparison = {**pair, "p_holm": p_holm, "family": family}
    if level != stats.ALPHA:
        tasks = pair["by_task"]
        difference = stats.paired_difference(*scores_of(tasks), alpha=level)
        row = cast("Comparison", {**row, **_intervals(tasks, difference, level)})
    return {**row, "sentence": comparison_sentence(row)}


def compare_entrants(sides: Sequence[EntrantRow], played: Sequence[Cells], facts: Sequence[Row]) -> Comparison:
    """Compare two entrants as `compare` does, given what each of them played, and the tasks of the benchmark.

    `p_holm` and the sentence are missing until `add_holm` knows the other pairs.
    """
    first, second = played
    facts_of = {(fact["name"], fact["digest"]): fact for fact in facts}
    shared, pairs = shared_tasks(first, second), pair_up(first, second)
    difference, detectable = stats.paired_difference(*pairs), stats.detectable(*pairs)
    first_row, second_row = (_standing_over(side, cells, shared) for side, cells in zip(sides, played, strict=True))
    by_task: list[ComparedTask] = [
        {
            "task": key[0],
            "task_id": facts_of[key]["id"],
            "category": facts_of[key]["category"],
            "difficulty": facts_of[key]["difficulty"],
            "first_resolved": first_score[0],
            "first_counted": first_score[1],
            "second_resolved": second_score[0],
            "second_counted": second_score[1],
            "difference": second_score[0] / second_score[1] - first_score[0] / first_score[1],
            "flaky": 0 < first_score[0] < first_score[1] or 0 < second_score[0] < second_score[1],
        }
        for key, first_score, second_score in zip(shared, *pairs, strict=True)
    ]
    comparison: Row = {
        "first": first_row,
        "second": second_row,
        "tasks": difference.tasks,
        "difference": difference.difference,
        "ci_low": difference.low,
        "ci_high": difference.high,
        "uplift": difference.uplift,
        "p_value": difference.p_value,
        "p_holm": None,
        "family": 0,
        "test": difference.test,
        "detectable": detectable,
        "only_first": [row["task"] for row in by_task if row["difference"] < 0],
        "only_second": [row["task"] for row in by_task if row["difference"] > 0],
        "flaky": [row["task"] for row in by_task if row["flaky"]],
        "by_task": by_task,
        "differs": differences(*sides),
        "sentence": "",
        "warning": _warning(sides, (first, second), difference),
    }
    return cast("Comparison", {**comparison, **_intervals(by_task, difference, stats.ALPHA)})


def scores_of(tasks: Sequence[ComparedTask]) -> tuple[list[stats.TaskScore], list[stats.TaskScore]]:
    """Return what the first and the second entrant resolved of each task, and how often they played it."""
    return (
        [(row["first_resolved"], row["first_counted"]) for row in tasks],
        [(row["second_resolved"], row["second_counted"]) for row in tasks],
    )


def _intervals(by_task: Sequence[ComparedTask], difference: stats.PairedDifference, level: float) -> Row:
    """Return what of a comparison depends on the level at which `difference` was computed."""
    clustered = _cluster_interval(by_task, difference, level)
    return {
        "holm_low": difference.low,
        "holm_high": difference.high,
        "uplift_low": difference.uplift_low,
        "uplift_high": difference.uplift_high,
        "clusters": clustered.clusters if clustered else 0,
        "cluster_low": clustered.low if clustered else None,
        "cluster_high": clustered.high if clustered else None,
        "cluster_sentence": _cluster_sentence(clustered, difference, level) if clustered else "",
    }


def _standing_over(side: EntrantRow, played: Cells, shared: Sequence[TaskKey]) -> Standing:
    """Return one side's row over the shared tasks. Its errors are on all tasks: they are why some are not shared."""
    row = build_standing(side, {key: played[key] for key in shared}, len(shared))
    return {**row, "errors": sum(sums.errors for sums in played.values())}


def _cluster_interval(
    tasks: Sequence[ComparedTask], difference: stats.PairedDifference, level: float
) -> stats.ClusterInterval | None:
    """Return the interval with categories as clusters, widened to include the interval over tasks.

    A few categories that agree by chance must not narrow the interval (Angrist and Pischke 2009, Mostly Harmless
    Econometrics, 8.2: the larger of two standard errors)."""
    gaps, names = [row["difference"] for row in tasks], [row["category"] for row in tasks]
    clustered = stats.cluster_interval(gaps, names, level)
    if clustered is None or difference.low is None or difference.high is None:
        return None
    return replace(clustered, low=min(clustered.low, difference.low), high=max(clustered.high, difference.high))


def _cluster_sentence(clustered: stats.ClusterInterval, difference: stats.PairedDifference, level: float) -> str:
    """Say what the interval with categories as clusters is, and whether it still excludes 0."""
    text = (
        f"Tasks of a category may be alike: with the {count_of(clustered.clusters, 'category')} as clusters "
        "the interval is "
    )
    if (clustered.low, clustered.high) == (difference.low, difference.high):
        return f"{text}no wider."
    text += point_interval(clustered.low, clustered.high)
    if direction(difference.difference, difference.p_value, level) and clustered.low <= 0 <= clustered.high:
        text += ", so other categories might not show the difference"
    return f"{text}."


def _warning(sides: Sequence[EntrantRow], cells: Sequence[Cells], difference: stats.PairedDifference) -> str:
    """Warn of what may mislead: unverified verdicts, and errors.

    Errors mislead if one side has more or fewer, or if they would change the answer when counted as failures.
    """
    warnings = error_warnings(dict(enumerate(cells)))
    parts = [f"{sides[number]['name']}: {warning}" for number, warning in warnings.items()]
    for side, sums in zip(sides, map(total, (entrant_cells.values() for entrant_cells in cells)), strict=True):
        if sums.unverified:
            parts.append(
                f"{side['name']}: unverified: {sums.unverified} of {count_of(sums.resolved, 'resolved episode')}."
            )
    failing = [{key: sums.with_errors_failed() for key, sums in entrant_cells.items()} for entrant_cells in cells]
    with_errors = stats.paired_difference(*pair_up(*failing))
    directions = [direction(side.difference, side.p_value) for side in (with_errors, difference)]
    if directions[0] != directions[1]:
        parts.append(
            f"With errors counted as failures the difference is {points(with_errors.difference)} points "
            f"({point_interval(with_errors.low, with_errors.high)}), {p_is(with_errors.p_value)} alone, "
            f"n = {count_of(with_errors.tasks, 'task')}."
        )
    return " ".join(parts)


def shared_tasks(first: Cells, second: Cells) -> list[TaskKey]:
    """Return the tasks of which both sides have counted episodes."""
    return sorted(key for key in first if key in second and first[key].counted and second[key].counted)


def pair_up(first: Cells, second: Cells) -> list[list[stats.TaskScore]]:
    """Return (resolved, counted) of each side for each shared task, as `stats.paired_difference` takes them."""
    shared = shared_tasks(first, second)
    return [[(side[key].mended, side[key].counted) for key in shared] for side in (first, second)]


def differences(first: EntrantRow, second: EntrantRow) -> dict[str, list[Any]]:
    """Return the settings that differ: {name: [first's, second's]}; None for a setting that one does not have."""
    settings: list[Row] = [
        {
            **{name: value for name, value in side.items() if name in _SETTINGS},
            **{f"config.{name}": value for name, value in side["config"].items()},
        }
        for side in (first, second)
    ]
    keys = dict.fromkeys([*settings[0], *settings[1]])
    value_pairs = {key: [side.get(key) for side in settings] for key in keys}
    return {key: values for key, values in value_pairs.items() if values[0] != values[1]}


def headline(pair: Comparison) -> str:
    """State the verdict on two entrants: the second's lead over the first, or that it may be chance."""
    return f"{_statement(pair)}."


def evidence(pair: Comparison) -> str:
    """State what the headline rests on: the interval, the corrected p-value, and what could have been detected."""
    if pair["ci_low"] is None:
        return ""
    parts = [
        f"95% interval {describe_interval(pair)}",
        *(f"{text[:1].upper()}{text[1:]}" for text in _relative(pair)),
        p_is(pair["p_holm"]),
    ]
    if pair["family"] > 1:
        parts.append(f"Interval and p are corrected (Holm) for {count_of(pair['family'], 'pair')}")
    tasks = count_of(pair["tasks"], "task")
    if pair["detectable"] is not None and pair["detectable"] <= _TELLING:
        least = fixed(100 * pair["detectable"], 0)
        found = f"With {tasks}, only differences above about {least} points are found reliably (in 80% of cases)"
        # Estimated for a pair by itself: the correction asks for more.
        parts.append(f"{found} before the correction" if pair["family"] > 1 else found)
    else:
        parts.append(tasks if _is_clear(pair) else f"With {tasks}, there are too few to tell")
    return f"{'. '.join(parts)}."


def comparison_sentence(pair: Comparison) -> str:
    """State the verdict on two entrants in one sentence, with its interval and corrected p-value."""
    if pair["ci_low"] is None:
        return headline(pair)
    parts = [*_relative(pair), describe_p(pair), f"n = {count_of(pair['tasks'], 'task')}"]
    text = f"{_statement(pair)} ({describe_interval(pair)}), {', '.join(parts)}"
    if pair["detectable"] is None or pair["detectable"] > _TELLING:
        return text + ("." if _is_clear(pair) else "; too few tasks to tell.")
    return f"{text}; the smallest detectable difference is {fixed(100 * pair['detectable'], 1)} points."


def _is_clear(pair: Comparison) -> bool:
    return direction(pair["difference"], pair["p_holm"]) != 0


def _statement(pair: Comparison) -> str:
    first, second = pair["first"]["entrant"], pair["second"]["entrant"]
    if pair["difference"] is None or pair["ci_low"] is None:
        return f"{first} and {second} have no counted task in common"
    gap = f"{distance(pair['difference'])} points"
    side = "level with" if gap == "0.0 points" else f"{gap} {'above' if pair['difference'] > 0 else 'below'}"
    return claim(
        pair["difference"],
        pair["p_holm"],
        above=f"{second} is {gap} ahead of {first}",
        below=f"{second} is {gap} behind {first}",
        measured=f"{second} is {side} {first}",
    )


def describe_interval(pair: Comparison) -> str:
    """Return the interval of the difference in points that belongs to the corrected p-value."""
    return point_interval(pair["holm_low"], pair["holm_high"])


def describe_alone(pair: Comparison) -> str:
    """Say what the interval and the p-value are without the correction; empty if nothing was corrected."""
    if pair["family"] <= 1 or pair["ci_low"] is None:
        return ""
    ends = point_interval(pair["ci_low"], pair["ci_high"])
    return f"Without the correction, as of this pair alone: {ends}, {p_is(pair['p_value'])}."


def _relative(pair: Comparison) -> list[str]:
    if not _is_clear(pair) or pair["uplift"] is None or pair["uplift_low"] is None:
        return []
    return [f"relatively {uplift(pair['uplift'], pair['uplift_low'], pair['uplift_high'])}"]


def describe_p(pair: Comparison) -> str:
    """Return the p-value, alone and corrected."""
    return corrected_p(pair["p_value"], pair["p_holm"], pair["family"])
