"""Whether an entrant passes: it must not be worse than another, or than in an earlier run, by more than a margin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from sqlalchemy import Engine

from stackrank.db import stats
from stackrank.db.connection.errors import NotComparable, NotFound
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, fetch_entrants
from stackrank.db.queries.catalogue import EntrantRow
from stackrank.db.queries.comparisons.compare import compare, pair_up, shared_tasks
from stackrank.db.queries.runs import RunRow
from stackrank.db.queries.runs import run as find_run
from stackrank.db.stats.noninferiority import judge_noninferiority
from stackrank.db.totals.sums import Cells
from stackrank.terms import GateOutcome, RunStatus
from stackrank.wording import count_of, point_interval, points


class GateReport(TypedDict):
    """Whether a candidate is worse than a reference by more than a margin, in fractions: candidate less reference.

    `outcome`: a value of `terms.GateOutcome`. `baseline` and `run`: the runs of the two, None if both are in one scope.
    `lost` and `won`: the tasks on which the candidate does worse and better. `errors`: those of either, which are not
    counted. `warning` says that the answer depends on them, or that the candidate left out tasks of the reference.
    """

    outcome: str
    max_drop: float
    reference: str
    candidate: str
    baseline: int | None
    run: int | None
    tasks: int
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    test: str
    more_tasks: int | None
    lost: list[str]
    won: list[str]
    errors: list[int]
    warning: str
    sentence: str


def gate(
    engine: Engine, reference: str, candidate: str, max_drop: float, scope: Scope = DEFAULT_SCOPE, *, baseline: str = ""
) -> GateReport:
    """Judge the candidate by the tasks that it shares with the reference.

    Both play in the scope. With `baseline`, the reference's episodes are those of that run, and the candidate's are
    those of `scope.run`, or else of the newest run that the scope asks for; both may then be the same entrant. Raises
    `NotFound`. Raises `NotComparable` if the runs are not alike, or if that newest run has not finished.
    """
    if baseline:
        compared = _sides_over_time(engine, reference, candidate, scope, baseline)
    else:
        if scope.run is None and scope.finished_only and (unfinished := scope.find(engine).unfinished):
            raise NotComparable(
                f"Run {unfinished[0].id} ({unfinished[0].name}) has not finished ({unfinished[0].status}): wait for "
                "it, or accept it with --all."
            )
        pair = compare(engine, reference, candidate, scope)
        standings = (pair["first"], pair["second"])
        cells = scope.find(engine).cells({side["entrant_id"] for side in standings})
        reference_cells, candidate_cells = (cells[side["entrant_id"]] for side in standings)
        compared = _Sides(
            (standings[0]["entrant"], standings[1]["entrant"]), (None, None), reference_cells, candidate_cells
        )
    gap, gaps = compared.difference()
    judgement = judge_noninferiority(list(gaps.values()), gap.low, gap.high, max_drop)
    report: GateReport = {
        "outcome": str(judgement.outcome),
        "max_drop": max_drop,
        "reference": compared.names[0],
        "candidate": compared.names[1],
        "baseline": compared.runs[0],
        "run": compared.runs[1],
        "tasks": len(gaps),
        "difference": gap.difference,
        "ci_low": gap.low,
        "ci_high": gap.high,
        "p_value": gap.p_value,
        "test": gap.test,
        "more_tasks": judgement.more_tasks,
        "lost": [task for task, gap_of_task in gaps.items() if gap_of_task < 0],
        "won": [task for task, gap_of_task in gaps.items() if gap_of_task > 0],
        "errors": [_count_errors(compared.reference), _count_errors(compared.candidate)],
        "warning": _warning(compared, judgement.outcome, max_drop),
        "sentence": "",
    }
    return {**report, "sentence": _sentence(report)}


@dataclass(frozen=True, slots=True)
class _Sides:
    """Reference and candidate: their names, their runs (None without a baseline), and their sums by task."""

    names: tuple[str, str]
    runs: tuple[int | None, int | None]
    reference: Cells
    candidate: Cells
    unfinished: str = ""
    """A warning if a run has not finished, else empty."""

    def difference(self) -> tuple[stats.PairedDifference, dict[str, float]]:
        """Return the candidate's rate minus the reference's, over all shared tasks and for each task."""
        sides = pair_up(self.reference, self.candidate)
        tasks = zip(shared_tasks(self.reference, self.candidate), *sides, strict=True)
        return stats.paired_difference(*sides), {
            key[0]: candidate_score[0] / candidate_score[1] - reference_score[0] / reference_score[1]
            for key, reference_score, candidate_score in tasks
        }


def _sides_over_time(engine: Engine, reference: str, candidate: str, scope: Scope, baseline: str) -> _Sides:
    """Take the reference from the baseline run and the candidate from the run to judge."""
    baseline_run = find_run(engine, baseline)
    candidate_run = find_run(engine, scope.run if isinstance(scope.run, int | str) else _newest_run(engine, scope))
    if baseline_run["id"] == candidate_run["id"]:
        raise NotComparable(
            f"Run {candidate_run['id']} ({candidate_run['name']}) cannot be compared with itself: choose the "
            "candidate's run with --run."
        )
    Scope(run=(baseline_run["id"], candidate_run["id"])).find(engine)  # raises NotComparable if the runs are not alike
    reference_cells, candidate_cells = (
        Scope(run=run["id"], errors=scope.errors).find(engine).cells() for run in (baseline_run, candidate_run)
    )
    reference_row, candidate_row = (
        _find_entrant(engine, reference, reference_cells, baseline_run),
        _find_entrant(engine, candidate, candidate_cells, candidate_run),
    )
    unfinished = " ".join(
        f"Run {run['id']} has not finished ({run['status']}), so it may cover only the first tasks."
        for run in (baseline_run, candidate_run)
        if run["status"] != RunStatus.FINISHED
    )
    return _Sides(
        (reference_row["name"], candidate_row["name"]),
        (baseline_run["id"], candidate_run["id"]),
        reference_cells[reference_row["id"]],
        candidate_cells[candidate_row["id"]],
        unfinished,
    )


def _newest_run(engine: Engine, scope: Scope) -> int:
    """Return the newest run that the scope asks for. An earlier run is never judged in its place."""
    newest = scope.newest(engine)
    if newest is None:
        raise NotFound("No run matches these filters: `stackrank runs` lists the runs.")
    if scope.finished_only and newest.status != RunStatus.FINISHED:
        raise NotComparable(
            f"The newest run, {newest.id} ({newest.name}), has not finished ({newest.status}): choose another run with "
            "--run, or accept this one with --all."
        )
    return newest.id


def _warning(sides: _Sides, outcome: GateOutcome, max_drop: float) -> str:
    """Warn of unfinished runs, missing tasks and an outcome that depends on how errors count; may be empty."""
    return " ".join(
        filter(None, (sides.unfinished, _missing_tasks_warning(sides), _errors_warning(sides, outcome, max_drop)))
    )


def _missing_tasks_warning(sides: _Sides) -> str:
    """Warn if the candidate did not play all of the reference's tasks, because the rest may be the easy ones."""
    counted = [key for key, sums in sides.reference.items() if sums.counted]
    missing = sum(key not in sides.candidate or not sides.candidate[key].done for key in counted)
    if not missing:
        return ""
    of_run = "" if sides.runs[0] is None else f" in run {sides.runs[0]}"
    return (
        f"The candidate did not play {missing} of the {count_of(len(counted), 'task')} of "
        f"{sides.names[0]}{of_run}, so these are "
        "not compared."
    )


