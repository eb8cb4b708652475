"""Compares two entrants on the same tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypedDict

from sqlalchemy import Engine, select

from stackrank.db import stats
from stackrank.db.connection.errors import NotComparable, NotFound
from stackrank.db.connection.transactions import ENTRANT, EPISODE
from stackrank.db.queries.boards.pooling import conditions_of, why_apart
from stackrank.db.queries.boards.ranking import error_warnings, p_values, ranked
from stackrank.db.queries.boards.scope import EVERYTHING, Scope, Selection, entrants_of
from stackrank.db.queries.boards.standings import Standing, standing
from stackrank.db.queries.catalogue import EntrantRow
from stackrank.db.queries.reading import Row, fetch, fetch_one, row_id
from stackrank.db.totals.sums import Cells, TaskKey
from stackrank.storable import storable_text
from stackrank.wording import p_is, point_interval, points

_E = EPISODE.c
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
    `sentence` sums it up, `warning` says whether errors may mislead. `p_holm` is corrected over all pairs of the board,
    and None without a test; `holm_sentence` states it if there are several pairs. `cluster_low` and `cluster_high` are
    None unless `clusters` (categories, repositories) group the tasks; `cluster_sentence` states them.
    """

    first: Standing
    second: Standing
    tasks: int
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    uplift: float | None
    uplift_low: float | None
    uplift_high: float | None
    p_value: float | None
    p_holm: float | None
    holm_sentence: str
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


def compare(engine: Engine, first: int | str, second: int | str, scope: Scope = EVERYTHING) -> Comparison:
    """Compare two entrants (ids or names) on the tasks of the scope that both played.

    Raises `NotFound` for an entrant without an episode in the scope. Raises `NotComparable` if both are the same
    entrant, or if one of them played only in runs that are not pooled with the others.
    """
    return compare_all(engine, [first, second], scope)[0]


def compare_all(engine: Engine, entrants: Sequence[int | str], scope: Scope = EVERYTHING) -> list[Comparison]:
    """Compare every pair of these entrants, each as `compare` does.

    `p_holm` is corrected over the pairs of all entrants that the scope ranks, as its ranks are, and of those asked for.
    So no difference looks surer because only some pairs are shown, perhaps the best ones.
    """
    selection = scope.find(engine)
    known = [_candidates(engine, ref) for ref in entrants]
    cells = selection.cells()
    sides = [_playing(ref, candidates, cells, selection) for ref, candidates in zip(entrants, known, strict=True)]
    _require_different(entrants, sides, known)
    pairs = [compare_sides(pair, cells, selection.tasks) for pair in combinations(sides, 2)]
    about = entrants_of(engine, cells)
    board = ranked({one: own for one, own in cells.items() if not about[one]["reference"]})
    return with_holm(pairs, p_values({one: cells[one] for one in {*board, *(side["id"] for side in sides)}}))


def with_holm(pairs: list[Comparison], more: Mapping[frozenset[int], float] | None = None) -> list[Comparison]:
    """Return the comparisons with `p_holm`; pairs without a task in common have none, and the correction ignores them.

    `more`: the p-values of the pairs that are corrected together with these. It may contain these pairs or not.
    """
    ids = [frozenset((pair["first"]["entrant_id"], pair["second"]["entrant_id"])) for pair in pairs]
    tested = {one: pair["p_value"] for one, pair in zip(ids, pairs, strict=True) if pair["p_value"] is not None}
    family = {**(more or {}), **tested}
    corrected = dict(zip(family, stats.holm(list(family.values())), strict=True))
    told = f"After Holm's correction for the {len(family)} pairs of the board, "
    return [
        {
            **pair,
            "p_holm": corrected.get(one),
            "holm_sentence": f"{told}{p_is(corrected[one])}." if more and one in corrected and len(family) > 1 else "",
        }
        for one, pair in zip(ids, pairs, strict=True)
    ]


