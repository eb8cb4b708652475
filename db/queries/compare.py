"""Two entrants on the same tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any, Unpack

from sqlalchemy import Engine, select

from db import stats
from db.errors import NotFound
from db.queries.boards import row_of
from db.queries.reading import Row, fetch, row_id
from db.queries.scope import ScopeOptions, cells_of, find_scope, tasks_of
from db.storable import storable_text
from db.transactions import ENTRANT

Cells = dict[int, dict[Any, Row]]


def compare(
    engine: Engine, first: int | str, second: int | str, *, seed: int = 0, **options: Unpack[ScopeOptions]
) -> Row:
    """Two entrants (ids or names) on the tasks both played; the scope is chosen as in `leaderboard`.

    `first` and `second` are their rows on those tasks, `difference` (second - first, with `ci_low`, `ci_high`,
    `p_value`, `test`, `detectable`) is in 0..1, `uplift` (with `uplift_low`, `uplift_high`) is relative: 0.12 is a rate
    12% higher than the first's. `only_first` and `only_second` name the tasks on which one did better, `flaky` those
    where attempts of one entrant differ. `by_task` has the numbers of each task; `differs` says {setting: [first's,
    second's]}. `sentence` says it all. Raises `NotFound` for an entrant without an episode in the scope.
    """
    return compare_all(engine, [first, second], seed=seed, **options)[0]


def compare_all(
    engine: Engine, entrants: Sequence[int | str], *, seed: int = 0, **options: Unpack[ScopeOptions]
) -> list[Row]:
    """Every pair of these entrants as from `compare`, with `p_holm`, corrected over the pairs."""
    scope = find_scope(engine, **options)
    known = [_candidates(engine, ref) for ref in entrants]
    cells = {} if scope is None else cells_of(engine, scope, {row["id"] for rows in known for row in rows})
    sides = [_playing(ref, rows, cells) for ref, rows in zip(entrants, known, strict=True)]
    facts = [] if scope is None else tasks_of(engine, scope)
    found = [compare_sides(pair, cells, facts, seed=seed) for pair in combinations(sides, 2)]
    return with_holm(found)


def with_holm(rows: list[Row]) -> list[Row]:
    """The comparisons with `p_holm`; those without a task in common have none and are not counted."""
    tested = [row for row in rows if row["p_value"] is not None]
    corrected = iter(stats.holm([row["p_value"] for row in tested]))
    return [{**row, "p_holm": None if row["p_value"] is None else next(corrected)} for row in rows]


def compare_sides(sides: Sequence[Row], cells: Cells, facts: Sequence[Row], *, seed: int = 0) -> Row:
    """As `compare`, from what the scope has in `cells_of` and `tasks_of`."""
    tasks_of_side = [cells[side["id"]] for side in sides]
    about = {(fact["name"], fact["digest"]): fact for fact in facts}
    shared = shared_tasks(*tasks_of_side)
    pairs = [[played(tasks[key]) for key in shared] for tasks in tasks_of_side]
    found = stats.paired_difference(*pairs, seed=seed)
    rows = [
        row_of(side, {key: tasks[key] for key in shared}, len(shared))
        for side, tasks in zip(sides, tasks_of_side, strict=True)
    ]
    by_task = [
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
    result = asdict(found)
    result |= {"ci_low": result.pop("low"), "ci_high": result.pop("high")}
    result |= {"only_first": [row["task"] for row in by_task if row["difference"] < 0]}
    result |= {"only_second": [row["task"] for row in by_task if row["difference"] > 0]}
    result |= {"flaky": [row["task"] for row in by_task if row["flaky"]]}
    result |= {"by_task": by_task, "differs": differences(*sides)}
    return {"first": rows[0], "second": rows[1], **result, "sentence": sentence(rows[0], rows[1], found)}


def shared_tasks(first: dict[Any, Row], second: dict[Any, Row]) -> list[Any]:
    """The tasks that both sides have counted episodes of."""
    return sorted(key for key in first if key in second and played(first[key])[1] and played(second[key])[1])


def played(sums: Row) -> tuple[int, int]:
    """(resolved, counted) of a cell."""
    return sums["resolved"], sums["resolved"] + sums["unresolved"]


def compare_categories(
    engine: Engine, first: int | str, second: int | str, *, seed: int = 0, **options: Unpack[ScopeOptions]
) -> list[Row]:
    """As `compare`, category by category: category, tasks, difference with its interval, p_value, and p_holm."""
    by_task = compare(engine, first, second, seed=seed, **options)["by_task"]
    rows = []
    for category in sorted({row["category"] for row in by_task}):
        tasks = [row for row in by_task if row["category"] == category]
        sides = [[(row[f"{side}_resolved"], row[f"{side}_counted"]) for row in tasks] for side in ("first", "second")]
        found = stats.paired_difference(*sides, seed=seed)
        numbers = {"difference": found.difference, "ci_low": found.low, "ci_high": found.high, "p_value": found.p_value}
        rows.append({"category": category, "tasks": found.tasks, **numbers})
    for row, p_value in zip(rows, stats.holm([row["p_value"] for row in rows]), strict=True):
        row["p_holm"] = p_value
    return rows


def differences(first: Row, second: Row) -> dict[str, list[Any]]:
    """The settings in which two entrants differ: {name: [first's, second's]}; None for what one does not have."""
    names = ("agent", "agent_version", "model", "tools", "tool_list")
    settings = [
        {**{name: side[name] for name in names}, **{f"config.{name}": value for name, value in side["config"].items()}}
        for side in (first, second)
    ]
    keys = dict.fromkeys([*settings[0], *settings[1]])
    both = {key: [side.get(key) for side in settings] for key in keys}
    return {key: values for key, values in both.items() if values[0] != values[1]}


def _candidates(engine: Engine, ref: int | str) -> list[Row]:
    """The entrants with this id or name, newest first."""
    number = row_id(ref)
    wanted = ENTRANT.c.name == storable_text(str(ref))
    if number is not None:
        wanted = wanted | (ENTRANT.c.id == number)
    return fetch(engine, select(ENTRANT).where(wanted).order_by(ENTRANT.c.id.desc()))


def _playing(ref: int | str, candidates: Sequence[Row], cells: Cells) -> Row:
    """The first of the candidates that has played in the scope."""
    for row in candidates:
        if row["id"] in cells:
            return row
    raise NotFound(f"No entrant {str(ref)[:80]!r} has an episode here: `stackrank leaderboard` shows who has.")


def sentence(first: Row, second: Row, found: stats.Difference) -> str:
    """The verdict on two entrants: the second's lead over the first, with intervals and p-value."""
    if found.difference is None or found.low is None or found.high is None:
        return f"{first['entrant']} and {second['entrant']} have no counted task in common."
    gap = f"{100 * abs(found.difference):.1f} points {'ahead of' if found.difference > 0 else 'behind'}"
    text = f"{second['entrant']} is {gap if found.difference else 'level with'} {first['entrant']} "
    text += f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}], "
    if found.uplift is not None and found.uplift_low is not None:
        most = "no upper end" if found.uplift_high is None else f"{100 * found.uplift_high:+.0f}%"
        text += f"relatively {100 * found.uplift:+.0f}% [{100 * found.uplift_low:+.0f}%, {most}], "
    text += f"p = {found.p_value:.2g}, n = {found.tasks} {'task' if found.tasks == 1 else 'tasks'}"
    if found.detectable:
        text += f"; this many tasks could detect {100 * found.detectable:.1f} points"
    return text + "."
