"""Two entrants, or two runs of one, on the same tasks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from sqlalchemy import Engine, select

from db import stats
from db.errors import NotFound
from db.models import RunStatus
from db.queries.boards import row_of
from db.queries.reading import Row, fetch, fetch_one, row_id
from db.queries.runs import run as find_run
from db.queries.scope import cells_of, find_scope
from db.storable import storable_text
from db.transactions import ENTRANT, RUN


def compare(
    engine: Engine,
    first: int | str,
    second: int | str,
    *,
    run: int | str | Iterable[int | str] | None = None,
    benchmark: str | None = None,
    leaderboard: str | None = None,
    tags: str | Iterable[str] = (),
    last: int | None = None,
    seed: int = 0,
) -> Row:
    """Two entrants (ids or names) on the tasks both played; the scope is chosen as in `leaderboard`.

    `first` and `second` are their rows on those tasks, `difference` (second - first, with `ci_low`, `ci_high`,
    `p_value`, `test`, `detectable`) is in 0..1, `uplift` (with `uplift_low`, `uplift_high`) is relative: 0.12 is a rate
    12% higher than the first's. `only_first` and `only_second` name the tasks on which one did better,
    `sentence` says it all. Raises `NotFound` for an entrant without an episode in the scope.
    """
    scope = find_scope(engine, run, benchmark, leaderboard, tags, last)
    cells = {} if scope is None else cells_of(engine, scope)
    sides = [_entrant(engine, ref, cells) for ref in (first, second)]
    all_tasks = [cells[side["id"]] for side in sides]
    shared = sorted(key for key in all_tasks[0] if all(key in tasks and _played(tasks[key])[1] for tasks in all_tasks))
    pairs = [[_played(tasks[key]) for key in shared] for tasks in all_tasks]
    found = stats.paired_difference(*pairs, seed=seed)
    rows = [
        row_of(side, {key: tasks[key] for key in shared}, len(shared))
        for side, tasks in zip(sides, all_tasks, strict=True)
    ]
    gaps = [(key[0], b[0] / b[1] - a[0] / a[1]) for key, a, b in zip(shared, *pairs, strict=True)]
    result = asdict(found)
    result |= {"ci_low": result.pop("low"), "ci_high": result.pop("high")}
    result |= {"only_first": [name for name, gap in gaps if gap < 0]}
    result |= {"only_second": [name for name, gap in gaps if gap > 0]}
    return {"first": rows[0], "second": rows[1], **result, "sentence": _sentence(rows[0], rows[1], found)}


def changes(engine: Engine, run: int | str, before: int | str | None = None, *, seed: int = 0) -> list[Row]:
    """What each entrant does better or worse in a run than in the one `before` it, paired by task.

    Without `before`: the newest earlier run of the same name and benchmark; none gives an empty list. Each row has
    entrant, tasks, rate_before, rate, difference, ci_low, ci_high, and p_value after Holm's correction.
    """
    this = find_run(engine, run)
    if before is None:
        same = (RUN.c.name == this["name"]) & (RUN.c.benchmark_id == this["benchmark_id"])
        finished = RUN.c.status == RunStatus.FINISHED
        query = select(RUN.c.id).where(same, finished, RUN.c.id < this["id"]).order_by(RUN.c.id.desc())
        earlier = fetch_one(engine, query)
        if earlier is None:
            return []
        before = int(earlier["id"])
    sides = []
    for ref in (before, this["id"]):
        scope = find_scope(engine, ref, None, None, (), None)
        sides.append({} if scope is None else cells_of(engine, scope))
    rows = []
    for entrant in fetch(engine, select(ENTRANT).where(ENTRANT.c.id.in_(sides[0])).order_by(ENTRANT.c.name)):
        old, new = (side.get(entrant["id"], {}) for side in sides)
        shared = sorted(key for key in old if key in new and _played(old[key])[1] and _played(new[key])[1])
        pairs = [[_played(tasks[key]) for key in shared] for tasks in (old, new)]
        found = stats.paired_difference(*pairs, seed=seed)
        if found.difference is None:
            continue
        rates = [sum(r / n for r, n in pair) / len(pair) for pair in pairs]
        row = {"entrant_id": entrant["id"], "entrant": entrant["name"], "before": before, "tasks": found.tasks}
        row |= {"rate_before": rates[0], "rate": rates[1], "difference": found.difference}
        rows.append(row | {"ci_low": found.low, "ci_high": found.high, "p_value": found.p_value})
    for row, p_value in zip(rows, stats.holm([row["p_value"] for row in rows]), strict=True):
        row["p_value"] = p_value
    return rows


def _played(sums: Row) -> tuple[int, int]:
    return sums["resolved"], sums["resolved"] + sums["unresolved"]


def _entrant(engine: Engine, ref: int | str, cells: dict[int, dict[Any, Row]]) -> Row:
    """The newest entrant with this id or name that has played in the scope."""
    number = row_id(ref)
    wanted = ENTRANT.c.name == storable_text(str(ref))
    if number is not None:
        wanted = wanted | (ENTRANT.c.id == number)
    for row in fetch(engine, select(ENTRANT).where(wanted).order_by(ENTRANT.c.id.desc())):
        if row["id"] in cells:
            return row
    raise NotFound(f"No entrant {str(ref)[:80]!r} has an episode here: `stackrank leaderboard` shows who has.")


def _sentence(first: Row, second: Row, found: stats.Difference) -> str:
    if found.difference is None or found.low is None or found.high is None:
        return f"{first['entrant']} and {second['entrant']} have no counted task in common."
    gap = f"{100 * abs(found.difference):.1f} points {'ahead of' if found.difference > 0 else 'behind'}"
    sentence = f"{second['entrant']} is {gap if found.difference else 'level with'} {first['entrant']} "
    sentence += f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}], "
    if found.uplift is not None and found.uplift_low is not None:
        most = "no upper end" if found.uplift_high is None else f"{100 * found.uplift_high:+.0f}%"
        sentence += f"relatively {100 * found.uplift:+.0f}% [{100 * found.uplift_low:+.0f}%, {most}], "
    sentence += f"p = {found.p_value:.2g}, n = {found.tasks} {'task' if found.tasks == 1 else 'tasks'}"
    if found.detectable:
        sentence += f"; this many tasks could detect {100 * found.detectable:.1f} points"
    return sentence + "."
