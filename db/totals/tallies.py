"""Tallies: the sums over the episodes of a run that is over, kept so that no board adds up thousands of them again.

The transaction that ends a run makes its tally. One that starts the run again, or changes one of its episodes, removes
the tally. Without a tally, a run is added up from its episodes, which gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, Float, Integer, Select, bindparam, case, cast, delete, func, insert, select
from sqlalchemy.sql import ColumnElement

from stackrank.db.connection.transactions import EPISODE, RUN, TALLY
from stackrank.db.totals import counters
from stackrank.db.totals.sums import Sums, total
from stackrank.terms import ErrorClass, Verdict

_E = EPISODE.c
_BY_CLASS = ("machine_errors", "endpoint_errors", "environment_errors", "our_errors")
_OF_CLASS = dict(zip(ErrorClass, _BY_CLASS, strict=True))
_ADDED = tuple(name for name in Sums._fields if name not in (*_BY_CLASS, "failed_errors"))
_WIDE = ("steps", "tokens_in", "tokens_out", "faults_mended", "faults")
_FLOATS = ("cost_usd", "wall_s", "spent_usd", "partial")
_STORED = tuple(name for name in Sums._fields if name != "failed_errors")  # what counts as a failure is decided later
_LOCK = 0x7A11
"""The half of the key that the advisory locks of all tallies share; the other half is the run."""
_CELL = [("entrant", "<i8"), ("task", "<i8")] + [
    (name, "<f8" if name in _FLOATS else "<i8" if name in _WIDE else "<i4") for name in _STORED
]
"""The NumPy type of a cell of a tally."""

Cell = tuple[int, int, Sums]
"""An entrant's id, a task's id, and the sums over the entrant's episodes of that task."""


def of_episodes(connection: Connection, of_runs: ColumnElement[bool], of_many_runs: ColumnElement[bool]) -> list[Cell]:
    """Add up the episodes of runs. Both conditions select the same runs; the second suits a query over many of them."""
    counted = connection.execute(_counted(of_many_runs))
    cells = {(entrant, task): Sums(*values) for entrant, task, *values in counted}
    for entrant, task, usd, unpriced in connection.execute(_tries(of_runs)):
        repeated = Sums(spent_usd=usd, unpriced=unpriced)
        cells[entrant, task] = total((cells.get((entrant, task), Sums()), repeated))
    for entrant, task, kind, errors in connection.execute(_errors(of_many_runs)):
        if kind:
            sums = cells[entrant, task]
            name = _OF_CLASS[ErrorClass(kind)]
            cells[entrant, task] = sums._replace(**{name: getattr(sums, name) + errors})
    return [(entrant, task, sums) for (entrant, task), sums in cells.items()]


def _counted(of_runs: ColumnElement[bool]) -> Select[Any]:
    sums = {
        "resolved": _over(1, _E.verdict == Verdict.RESOLVED),
        "sealed": _over(1, (_E.verdict == Verdict.RESOLVED) & (_E.sealed > 0)),
        "unverified": _over(1, _E.unverified),
        "unresolved": _over(1, _E.verdict == Verdict.UNRESOLVED),
        "errors": _over(1, _E.verdict == Verdict.ERROR),
        "partial": _over(share_of_faults(), _E.verdict == Verdict.UNRESOLVED),
        "faults_mended": _over(_E.mended),
        "faults": _over(_E.faults_total),
        "cost_usd": _over(func.coalesce(_E.cost_usd, 0.0)),
        "priced": _over(1, _SCORED & _E.cost_usd.is_not(None)),
        **_spent(),
    }
    columns = [sums[name] if name in sums else _over(_E[name]) for name in _ADDED]
    groups = (_E.entrant_id, _E.task_id)
    return select(*groups, *columns).where(of_runs, _E.counted, _E.verdict != "").group_by(*groups)


def _tries(of_runs: ColumnElement[bool]) -> Select[Any]:
    """Return the query for the cost of repeated tries. It is separate because an index leads to these few rows."""
    query = select(_E.entrant_id, _E.task_id, *_spent().values()).where(of_runs, ~_E.counted)
    return query.group_by(_E.task_id, _E.entrant_id)


def _errors(of_runs: ColumnElement[bool]) -> Select[Any]:
    """Return the query that counts the errors of each class. No index has the classes, but errors are few."""
    groups = (_E.entrant_id, _E.task_id, _E.error_class)
    return select(*groups, func.count()).where(of_runs, _E.counted, _E.verdict == Verdict.ERROR).group_by(*groups)


_SCORED = _E.verdict != Verdict.ERROR


def share_of_faults() -> ColumnElement[float]:
    """Return the share of an episode's faults that are mended: its outcome."""
    return case((_E.verdict == Verdict.RESOLVED, 1.0), else_=cast(_E.mended, Float) / _E.faults_total)


