"""What is decided so far in a run that ends when its comparisons are decided.

This is worked out from the run's episodes alone, so that every worker, a resumed run and every page get the same
answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypedDict

from sqlalchemy import Engine, case, func, select

from stackrank.db.connection.transactions import ENTRANT, EPISODE, OPEN, TASK
from stackrank.db.queries.comparisons.claims import claim
from stackrank.db.queries.reading import fetch, fetch_tuples
from stackrank.db.queries.runs import RunRow
from stackrank.db.queries.runs import run as find_run
from stackrank.db.stats.informative import DealtTask, weigh_tasks
from stackrank.db.stats.sequential import Sequential, decide, sequence_interval, weighted_gaps
from stackrank.db.totals.tallies import share_of_faults
from stackrank.terms import Decision, EpisodeStatus, Verdict
from stackrank.wording import count_of, p_is, percent, point_interval, points
from stackrank.wording import usd as in_dollars

_E = EPISODE.c


class PairDecision(TypedDict):
    """Two entrants in a run that ends when its comparisons are decided. Differences are fractions, second less first.

    `decision`: a value of `terms.Decision`. The interval and the p-values hold at all times together.
    """

    first_id: int
    first: str
    second_id: int
    second: str
    tasks: int
    difference: float | None
    ci_low: float
    ci_high: float
    p_value: float
    p_corrected: float
    p_equal: float
    decision: str
    sentence: str


class StoppingState(TypedDict):
    """A run that ends when its comparisons are decided; `open` is how many are not.

    `saved_usd` and `saved_s`: what episodes that were not played would have cost and taken, at their entrants' means.
    """

    alpha: float
    equal_within: float | None
    pairs: list[PairDecision]
    open: int
    not_played: int
    episodes_total: int
    saved_usd: float | None
    saved_s: float
    sentence: str


@dataclass(frozen=True, slots=True)
class _TaskAttempts:
    """All attempts of an entrant at a task."""

    resolved: float
    counted: int
    complete: bool


@dataclass(frozen=True, slots=True)
class _Progress:
    """The comparisons that a run was asked for, each with its gaps and the state that follows from them."""

    names: Mapping[int, str]
    pairs: Sequence[tuple[int, int]]
    gaps: Sequence[Sequence[float]]
    dealt: Sequence[Sequence[DealtTask]]
    """What the task of each gap counts for; empty if tasks came in a random order."""
    horizon: int
    """The most tasks that a pair can have."""
    states: Sequence[Sequential]

    @property
    def finished(self) -> set[int]:
        """The entrants that need not play on: those whose pairs are all decided, or all entrants if no pair is open."""
        if not self.pairs:
            return set()
        undecided = [pair for pair, state in zip(self.pairs, self.states, strict=True) if not state.decided]
        if not undecided:
            return set(self.names)
        return {entrant_id for pair in self.pairs for entrant_id in pair} - {
            entrant_id for pair in undecided for entrant_id in pair
        }


def decided_entrants(engine: Engine, run_id: int, stop: Mapping[str, Any]) -> set[int]:
    """Return the entrants of a run whose comparisons are all decided. `stop`: as in the run's specification."""
    return _read_progress(engine, run_id, stop).finished


def stopping(engine: Engine, ref: int | str) -> StoppingState | None:
    """Say whether the comparisons that a run was asked for are decided, and what that saved; None without a `stop`.

    Raises `NotFound`.
    """
    run = find_run(engine, ref)
    stop = run["spec"].get("stop")
    if not stop:
        return None
    progress = _read_progress(engine, run["id"], stop)
    parts = zip(progress.pairs, progress.gaps, progress.dealt, progress.states, strict=True)
    pairs = [
        _pair_decision(progress, ids, state, weighted_gaps(gaps, dealt), stop) for ids, gaps, dealt, state in parts
    ]
    usd, seconds = _estimate_savings(engine, run["id"]) if run["not_played"] else (0.0, 0.0)
    return {
        "alpha": stop["decided"],
        "equal_within": stop.get("equal_within"),
        "pairs": pairs,
        "open": sum(not state.decided for state in progress.states),
        "not_played": run["not_played"],
        "episodes_total": run["episodes_total"],
        "saved_usd": usd,
        "saved_s": seconds,
        "sentence": _sentence(pairs, run, usd),
    }