def _errors_warning(sides: _Sides, outcome: GateOutcome, max_drop: float) -> str:
    """Warn if the outcome depends on how errors count; empty if it does not."""
    if not _count_errors(sides.reference) and not _count_errors(sides.candidate):
        return ""
    failing = [
        {key: sums.with_errors_failed() for key, sums in side.items()} for side in (sides.reference, sides.candidate)
    ]
    gap, gaps = _Sides(sides.names, sides.runs, failing[0], failing[1]).difference()
    if judge_noninferiority(list(gaps.values()), gap.low, gap.high, max_drop).outcome == outcome:
        return ""
    ends = f"({point_interval(gap.low, gap.high)})"
    return (
        f"With errors counted as failures the outcome changes: {points(gap.difference)} points {ends} on "
        f"{count_of(len(gaps), 'task')} (--errors as-failures)."
    )


def _count_errors(cells: Cells) -> int:
    """Count the errors that are not counted as failures."""
    return sum(sums.errors - sums.failed_errors for sums in cells.values())


def _find_entrant(engine: Engine, ref: str, played: Iterable[int], run: RunRow) -> EntrantRow:
    """Return the newest entrant with this id or name, or called so, among those that played in a run."""
    rows = sorted(fetch_entrants(engine, played).values(), key=lambda row: -row["id"])
    for row in rows:
        if ref in (str(row["id"]), row["name"], row["called"]):
            return row
    names = ", ".join(row["name"] for row in rows) or "nobody"
    raise NotFound(
        f"No entrant {ref[:80]!r} has an episode in run {run['id']} ({run['name']}): its entrants are {names}."
    )


def _sentence(report: GateReport) -> str:
    candidate, against = report["candidate"], report["reference"]
    if report["baseline"] is not None:
        against = f"{'it was' if against == candidate else against} in run {report['baseline']}"
    claim = f"more than {100 * report['max_drop']:g} points worse than {against}"
    statement = {
        GateOutcome.NOT_WORSE: f"{candidate} is not {claim}",
        GateOutcome.WORSE: f"{candidate} is {claim}",
        GateOutcome.UNKNOWN: f"It is still unclear whether {candidate} is {claim}",
    }[GateOutcome(report["outcome"])]
    if report["difference"] is None:
        return f"{statement}: they have no counted task in common."
    tasks = count_of(report["tasks"], "task")
    ends = f"({point_interval(report['ci_low'], report['ci_high'])})"
    text = f"{statement}: {points(report['difference'])} points {ends} on {tasks}"
    text += f", now in run {report['run']}" if report["run"] is not None else ""
    if sum(report["errors"]):
        text += f", {report['errors'][0]} and {count_of(report['errors'][1], 'error')} excluded"
    if report["outcome"] != GateOutcome.UNKNOWN:
        return f"{text}."
    more_tasks = report["more_tasks"]
    if more_tasks is None:
        return f"{text}; it is so close to the margin that more tasks would hardly settle it."
    more = f"about {count_of(more_tasks, 'more task')}, or more attempts if the benchmark has no more,"
    return f"{text}; {more} would probably settle it."
