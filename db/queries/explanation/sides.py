"""Reads what two nights are compared by: the episodes of each entrant, in a run and in the earlier runs like it."""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple, TypedDict

from sqlalchemy import Engine, case, func, or_, select

from stackrank.db import stats
from stackrank.db.connection.transactions import BENCHMARK, ENTRANT, EPISODE, RUN, TASK
from stackrank.db.queries.boards.scope import fetch_entrants
from stackrank.db.queries.catalogue import EntrantRow
from stackrank.db.queries.comparisons.changes import RateDifference
from stackrank.db.queries.comparisons.claims import direction
from stackrank.db.queries.reading import fetch
from stackrank.db.queries.runs import RunRow
from stackrank.db.totals.sums import TaskKey
from stackrank.terms import RunStatus, Verdict

_E = EPISODE.c
_CLEAR_Z = 2.33
"""A share counts as risen if its increase is at least this many standard errors (one-sided p < 0.01)."""
LEAST_ERRORS, LEAST_ERROR_RISE = 2, 0.1
"""From this many errors, and this rise of their share on, a night is worse because of errors alone."""


_MOST_UNCLEAR = 3
"""If nobody is clearly worse, so many of those that lost most are looked at."""


class PlayedEpisode(TypedDict):
    """An episode with a verdict. `task_digest` tells the versions of a task apart."""

    id: int
    run_id: int
    entrant_id: int
    called: str
    task: str
    task_digest: str
    verdict: str
    stop_reason: str
    failure_point: str
    steps: int
    tokens_out: int
    env_ms: float
    model_ms: float
    score_ms: float
    machine_load: float | None
    error: str
    error_class: str
    at_reproduced: int | None
    at_localized: int | None
    at_edited: int | None
    at_improved: int | None
    at_solved: int | None


_COLUMNS = [_E[name] for name in PlayedEpisode.__annotations__ if name in _E]


class Rise(NamedTuple):
    """How often something happens now and before, and which part of the loss that accounts for (0 to 1)."""

    now: float
    before: float
    explained: float


@dataclass(frozen=True)
class Side:
    """An entrant of a run, and what it or its namesake did in the earlier runs, on the tasks that both have."""

    entrant: EntrantRow
    earlier: EntrantRow
    now: Sequence[PlayedEpisode]
    before: Sequence[PlayedEpisode]
    change: RateDifference | None

    @property
    def is_clearly_worse(self) -> bool:
        """Whether the corrected test says that the rate fell."""
        return self.change is not None and direction(self.change["difference"], self.change["p_value"]) < 0

    @functools.cached_property
    def drops(self) -> dict[TaskKey, float]:
        """Task -> by how much it is resolved less often than before; negative: more often."""
        now, before = (_rates(episodes) for episodes in (self.now, self.before))
        return {key: before[key] - rate for key, rate in now.items() if key in before}

    @property
    def drop(self) -> float:
        """By how much the rate fell, each task with the same weight."""
        return fmean(self.drops.values()) if self.drops else 0.0

    @functools.cached_property
    def newly_failing(self) -> list[PlayedEpisode]:
        """The unresolved episodes of tasks that were resolved more often before, the greatest loss first."""
        failing = [row for row in counted(self.now) if row["verdict"] == Verdict.UNRESOLVED]
        lost = [row for row in failing if self.drops.get(key_of(row), 0.0) > 0]
        return sorted(lost, key=lambda row: -self.drops[key_of(row)])

    @functools.cached_property
    def error_rise(self) -> Rise:
        """The share of episodes that ended in an error."""
        now, before = (
            sum(row["verdict"] == Verdict.ERROR for row in rows) / len(rows) if rows else 0.0
            for rows in (self.now, self.before)
        )
        return Rise(now, before, max(0.0, now - before))

    @property
    def has_many_errors(self) -> bool:
        """Whether errors alone make the night worse."""
        errors = sum(row["verdict"] == Verdict.ERROR for row in self.now)
        return errors >= LEAST_ERRORS and self.error_rise.explained > LEAST_ERROR_RISE

    def rise(self, is_marked: Callable[[PlayedEpisode], bool]) -> Rise:
        """Return how often episodes are unresolved and marked, and how much of the fall of the rate that explains."""

        def share(rows: Sequence[PlayedEpisode]) -> float:
            return sum(row["verdict"] == Verdict.UNRESOLVED and is_marked(row) for row in rows) / len(rows)

        now, before = counted(self.now), counted(self.before)
        if not now or not before:
            return Rise(0.0, 0.0, 0.0)
        share_now, share_before = share(now), share(before)
        pooled = (share_now * len(now) + share_before * len(before)) / (len(now) + len(before))
        error = math.sqrt(pooled * (1 - pooled) * (1 / len(now) + 1 / len(before)))
        grown = share_now - share_before
        if grown <= 0 or grown < _CLEAR_Z * error:
            return Rise(share_now, share_before, 0.0)
        return Rise(share_now, share_before, min(1.0, grown / max(self.drop, 1 / len(now))))


def counted(rows: Iterable[PlayedEpisode]) -> list[PlayedEpisode]:
    """Return the episodes that rates count."""
    return [row for row in rows if row["verdict"] != Verdict.ERROR]


def key_of(row: PlayedEpisode) -> TaskKey:
    """Return the task of an episode, in the version that was played."""
    return row["task"], row["task_digest"]


def _rates(rows: Iterable[PlayedEpisode]) -> dict[TaskKey, float]:
    results: dict[TaskKey, list[bool]] = defaultdict(list)
    for row in counted(rows):
        results[key_of(row)].append(row["verdict"] == Verdict.RESOLVED)
    return {key: fmean(values) for key, values in results.items()}