def runs_stopped_early(engine: Engine, run_ids: Collection[int]) -> list[int]:
    """Return those of the runs that left out episodes because their comparisons were decided."""
    skipped = select(_E.run_id).where(_E.run_id.in_(run_ids), _E.status == EpisodeStatus.NOT_PLAYED, OPEN)
    return [int(run) for (run,) in fetch_tuples(engine, skipped.distinct().order_by(_E.run_id))]


def _read_progress(engine: Engine, run_id: int, stop: Mapping[str, Any]) -> _Progress:
    """Work out what the run's episodes decide.

    A pair's tasks count in the order in which they were dealt, up to the first that either side has not finished, so
    that it does not matter which episodes are quick.
    """
    order, cells = _read_cells(engine, run_id)
    columns = (ENTRANT.c.id, ENTRANT.c.name, ENTRANT.c.called, ENTRANT.c.reference)
    entrants = fetch(engine, select(*columns).where(ENTRANT.c.id.in_(list(cells))).order_by(ENTRANT.c.id))
    against = stop.get("against", "")
    entrant_pairs = [
        pair
        for pair in combinations([entrant for entrant in entrants if not entrant["reference"]], 2)
        if not against or against in {entrant["called"] for entrant in pair}
    ]
    pairs = [(first["id"], second["id"]) for first, second in entrant_pairs]
    gaps_by_task = [_task_gaps(order, cells[first], cells[second]) for first, second in pairs]
    gaps = [list(by_task.values()) for by_task in gaps_by_task]
    counts_for = _weigh(engine, order, stop.get("telling") or {})
    dealt = [[counts_for[task] for task in by_task] for by_task in gaps_by_task] if counts_for else []
    states = decide(
        gaps, float(stop["decided"]), horizon=len(order), equal_within=stop.get("equal_within"), dealt=dealt
    )
    names = {entrant["id"]: entrant["name"] for entrant in entrants}
    return _Progress(names, pairs, gaps, dealt or [[] for _ in pairs], len(order), states)


def _weigh(engine: Engine, order: Sequence[int], telling: Mapping[str, float]) -> dict[int, DealtTask]:
    """Return what each task counts for, by its id; empty if tasks came in a random order."""
    if not telling:
        return {}
    names = dict(fetch_tuples(engine, select(TASK.c.id, TASK.c.name).where(TASK.c.id.in_(order))))
    return dict(zip(order, weigh_tasks([names[task] for task in order], telling), strict=True))


def _read_cells(engine: Engine, run_id: int) -> tuple[list[int], Mapping[int, Mapping[int, _TaskAttempts]]]:
    """Return the tasks in the order in which they were dealt, and entrant -> task -> its attempts."""
    of_run = _E.run_id == run_id
    # The first row of a task is as old as the run, even if episodes were tried again later.
    dealt = select(_E.task_id).where(of_run).group_by(_E.task_id).order_by(func.min(_E.id))
    order = [int(task) for (task,) in fetch_tuples(engine, dealt)]
    sums = (
        func.sum(case((_E.verdict != Verdict.ERROR, share_of_faults()), else_=0.0)),
        func.sum(case((_E.verdict.in_([Verdict.RESOLVED, Verdict.UNRESOLVED]), 1), else_=0)),
        func.sum(case((_E.status != EpisodeStatus.DONE, 1), else_=0)),
    )
    query = select(_E.entrant_id, _E.task_id, *sums).where(of_run, _E.counted).group_by(_E.entrant_id, _E.task_id)
    cells: dict[int, dict[int, _TaskAttempts]] = defaultdict(dict)
    for entrant, task, resolved, counted, unfinished in fetch_tuples(engine, query):
        cells[entrant][task] = _TaskAttempts(float(resolved), int(counted), not unfinished)
    return order, cells


