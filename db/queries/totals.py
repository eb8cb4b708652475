"""Sums over everything, for who watches from outside."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, case, func, select, true
from sqlalchemy.sql import ColumnElement

from stackrank.db.columns import now
from stackrank.db.queries.reading import Row, fetch
from stackrank.db.transactions import EPISODE, RUN
from stackrank.terms import EpisodeStatus, RunStatus, Verdict

_E = EPISODE.c
OTHER = "other"


SETTLED_S = 3600.0
"""Nothing happens any more to the episodes of a run that ended so long ago, unless it is started again."""
_AT_ONCE = 500


class Totals:
    """`totals`, again and again: what ended long ago is added up once. Safe to use from several threads."""

    def __init__(self, engine: Engine, *, causes: Sequence[str] = (), seconds: Sequence[float] = ()) -> None:
        self._engine = engine
        self._how: dict[str, Any] = {"causes": causes, "seconds": seconds}
        self._lock = threading.Lock()
        self._added: dict[int, str] = {}
        """The runs that are added up, and when each had ended."""
        self._sums: Row = {}

    def now(self) -> Row:
        """What `totals` gives. Raises DatabaseError."""
        with self._lock:
            before = (now() - timedelta(seconds=SETTLED_S)).isoformat()
            runs = fetch(self._engine, select(RUN.c.id, RUN.c.status, RUN.c.ended_at).order_by(RUN.c.id))
            settled = {
                row["id"]: row["ended_at"]
                for row in runs
                if RunStatus(row["status"]).ended and row["ended_at"] and row["ended_at"] < before
            }
            if not self._added.items() <= settled.items():  # a run goes on again, or was removed
                self._added, self._sums = {}, {}
            if more := [run for run in settled if run not in self._added]:
                self._sums, self._added = _added(self._sums, self._sum(more)), settled
            rest = self._sum([row["id"] for row in runs if row["id"] not in settled])
            return {**_added(self._sums, rest), "runs": rest["runs"]}

    def _sum(self, runs: Sequence[int]) -> Row:
        """What `totals` gives for the episodes of these runs."""
        sums: Row = {}
        for start in range(0, max(len(runs), 1), _AT_ONCE):
            part = _E.run_id.in_(runs[start : start + _AT_ONCE])
            found = totals(self._engine, **self._how, of_episodes=part)
            sums = {**_added(sums, found), "runs": found["runs"]}
        return sums


def _added(one: Any, other: Any) -> Any:
    """The sum of numbers, of lists of them, and of mappings to them."""
    if isinstance(one, dict):
        return {
            name: _added(one[name], other[name]) if name in one and name in other else one.get(name, other.get(name))
            for name in {**one, **other}
        }
    if isinstance(one, list):
        return [_added(*pair) for pair in zip(one, other, strict=True)]
    return one + other


def totals(
    engine: Engine,
    *,
    causes: Sequence[str] = (),
    seconds: Sequence[float] = (),
    of_episodes: ColumnElement[bool] | None = None,
) -> Row:
    """All that the database holds, in numbers. `of_episodes`: those that are added up; the statuses are of all runs.

    `runs` {status: count}; `verdicts` {verdict: {"episodes", "wall_s", "tokens_in", "tokens_out", "cost_usd" (of what
    has a price), "within": [episodes that took at most so many `seconds`, for each]}} over counted episodes; `running`
    and `pending` episodes of the runs that go on; `retried`, tries that are not counted; `errors` {cause: episodes},
    tries among them, an error's cause being what it starts with, `other` where that is none of `causes`.
    """
    which = (of_episodes if of_episodes is not None else true(),)
    within = {f"within_{n}": _count(_E.wall_s <= limit) for n, limit in enumerate(seconds)}
    by_verdict = (
        select(
            _E.verdict,
            func.count().label("episodes"),
            func.coalesce(func.sum(_E.wall_s), 0.0).label("wall_s"),
            func.coalesce(func.sum(_E.tokens_in), 0).label("tokens_in"),
            func.coalesce(func.sum(_E.tokens_out), 0).label("tokens_out"),
            func.coalesce(func.sum(_E.cost_usd), 0.0).label("cost_usd"),
            *(column.label(name) for name, column in within.items()),
        )
        .where(_E.counted, _E.verdict != "", *which)
        .group_by(_E.verdict)
    )
    verdicts: dict[str, Row] = {}
    for row in fetch(engine, by_verdict):
        sums: Row = {name: row[name] for name in ("episodes", "wall_s", "tokens_in", "tokens_out", "cost_usd")}
        verdicts[row["verdict"]] = {**sums, "within": [int(row[name]) for name in within]}
    going_on = select(RUN.c.id).where(RUN.c.status.in_([RunStatus.PENDING, RunStatus.RUNNING]))
    open_episodes = select(
        _count(_E.status == EpisodeStatus.RUNNING).label("running"),
        _count(_E.status == EpisodeStatus.PENDING).label("pending"),
    ).where(_E.run_id.in_(going_on), _E.counted, _E.verdict == "", *which)
    cause: ColumnElement[str] = (
        case(*((_E.error.startswith(f"{each}:", autoescape=True), each) for each in causes), else_=OTHER)
        if causes
        else func.substr(OTHER, 1)
    )
    errors = select(cause.label("cause"), func.count().label("episodes")).where(_E.verdict == Verdict.ERROR, *which)
    statuses = select(RUN.c.status, func.count().label("runs")).group_by(RUN.c.status)
    return {
        "runs": {row["status"]: row["runs"] for row in fetch(engine, statuses)},
        "verdicts": verdicts,
        **fetch(engine, open_episodes)[0],
        "retried": fetch(engine, select(func.count().label("n")).where(~_E.counted, *which))[0]["n"],
        "errors": {row["cause"]: row["episodes"] for row in fetch(engine, errors.group_by(cause))},
    }


def _count(condition: ColumnElement[Any]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)