def _over(value: Any, condition: ColumnElement[bool] = _SCORED) -> ColumnElement[Any]:
    return func.coalesce(func.sum(case((condition, value), else_=0)), 0)


def _spent() -> dict[str, ColumnElement[Any]]:
    # An error without tokens has cost nothing, whatever the price.
    has_cost = _SCORED | (_E.tokens_in + _E.tokens_out > 0)
    return {
        "spent_usd": func.coalesce(func.sum(_E.cost_usd), 0.0),
        "unpriced": _over(1, _E.cost_usd.is_(None) & has_cost),
    }


def of_tallies(contents: Iterable[bytes]) -> list[Cell]:
    """Add up the tallies of runs."""
    import numpy

    # Runs of one specification mostly have the same cells, so their columns are added directly, without sorting.
    columns_by_key: dict[bytes, dict[str, Any]] = {}
    for content in contents:
        cells = numpy.frombuffer(content, numpy.dtype(_CELL))
        key = cells["entrant"].tobytes() + cells["task"].tobytes()
        if key not in columns_by_key:
            columns_by_key[key] = {name: cells[name].astype(float if name in _FLOATS else int) for name, _ in _CELL}
        else:
            for name in _STORED:
                columns_by_key[key][name] += cells[name]
    if not any(columns_by_key):
        return []
    every = {name: numpy.concatenate([arrays[name] for arrays in columns_by_key.values()]) for name, _ in _CELL}
    width = int(every["task"].max()) + 1
    places, inverse = numpy.unique(every["entrant"] * width + every["task"], return_inverse=True)
    columns = []
    for name in _STORED:
        sums = numpy.bincount(inverse, weights=every[name])
        columns.append((sums if name in _FLOATS else sums.astype(int)).tolist())
    columns.append([0] * len(places))  # no error counts as a failure yet
    added = map(Sums._make, zip(*columns, strict=True))
    return list(zip((places // width).tolist(), (places % width).tolist(), added, strict=True))


def results_of(content: bytes) -> dict[int, dict[int, tuple[int, int]]]:
    """Return entrant -> task -> its resolved and its scored episodes, from the tally of a run."""
    import numpy

    cells = numpy.frombuffer(content, numpy.dtype(_CELL))
    scored = cells["resolved"] + cells["unresolved"]
    columns = (cells["entrant"], cells["task"], cells["resolved"], scored)
    results: dict[int, dict[int, tuple[int, int]]] = {}
    for entrant, task, resolved, of in zip(*(column[scored > 0].tolist() for column in columns), strict=True):
        results.setdefault(entrant, {})[task] = (resolved, of)
    return results


def keep(connection: Connection, run_id: int) -> None:
    """Store the tally of a run, after the transactions that are ending its episodes; later ones wait for this one."""
    import numpy

    _lock(connection, _ALONE, run_id)
    counters.fold(connection, run_id)
    in_run = _E.run_id == run_id
    rows = [(entrant, task, *sums[: len(_STORED)]) for entrant, task, sums in of_episodes(connection, in_run, in_run)]
    forget(connection, [run_id])
    content = numpy.array(sorted(rows), numpy.dtype(_CELL)).tobytes()
    connection.execute(insert(TALLY).values(run_id=run_id, content=content))


def forget(connection: Connection, runs: Collection[int]) -> None:
    """Remove the tallies of these runs, because their episodes change."""
    connection.execute(delete(TALLY).where(TALLY.c.run_id.in_(runs)))


def forget_tally_of(connection: Connection, episode_id: int) -> None:
    """Remove the tally of this episode's run. The run cannot end before this transaction does.

    Call this before changing the episode, because a transaction that ends the run waits for the run's counters.
    """
    _lock(connection, _SHARED, episode_id)
    connection.execute(_FORGET, {"one": episode_id})


def _lock(connection: Connection, statement: Select[Any], number: int) -> None:
    """Take the lock of a run's tally until the transaction ends. SQLite has only one writer, so it needs no lock.

    PostgreSQL queues requests for an advisory lock. A lock on the run's row would keep its heartbeat or a cancel
    waiting for as long as workers end episodes: new shared locks on a row do not queue behind a waiting writer.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(statement, {"one": number})


# Built once, because building these takes longer than running them.
_KEY = (_LOCK, cast(RUN.c.id % 2**31, Integer))
_RUN_OF_ONE = select(_E.run_id).where(_E.id == bindparam("one")).scalar_subquery()
_ALONE = select(func.pg_advisory_xact_lock(*_KEY)).where(RUN.c.id == bindparam("one"))
_SHARED = select(func.pg_advisory_xact_lock_shared(*_KEY)).where(RUN.c.id == _RUN_OF_ONE)
_FORGET = delete(TALLY).where(TALLY.c.run_id == _RUN_OF_ONE)