def _task_gaps(
    order: Sequence[int], first: Mapping[int, _TaskAttempts], second: Mapping[int, _TaskAttempts]
) -> dict[int, float]:
    """Return the second's rate minus the first's by task. A task is left out if one side has only errors."""
    gaps = {}
    for task in order:
        if task not in first or task not in second:
            continue
        first_cell, second_cell = first[task], second[task]
        if not (first_cell.complete and second_cell.complete):
            break
        if first_cell.counted and second_cell.counted:
            gaps[task] = second_cell.resolved / second_cell.counted - first_cell.resolved / first_cell.counted
    return gaps


def _estimate_savings(engine: Engine, run_id: int) -> tuple[float | None, float]:
    """Estimate what the episodes that were not played would have cost, in dollars (None: unknown price) and seconds."""
    is_scored = _E.verdict.in_([Verdict.RESOLVED, Verdict.UNRESOLVED])
    query = (
        select(
            func.sum(case((_E.status == EpisodeStatus.NOT_PLAYED, 1), else_=0)).label("not_played"),
            func.sum(case((is_scored, 1), else_=0)).label("played"),
            func.sum(case((is_scored & _E.cost_usd.is_not(None), 1), else_=0)).label("priced"),
            func.sum(case((is_scored, func.coalesce(_E.cost_usd, 0.0)), else_=0.0)).label("cost_usd"),
            func.sum(case((is_scored, _E.wall_s), else_=0.0)).label("wall_s"),
        )
        .where(_E.run_id == run_id, _E.counted)
        .group_by(_E.entrant_id)
    )
    usd: float | None = 0.0
    seconds = 0.0
    for row in fetch(engine, query):
        if not row["not_played"] or not row["played"]:
            continue
        is_priced = row["priced"] == row["played"]
        usd = usd + row["not_played"] * row["cost_usd"] / row["played"] if usd is not None and is_priced else None
        seconds += row["not_played"] * row["wall_s"] / row["played"]
    return usd, seconds


def _pair_decision(
    progress: _Progress, ids: tuple[int, int], state: Sequential, gaps: Sequence[float], stop: Mapping[str, Any]
) -> PairDecision:
    alpha, margin = float(stop["decided"]), stop.get("equal_within")
    interval_ends = sequence_interval(gaps, alpha, horizon=progress.horizon)
    first, second = (progress.names[entrant_id] for entrant_id in ids)
    tasks = f"{count_of(state.tasks, 'task')}"
    statement = claim(
        {Decision.AHEAD: 1.0, Decision.BEHIND: -1.0}.get(state.decision),
        0.0,  # the sequential test has decided; the difference may have changed its sign since
        above=f"{second} is ahead of {first}",
        below=f"{second} is behind {first}",
        between=f"between {first} and {second} yet",
    )
    if state.decision is Decision.EQUAL:
        statement = f"{second} and {first} are equal within {100 * (margin or 0):g} points"
    p_value = state.p_equal if state.decision is Decision.EQUAL else state.p_corrected
    interval = f"{100 * (1 - alpha):g}% anytime-valid interval {point_interval(*interval_ends)}"
    gap = "" if state.difference is None else f" by {points(state.difference)} points"
    gap = gap if state.decision in (Decision.AHEAD, Decision.BEHIND) else gap.replace(" by", ":")
    return {
        "first_id": ids[0],
        "first": first,
        "second_id": ids[1],
        "second": second,
        "tasks": state.tasks,
        "difference": state.difference,
        "ci_low": interval_ends[0],
        "ci_high": interval_ends[1],
        "p_value": state.p_value,
        "p_corrected": state.p_corrected,
        "p_equal": state.p_equal,
        "decision": str(state.decision),
        "sentence": f"{statement}{gap} after {tasks} ({interval}, corrected {p_is(p_value)})",
    }


def _sentence(pairs: Sequence[PairDecision], run: RunRow, usd: float | None) -> str:
    decided_count = sum(pair["decision"] != Decision.OPEN for pair in pairs)
    summary = f"{decided_count} of {count_of(len(pairs), 'comparison')} decided"
    if not run["not_played"]:
        return f"{summary}; no episodes were saved."
    share = run["not_played"] / max(1, run["episodes_total"])
    money = f" and about {in_dollars(usd)}" if usd else ""
    return (
        f"{summary}; {run['not_played']:,} of {count_of(run['episodes_total'], 'episode')} "
        f"({percent(share)}){money} were not needed."
    )
