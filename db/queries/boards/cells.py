"""Cells: the sums over the episodes of a run, an entrant and a task, for each run or added up over several runs.

A run that is over has its cells in a tally; the cells of other runs are added up from their episodes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import Connection, Engine, select
from sqlalchemy.sql import ColumnElement

from stackrank.db.connection.transactions import EPISODE, TALLY
from stackrank.db.queries.reading import open_connection
from stackrank.db.stats.pairs import TaskCount
from stackrank.db.totals import tallies
from stackrank.db.totals.sums import Sums, total
from stackrank.db.totals.tallies import Cell

_E = EPISODE.c
_FEW_RUNS = 3


def of_runs(engine: Engine, runs: Sequence[int]) -> ColumnElement[bool]:
    """Return the condition that an episode belongs to one of the runs, for a query grouped by entrant and task.

    For many runs, SQLite would find each run by an index and sort all their episodes. A sum in place of the column
    prevents that, so that SQLite reads the index that is in the order of the groups.
    """
    if engine.dialect.name == "sqlite" and len(runs) > _FEW_RUNS:
        return (_E.run_id + 0).in_(runs)
    return _E.run_id.in_(runs)


def add_up_cells(engine: Engine, runs: Sequence[int]) -> list[Cell]:
    """Return the sums of each entrant on each task over all these runs."""
    with open_connection(engine) as connection:
        unstored = set(runs)

        def contents() -> Iterator[bytes]:
            for run, content in _read_tallies(connection, runs):
                unstored.discard(run)
                yield content

        cells = tallies.of_tallies(contents())
        if not unstored:
            return cells
        cells += tallies.of_episodes(connection, _E.run_id.in_(unstored), of_runs(engine, sorted(unstored)))
    merged: dict[tuple[int, int], Sums] = {}
    for entrant, task, sums in cells:
        previous = merged.get((entrant, task))
        merged[entrant, task] = sums if previous is None else total((previous, sums))
    return [(*key, sums) for key, sums in merged.items()]


def read_cells(engine: Engine, runs: Collection[int]) -> dict[int, list[Cell]]:
    """Return the sums of each entrant on each task for each of these runs."""
    with open_connection(engine) as connection:
        stored = dict(_read_tallies(connection, runs))
        return {
            run: tallies.of_tallies([stored[run]])
            if run in stored
            else tallies.of_episodes(connection, _E.run_id == run, _E.run_id == run)
            for run in runs
        }


def read_results(engine: Engine, runs: Collection[int]) -> dict[int, dict[int, dict[int, TaskCount]]]:
    """Return run -> entrant -> task -> its resolved and its scored episodes: what verdicts say, in little time."""
    with open_connection(engine) as connection:
        results = {run: tallies.results_of(content) for run, content in _read_tallies(connection, runs)}
        for run in set(runs) - set(results):
            results[run] = {}
            for entrant, task, sums in tallies.of_episodes(connection, _E.run_id == run, _E.run_id == run):
                if sums.scored:
                    results[run].setdefault(entrant, {})[task] = (sums.resolved, sums.scored)
    return results


def _read_tallies(connection: Connection, runs: Collection[int]) -> Iterator[tuple[int, bytes]]:
    """Yield the tallies of these runs, few at a time: together they are larger than what they add up to."""
    query = select(TALLY.c.run_id, TALLY.c.content).where(TALLY.c.run_id.in_(runs)).order_by(TALLY.c.run_id)
    yield from connection.execute(query, execution_options={"yield_per": 10}).tuples()
