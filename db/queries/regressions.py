"""What got worse since an entrant played the leaderboard last."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, select

from db import stats
from db.models import RunStatus
from db.queries.boards import row_of
from db.queries.compare import differences, played, shared_tasks
from db.queries.reading import Row, fetch_one
from db.queries.runs import run as find_run
from db.queries.scope import cells_of, entrants_of, find_scope
from db.transactions import ENTRANT, EPISODE, RUN

LEAST_ERRORS = 2
"""Fewer episodes than this that ended in an error are no jump, whatever their share: one hiccup is none."""


def regressions(
    engine: Engine,
    run: int | str,
    *,
    alpha: float = stats.ALPHA,
    errors: float = 0.1,
    cost: float = 1.5,
    seed: int = 0,
) -> list[Row]:
    """What each entrant of a run does worse than in its previous finished run of the same leaderboard and benchmark.

    An entrant is told by its name, so that a new version of an agent is compared with the old one. Reported are: a
    rate (`what` is `rate`) that fell, paired by task, with a p-value below `alpha` after Holm's correction over the
    entrants; a share of episodes that ended in an error (`errors`) that grew by more than `errors`; a cost per
    counted episode (`cost`), on the tasks that both runs counted, of more than `cost` times what it was. Empty for a
    run without a leaderboard. Each row: entrant, entrant_id, what, before (a run's id), value_before, value, tasks,
    p_value (None but for rates), differs (the settings that are not the same) and a sentence.
    """
    this = find_run(engine, run)
    scope = find_scope(engine, run=this["id"])
    if not this["leaderboard"] or scope is None:
        return []
    cells = cells_of(engine, scope)
    entrants = entrants_of(engine, cells)
    pairs = [
        (entrants[new_id], earlier, cells[new_id], old)
        for new_id in sorted(cells, key=lambda each: entrants[each]["name"])
        if (found := _before(engine, this, entrants[new_id]["name"])) is not None
        for earlier, old in [found]
    ]
    drops = [_drop(new, old, seed) for _, _, new, old in pairs]
    p_values = iter(stats.holm([found.p_value for found in drops if found.p_value is not None]))
    rows: list[Row] = []
    for (entrant, earlier, new, old), drop in zip(pairs, drops, strict=True):
        now, then = (row_of(entrant, side, len(side)) for side in (new, old))
        about = {
            "entrant": entrant["name"],
            "entrant_id": entrant["id"],
            "before": earlier["run_id"],
            "differs": differences(earlier, entrant),
        }
        p_value = None if drop.p_value is None else next(p_values)
        if p_value is not None and drop.difference is not None and drop.difference < 0 and p_value < alpha:
            rows.append(about | _rate(new, old, drop, p_value))
        if grown := _errors(now, then, errors):
            rows.append(about | grown)
        if dearer := _cost(entrant, new, old, cost):
            rows.append(about | dearer)
    for row in rows:
        row["sentence"] = f"{row['entrant']}: {row['sentence']} since run {row['before']}"
    return rows


def _before(engine: Engine, run: Row, name: str) -> tuple[Row, dict[Any, Row]] | None:
    """The entrant of this name in its newest earlier run of the leaderboard, with `run_id`, and its sums per task."""
    same = (RUN.c.leaderboard == run["leaderboard"]) & (RUN.c.benchmark_id == run["benchmark_id"])
    earlier = (RUN.c.id < run["id"]) & (RUN.c.status == RunStatus.FINISHED)
    query = (
        select(ENTRANT, EPISODE.c.run_id)
        .join(EPISODE, EPISODE.c.entrant_id == ENTRANT.c.id)
        .join(RUN, EPISODE.c.run_id == RUN.c.id)
        .where(same, earlier, ENTRANT.c.name == name, EPISODE.c.counted)
        .order_by(RUN.c.id.desc(), ENTRANT.c.id.desc())
    )
    found = fetch_one(engine, query)
    if found is None:
        return None
    scope = find_scope(engine, run=int(found["run_id"]))
    return found, {} if scope is None else cells_of(engine, scope).get(found["id"], {})


def _drop(new: dict[Any, Row], old: dict[Any, Row], seed: int) -> stats.Difference:
    shared = shared_tasks(old, new)
    return stats.paired_difference(*[[played(side[key]) for key in shared] for side in (old, new)], seed=seed)


def _rate(new: dict[Any, Row], old: dict[Any, Row], drop: stats.Difference, p_value: float) -> Row:
    shared = shared_tasks(old, new)
    then, now = (sum(r / n for r, n in (played(side[key]) for key in shared)) / len(shared) for side in (old, new))
    sentence = f"resolved {then:.1%} -> {now:.1%} of {drop.tasks} tasks (p = {p_value:.2g})"
    return {
        "what": "rate",
        "value_before": then,
        "value": now,
        "tasks": drop.tasks,
        "p_value": p_value,
        "sentence": sentence,
    }


def _errors(now: Row, then: Row, most: float) -> Row | None:
    if not now["episodes"] or not then["episodes"] or now["errors"] < LEAST_ERRORS:
        return None
    before, share = then["errors"] / then["episodes"], now["errors"] / now["episodes"]
    if share - before <= most:
        return None
    sentence = f"errors {before:.1%} -> {share:.1%} of its episodes"
    return _value("errors", before, share, now["tasks"], sentence)


def _cost(entrant: Row, new: dict[Any, Row], old: dict[Any, Row], most: float) -> Row | None:
    shared = shared_tasks(old, new)
    now, then = (row_of(entrant, {key: side[key] for key in shared}, len(shared)) for side in (new, old))
    if not now["cost_usd"] or not then["cost_usd"]:  # unknown, or free
        return None
    before, mean = (row["cost_usd"] / (row["resolved"] + row["unresolved"]) for row in (then, now))
    if mean <= before * most:
        return None
    return _value("cost", before, mean, len(shared), f"cost ${before:.3g} -> ${mean:.3g} an episode")


def _value(what: str, before: float, value: float, tasks: int, sentence: str) -> Row:
    return {
        "what": what,
        "value_before": before,
        "value": value,
        "tasks": tasks,
        "p_value": None,
        "sentence": sentence,
    }