def compare_sides(sides: Sequence[EntrantRow], cells: Mapping[int, Cells], facts: Sequence[Row]) -> Comparison:
    """Compare two entrants as `compare` does, given the cells and the tasks of a selection."""
    first, second = (cells[side["id"]] for side in sides)
    about = {(fact["name"], fact["digest"]): fact for fact in facts}
    shared, pairs = shared_tasks(first, second), pair_up(first, second)
    found, detectable = stats.paired_difference(*pairs), stats.detectable(*pairs)
    one, other = (_side(side, cells[side["id"]], shared) for side in sides)
    by_task: list[ComparedTask] = [
        {
            "task": key[0],
            "task_id": about[key]["id"],
            "category": about[key]["category"],
            "difficulty": about[key]["difficulty"],
            "first_resolved": a[0],
            "first_counted": a[1],
            "second_resolved": b[0],
            "second_counted": b[1],
            "difference": b[0] / b[1] - a[0] / a[1],
            "flaky": 0 < a[0] < a[1] or 0 < b[0] < b[1],
        }
        for key, a, b in zip(shared, *pairs, strict=True)
    ]
    over = _over(by_task, found)
    return {
        "first": one,
        "second": other,
        "tasks": found.tasks,
        "difference": found.difference,
        "ci_low": found.low,
        "ci_high": found.high,
        "uplift": found.uplift,
        "uplift_low": found.uplift_low,
        "uplift_high": found.uplift_high,
        "p_value": found.p_value,
        "p_holm": None,
        "holm_sentence": "",
        "test": found.test,
        "detectable": detectable,
        "only_first": [row["task"] for row in by_task if row["difference"] < 0],
        "only_second": [row["task"] for row in by_task if row["difference"] > 0],
        "flaky": [row["task"] for row in by_task if row["flaky"]],
        "by_task": by_task,
        "differs": differences(*sides),
        "clusters": over.clusters if over else 0,
        "cluster_low": over.low if over else None,
        "cluster_high": over.high if over else None,
        "cluster_sentence": _over_clusters(over, found) if over else "",
        "sentence": sentence(one, other, found, detectable),
        "warning": _warning(sides, (first, second), found),
    }


def _side(side: EntrantRow, played: Cells, shared: Sequence[TaskKey]) -> Standing:
    """Return one side's row over the shared tasks. Its errors are on all tasks: they are why some are not shared."""
    row = standing(side, {key: played[key] for key in shared}, len(shared))
    return {**row, "errors": sum(sums.errors for sums in played.values())}


def _over(tasks: Sequence[ComparedTask], found: stats.Difference) -> stats.Clustered | None:
    """Return the interval with categories as clusters, widened to include the interval over tasks.

    A few categories that happen to agree make nothing surer (Angrist and Pischke 2009, Mostly Harmless Econometrics,
    8.2: the larger of two standard errors)."""
    over = stats.clustered([row["difference"] for row in tasks], [row["category"] for row in tasks])
    if over is None or found.low is None or found.high is None:
        return None
    return replace(over, low=min(over.low, found.low), high=max(over.high, found.high))


def _over_clusters(over: stats.Clustered, found: stats.Difference) -> str:
    """Say what the interval with categories as clusters is, and whether it still excludes 0."""
    text = f"Tasks of a category may be alike: with the {over.clusters} categories as clusters the interval is "
    if (over.low, over.high) == (found.low, found.high):
        return f"{text}no wider."
    text += f"[{points(over.low)}, {points(over.high)}]"
    if _answer(found) and over.low <= 0 <= over.high:
        text += ", so other categories might not show the difference"
    return f"{text}."


def _warning(sides: Sequence[EntrantRow], cells: Sequence[Cells], found: stats.Difference) -> str:
    """Warn if errors may mislead: one side has more or fewer, or counted as failures they would change the answer."""
    told = error_warnings({side["id"]: own for side, own in zip(sides, cells, strict=True)})
    parts = [f"{side['name']}: {told[side['id']]}" for side in sides if side["id"] in told]
    failing = [{key: sums.with_errors_failed() for key, sums in own.items()} for own in cells]
    other = stats.paired_difference(*pair_up(*failing))
    if _answer(other) != _answer(found):
        parts.append(
            f"With errors counted as failures the difference is {points(other.difference)} points "
            f"({point_interval(other.low, other.high)}), {p_is(other.p_value)}, n = {other.tasks} tasks."
        )
    return " ".join(parts)


def _answer(found: stats.Difference) -> int:
    """Return who is significantly ahead: -1 the first, 1 the second, 0 neither."""
    if found.p_value is None or found.difference is None or found.p_value >= stats.ALPHA:
        return 0
    return 1 if found.difference > 0 else -1


def shared_tasks(first: Cells, second: Cells) -> list[TaskKey]:
    """Return the tasks of which both sides have counted episodes."""
    return sorted(key for key in first if key in second and first[key].counted and second[key].counted)


def pair_up(first: Cells, second: Cells) -> list[list[tuple[int, int]]]:
    """Return (resolved, counted) of each side for each shared task, as `stats.paired_difference` takes them."""
    shared = shared_tasks(first, second)
    return [[(side[key].resolved, side[key].counted) for key in shared] for side in (first, second)]