def night_before(engine: Engine, run: RunRow) -> int | None:
    """Return the run that a run of a series is compared with; None if there is none.

    It is the newest earlier finished run of the same benchmark that was not reported as worse, else the newest.
    """
    if not run["series"]:
        return None
    query = select(RUN.c.id, RUN.c.regressions).join(BENCHMARK, RUN.c.benchmark_id == BENCHMARK.c.id)
    query = query.where(RUN.c.series == run["series"], RUN.c.status == RunStatus.FINISHED, RUN.c.id < run["id"])
    rows = fetch(engine, query.where(BENCHMARK.c.name == run["benchmark"]).order_by(RUN.c.id.desc()))
    good = [row["id"] for row in rows if not _is_worse(row["regressions"])]
    return next(iter([*good, *(row["id"] for row in rows)]), None)


def like_nights(engine: Engine, before: RunRow) -> list[int]:
    """Return a run and the earlier runs of its series under its conditions, at most `stats.BASELINE`, oldest first."""
    same = [RUN.c[name] == before[name] for name in ("series", "benchmark_id", "conditions_digest")]
    query = select(RUN.c.id, RUN.c.regressions).where(
        *same, RUN.c.series != "", RUN.c.status == RunStatus.FINISHED, RUN.c.id < before["id"]
    )
    rows = fetch(engine, query.order_by(RUN.c.id.desc()))
    earlier = [row["id"] for row in rows if not _is_worse(row["regressions"])]
    return [*reversed(earlier[: stats.BASELINE - 1]), before["id"]]


def _is_worse(regressions: Sequence[dict[str, Any]]) -> bool:
    return any(row.get("what") == "rate" for row in regressions)


def read_episodes(engine: Engine, ids: Iterable[int]) -> dict[int, PlayedEpisode]:
    """Return these episodes by id."""
    return {row["id"]: row for row in _read_played(engine, _E.id.in_(list(ids)))}


def _read_played(engine: Engine, *conditions: Any) -> list[PlayedEpisode]:
    names = (ENTRANT.c.called, TASK.c.name.label("task"), TASK.c.digest.label("task_digest"))
    query = select(*_COLUMNS, *names).select_from(EPISODE).join(TASK).join(ENTRANT)
    return fetch(engine, query.where(_E.verdict.in_(list(Verdict)), *conditions).order_by(_E.id), PlayedEpisode)


def _with_more_errors(engine: Engine, run: int, before: int) -> list[int]:
    """Return the entrants of a run that met errors, and more often than in the run before."""
    errors = func.sum(case((_E.verdict == Verdict.ERROR, 1), else_=0))
    query = select(_E.run_id, _E.entrant_id, errors.label("errors"), func.count().label("episodes"))
    query = query.where(_E.run_id.in_((run, before)), _E.counted, _E.verdict != "")
    counts = {
        (row["run_id"], row["entrant_id"]): (row["errors"], row["errors"] / row["episodes"])
        for row in fetch(engine, query.group_by(_E.run_id, _E.entrant_id))
    }
    return [
        entrant
        for (run_id, entrant), (number, share) in counts.items()
        if run_id == run
        and number >= LEAST_ERRORS
        and share - counts.get((before, entrant), (0, 0.0))[1] > LEAST_ERROR_RISE
    ]


def read_sides(
    engine: Engine, run: RunRow, runs_before: Sequence[int], changes: Mapping[str, RateDifference]
) -> list[Side]:
    """Return the entrants of a run that are clearly worse or met errors; else those that lost most.

    Of them, those that also played in the earlier runs. `changes`: what an entrant is called, or its name -> change.
    """
    lost = sorted((change["difference"], name) for name, change in changes.items() if change["difference"] < 0)
    clear = [name for _, name in lost if direction(changes[name]["difference"], changes[name]["p_value"])]
    erring = _with_more_errors(engine, run["id"], runs_before[-1])
    names = clear if clear or erring else [name for _, name in lost[:_MOST_UNCLEAR]]
    labels = select(ENTRANT.c.called).where(
        or_(ENTRANT.c.called.in_(names), ENTRANT.c.name.in_(names), ENTRANT.c.id.in_(erring))
    )
    rows = _read_played(engine, _E.run_id.in_([run["id"], *runs_before]), _E.counted, ENTRANT.c.called.in_(labels))
    by_run: dict[bool, dict[int, list[PlayedEpisode]]] = {True: defaultdict(list), False: defaultdict(list)}
    for row in rows:
        by_run[row["run_id"] == run["id"]][row["entrant_id"]].append(row)
    tonight, earlier = by_run[True], by_run[False]
    entrants = fetch_entrants(engine, {*tonight, *earlier})
    played_as = Counter(entrants[entrant_id]["called"] for entrant_id in tonight)
    sides = []
    for entrant_id, now in tonight.items():
        entrant = entrants[entrant_id]
        ids = [
            other
            for other in earlier
            if entrants[other]["called"] == entrant["called"]
            and (other == entrant_id or played_as[entrant["called"]] == 1)
        ]
        played = sorted((row for other in ids for row in earlier[other]), key=lambda row: row["id"])
        shared = {key_of(row) for row in played} & {key_of(row) for row in now}
        before = [row for row in played if key_of(row) in shared]
        if before:
            last = entrants[before[-1]["entrant_id"]]
            now = [row for row in now if key_of(row) in shared]
            change = changes.get(entrant["name"]) or changes.get(entrant["called"])
            sides.append(Side(entrant, last, now, before, change))
    return sides
