"""Sums over the whole database, for monitoring from outside."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import Engine, func, select

from stackrank.db.connection.transactions import COUNTER, RUN
from stackrank.db.queries.reading import Row, fetch
from stackrank.db.totals.counters import BOUNDS, sum_columns
from stackrank.terms import EpisodeStatus, RunStatus, Verdict

_C = COUNTER.c
_WITHIN = tuple(f"within_{bound}" for bound in BOUNDS)
_SHOWN = ("episodes", "wall_s", "tokens_in", "tokens_out", "cost_usd")


def totals(engine: Engine) -> Row:
    """Return totals over the whole database. The cost grows with the number of runs, but not with that of episodes.

    `runs` {status: count}; `verdicts` {verdict: {"episodes", "wall_s", "tokens_in", "tokens_out", "cost_usd" (of what
    has a price), "within": [episodes that took at most so many seconds, for each of `db.counters.BOUNDS`]}} over
    counted episodes; `running` and `pending` episodes of the runs that have not ended; `retried`: tries that are not
    counted; `errors` {cause: episodes}, such tries included; the cause of an error is its beginning, up to a colon.
    """
    group = (_C.counted, _C.status, _C.verdict, _C.cause, RUN.c.status.label("of_run"))
    query = select(*group, *sum_columns(*_SHOWN, *_WITHIN))
    verdicts: dict[str, dict[str, Any]] = {}
    waiting, errors, retried = Counter[str](), Counter[str](), 0
    for row in fetch(engine, query.join_from(COUNTER, RUN, RUN.c.id == _C.run_id).group_by(*group[:-1], RUN.c.status)):
        if not row["episodes"]:
            continue
        if row["verdict"] == Verdict.ERROR:
            errors[row["cause"]] += row["episodes"]
        if not row["counted"]:
            retried += row["episodes"]
        elif row["verdict"]:
            sums = verdicts.setdefault(row["verdict"], {**dict.fromkeys(_SHOWN, 0), "within": [0] * len(_WITHIN)})
            for name in _SHOWN:
                sums[name] += row[name]
            sums["within"] = [count + row[name] for count, name in zip(sums["within"], _WITHIN, strict=True)]
        elif not RunStatus(row["of_run"]).ended:
            waiting[row["status"]] += row["episodes"]
    statuses = select(RUN.c.status, func.count().label("runs")).group_by(RUN.c.status)
    return {
        "runs": {row["status"]: row["runs"] for row in fetch(engine, statuses)},
        "verdicts": verdicts,
        "running": waiting[EpisodeStatus.RUNNING],
        "pending": waiting[EpisodeStatus.PENDING],
        "retried": retried,
        "errors": dict(errors),
    }