def compare_categories(engine: Engine, first: int | str, second: int | str, scope: Scope = EVERYTHING) -> list[Row]:
    """Compare within each category: rows of category, tasks, difference with its interval, p_value, and p_holm."""
    by_task = compare(engine, first, second, scope)["by_task"]
    found: list[Row] = []
    for category in sorted({row["category"] for row in by_task}):
        tasks = [row for row in by_task if row["category"] == category]
        one = [(row["first_resolved"], row["first_counted"]) for row in tasks]
        other = [(row["second_resolved"], row["second_counted"]) for row in tasks]
        gap = stats.paired_difference(one, other)
        numbers = {"difference": gap.difference, "ci_low": gap.low, "ci_high": gap.high, "p_value": gap.p_value}
        found.append({"category": category, "tasks": gap.tasks, **numbers})
    for row, p_value in zip(found, stats.holm([row["p_value"] for row in found]), strict=True):
        row["p_holm"] = p_value
    return found


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
    both = {key: [side.get(key) for side in settings] for key in keys}
    return {key: values for key, values in both.items() if values[0] != values[1]}


def _candidates(engine: Engine, ref: int | str) -> list[EntrantRow]:
    """Return the entrants that `ref` may mean: first those with this id or name, then those called so, newest first."""
    number, text = row_id(ref), storable_text(str(ref))
    wanted = (ENTRANT.c.name == text) | (ENTRANT.c.called == text)
    if number is not None:
        wanted = wanted | (ENTRANT.c.id == number)
    found = fetch(engine, select(ENTRANT).where(wanted).order_by(ENTRANT.c.id.desc()), EntrantRow)
    return sorted(found, key=lambda row: row["id"] != number and row["name"] != text)


def _playing(
    ref: int | str, candidates: Sequence[EntrantRow], cells: Mapping[int, Cells], selection: Selection
) -> EntrantRow:
    """The first of the candidates that has played in the scope."""
    for row in candidates:
        if row["id"] in cells:
            return row
    ids = [row["id"] for row in candidates]
    apart = {run.id: run for run in selection.apart}
    elsewhere = select(_E.run_id).where(_E.entrant_id.in_(ids), _E.run_id.in_(list(apart)), _E.verdict != "")
    if selection.pooled and (found := fetch_one(selection.engine, elsewhere.order_by(_E.run_id.desc()))):
        run, lead = apart[found["run_id"]], selection.pooled[0]
        why = why_apart(run, lead, conditions_of(selection.engine, (run, lead)))
        raise NotComparable(
            f"{candidates[0]['name']} played run {run.id}, which is not pooled with run {lead.id} ({why}): `--run`, "
            "`--benchmark` and `--conditions` choose what to compare."
        )
    raise NotFound(f"No entrant {str(ref)[:80]!r} has an episode here: `stackrank leaderboard` shows who has.")


def _require_different(
    refs: Sequence[int | str], sides: Sequence[EntrantRow], known: Sequence[Sequence[EntrantRow]]
) -> None:
    seen: set[int] = set()
    for ref, side, candidates in zip(refs, sides, known, strict=True):
        if side["id"] in seen:
            others = ", ".join(row["name"] for row in candidates if row["id"] != side["id"])
            hint = f"other entrants with that name are {others}" if others else "name two different ones"
            raise NotComparable(
                f"{str(ref)[:80]} is named twice, but an entrant cannot be compared with itself: {hint}."
            )
        seen.add(side["id"])


def sentence(first: Standing, second: Standing, found: stats.Difference, detectable: float | None) -> str:
    """State the verdict on two entrants: the second's lead over the first, with intervals and p-value."""
    if found.difference is None or found.low is None or found.high is None:
        return f"{first['entrant']} and {second['entrant']} have no counted task in common."
    gap = f"{100 * abs(found.difference):.1f} points {'ahead of' if found.difference > 0 else 'behind'}"
    text = f"{second['entrant']} is {gap if found.difference else 'level with'} {first['entrant']} "
    text += f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}], "
    if found.uplift is not None and found.uplift_low is not None:
        most = "no upper end" if found.uplift_high is None else f"{100 * found.uplift_high:+.0f}%"
        text += f"relatively {100 * found.uplift:+.0f}% [{100 * found.uplift_low:+.0f}%, {most}], "
    text += f"{p_is(found.p_value)}, n = {found.tasks} {'task' if found.tasks == 1 else 'tasks'}"
    if detectable is None:
        return f"{text}; with so few tasks, no difference is detectable."
    return f"{text}; the smallest detectable difference is {100 * detectable:.1f} points."
