"""A run and the earlier runs of its series: what was played in each of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, select

from stackrank.db import stats
from stackrank.db.connection.transactions import RUN
from stackrank.db.queries.boards.cells import read_cells
from stackrank.db.queries.boards.scope import Scope, fetch_entrants
from stackrank.db.queries.catalogue import EntrantRow
from stackrank.db.queries.reading import fetch
from stackrank.db.queries.runs import RunRow
from stackrank.db.totals.sums import Cells, Sums, TaskKey, total
from stackrank.terms import RunStatus

CellsOfRuns = Mapping[int, Cells]
"""Run -> the sums of one entrant in it, oldest run first."""


@dataclass(frozen=True, slots=True)
class EntrantHistory:
    """An entrant of a run, and the earlier results of entrants that are called the same in the series."""

    entrant: EntrantRow
    current: Cells
    earlier_runs: CellsOfRuns
    worse: frozenset[int]
    """The runs that were reported as worse than those before them."""
    last: EntrantRow
    """The entrant as it was in the newest of the earlier runs."""

    @property
    def baseline(self) -> list[int]:
        """The runs that show what is usual for the entrant, oldest first."""
        return [run for run in self.earlier_runs if run not in self.worse][-stats.BASELINE :]

    def usual(self) -> dict[TaskKey, Sums]:
        """Return the sums over all runs of the baseline, task by task."""
        by_task: dict[TaskKey, list[Sums]] = defaultdict(list)
        for run in self.baseline:
            for key, sums in self.earlier_runs[run].items():
                by_task[key].append(sums)
        return {key: total(sums) for key, sums in by_task.items()}

    def change(self) -> stats.BaselineChange | None:
        """Return how the current run differs; None if it has no task in common with the baseline."""
        keys = sorted(key for key, sums in self.current.items() if sums.counted)
        earlier = [stats.RunScores(_scores(cells, keys), run in self.worse) for run, cells in self.earlier_runs.items()]
        return stats.compare_with_baseline(earlier, _scores(self.current, keys))


def _scores(cells: Cells, keys: Sequence[TaskKey]) -> list[stats.TaskScore]:
    no_episodes = Sums()
    return [((sums := cells.get(key, no_episodes)).mended, sums.counted) for key in keys]


def load_histories(engine: Engine, run: RunRow) -> list[EntrantHistory]:
    """Return the entrants of a run that have played earlier in its series, matched by what they are called.

    If two entrants of one of these runs are called the same, each is matched with itself only. The earlier runs are
    finished ones of the same series, on the same benchmark version under the same conditions: the newest that suffice
    for each entrant's baseline, and those in between that were reported as worse. Empty for a run without a series.
    """
    if not run["series"]:
        return []
    same_series = [RUN.c[name] == run[name] for name in ("series", "benchmark_id", "conditions_digest")]
    query = select(RUN.c.id, RUN.c.regressions).where(
        *same_series, RUN.c.status == RunStatus.FINISHED, RUN.c.id < run["id"]
    )
    reported = {row["id"]: row["regressions"] for row in fetch(engine, query.order_by(RUN.c.id))}
    selection = Scope(run=run["id"]).find(engine)
    current = selection.cells()
    entrants = sorted(fetch_entrants(engine, current).values(), key=lambda entrant: entrant["name"])
    label_counts = Counter(entrant["called"] for entrant in entrants)
    worse = {entrant["id"]: _worse_runs(reported, entrant, label_counts) for entrant in entrants}
    run_ids = {run_id for worse_runs in worse.values() for run_id in _baseline_runs(list(reported), worse_runs)}
    played = _read_cells(engine, sorted(run_ids), selection.keys)
    entrant_rows = fetch_entrants(engine, {entrant_id for _, entrant_id in played})
    histories = []
    for entrant in entrants:
        label = entrant["called"]
        namesakes = Counter(run_id for run_id, entrant_id in played if entrant_rows[entrant_id]["called"] == label)
        is_unambiguous = label_counts[label] == 1 and max(namesakes.values(), default=0) <= 1
        entrant_of_run = {
            run_id: entrant_id
            for run_id, entrant_id in sorted(played)
            if entrant_id == entrant["id"] or (is_unambiguous and entrant_rows[entrant_id]["called"] == label)
        }
        if entrant_of_run:
            earlier_runs = {run_id: played[run_id, entrant_id] for run_id, entrant_id in entrant_of_run.items()}
            worse_runs = _worse_runs(reported, entrant, label_counts, entrant_of_run)
            histories.append(
                EntrantHistory(
                    entrant,
                    current[entrant["id"]],
                    earlier_runs,
                    worse_runs,
                    entrant_rows[entrant_of_run[max(entrant_of_run)]],
                )
            )
    return histories


def _worse_runs(
    reported: Mapping[int, Sequence[Mapping[str, Any]]],
    entrant: EntrantRow,
    label_counts: Mapping[str, int],
    entrant_of_run: Mapping[int, int] | None = None,
) -> frozenset[int]:
    """Return the runs in which an entrant was reported as worse; one report may be about several runs.

    `entrant_of_run`: run -> id of the entrant in it, if known; reports about a namesake are then ignored.
    """
    runs, worse_runs = list(reported), set[int]()
    for index, run in enumerate(runs):
        for row in reported[run]:
            if entrant_of_run and run in entrant_of_run:
                is_same_entrant = row["entrant_id"] == entrant_of_run[run]
            else:
                is_namesake = row["called"] == entrant["called"] and label_counts[row["called"]] == 1
                is_same_entrant = row["entrant_id"] == entrant["id"] or is_namesake
            if row["what"] == "rate" and is_same_entrant:
                worse_runs.update(runs[max(0, index + 1 - row["runs"]) : index + 1])
    return frozenset(worse_runs)


def _baseline_runs(runs: Sequence[int], worse: frozenset[int]) -> list[int]:
    """Return the newest runs, back to where they include as many that were not worse as a comparison ever reads."""
    newest_runs: list[int] = []
    for run in reversed(runs):
        newest_runs.append(run)
        if sum(run not in worse for run in newest_runs) == stats.BASELINE + stats.WINDOW - 1:
            break
    clean = [run for run in newest_runs if run not in worse]
    return clean + [run for run in newest_runs if run in worse][: stats.BASELINE]


def _read_cells(
    engine: Engine, runs: Sequence[int], keys: Mapping[int, TaskKey]
) -> dict[tuple[int, int], dict[TaskKey, Sums]]:
    """Return the sums of each run and entrant with a verdict, task by task."""
    cells: dict[tuple[int, int], dict[TaskKey, Sums]] = defaultdict(dict)
    for run, run_cells in read_cells(engine, runs).items():
        for entrant, task, sums in run_cells:
            if sums.done and task in keys:
                cells[run, entrant][keys[task]] = sums
    return cells
