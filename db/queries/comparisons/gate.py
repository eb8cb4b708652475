"""Whether an entrant passes: it must not be worse than another, or than in an earlier run, by more than a margin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from sqlalchemy import Engine

from stackrank.db import stats
from stackrank.db.connection.errors import NotComparable, NotFound
from stackrank.db.queries.boards.scope import EVERYTHING, Scope, entrants_of
from stackrank.db.queries.catalogue import EntrantRow
from stackrank.db.queries.comparisons.compare import compare, pair_up, shared_tasks
from stackrank.db.queries.runs import RunRow
from stackrank.db.queries.runs import run as find_run
from stackrank.db.stats.noninferiority import noninferior
from stackrank.db.totals.sums import Cells
from stackrank.terms import GateOutcome, RunStatus
from stackrank.wording import points


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
    engine: Engine, reference: str, candidate: str, max_drop: float, scope: Scope = EVERYTHING, *, baseline: str = ""
) -> GateReport:
    """Judge the candidate by the tasks that it shares with the reference.

    Both play in the scope. With `baseline`, the reference's episodes are those of that run, and the candidate's are
    those of `scope.run`, or else of the newest run that the scope asks for; both may then be the same entrant. Raises
    `NotFound`. Raises `NotComparable` if the runs are not alike, or if that newest run has not finished.
    """
    if baseline:
        found = _over_time(engine, reference, candidate, scope, baseline)
    else:
        pair = compare(engine, reference, candidate, scope)
        sides = (pair["first"], pair["second"])
        cells = scope.find(engine).cells({side["entrant_id"] for side in sides})
        before, after = (cells[side["entrant_id"]] for side in sides)
        found = _Compared((sides[0]["entrant"], sides[1]["entrant"]), (None, None), before, after)
    gap, gaps = found.difference()
    judged = noninferior(list(gaps.values()), gap.low, gap.high, max_drop)
    result: GateReport = {
        "outcome": str(judged.outcome),
        "max_drop": max_drop,
        "reference": found.names[0],
        "candidate": found.names[1],
        "baseline": found.runs[0],
        "run": found.runs[1],
        "tasks": len(gaps),
        "difference": gap.difference,
        "ci_low": gap.low,
        "ci_high": gap.high,
        "p_value": gap.p_value,
        "test": gap.test,
        "more_tasks": judged.more_tasks,
        "lost": [task for task, each in gaps.items() if each < 0],
        "won": [task for task, each in gaps.items() if each > 0],
        "errors": [_errors(found.before), _errors(found.after)],
        "warning": _warning(found, judged.outcome, max_drop),
        "sentence": "",
    }
    return {**result, "sentence": _sentence(result)}


@dataclass(frozen=True, slots=True)
class _Compared:
    """Reference and candidate: their names, their runs (None without a baseline), and their sums by task."""

    names: tuple[str, str]
    runs: tuple[int | None, int | None]
    before: Cells
    after: Cells
    unfinished: str = ""
    """A warning if a run has not finished, else empty."""

    def difference(self) -> tuple[stats.Difference, dict[str, float]]:
        """Return the candidate's rate minus the reference's, over all shared tasks and for each task."""
        sides = pair_up(self.before, self.after)
        tasks = zip(shared_tasks(self.before, self.after), *sides, strict=True)
        return stats.paired_difference(*sides), {key[0]: b[0] / b[1] - a[0] / a[1] for key, a, b in tasks}


def _over_time(engine: Engine, reference: str, candidate: str, scope: Scope, baseline: str) -> _Compared:
    """Take the reference from the baseline run and the candidate from the run to judge."""
    then = find_run(engine, baseline)
    now = find_run(engine, scope.run if isinstance(scope.run, int | str) else _newest(engine, scope))
    if then["id"] == now["id"]:
        raise NotComparable(
            f"Run {now['id']} ({now['name']}) would be compared with itself: name the run to judge with --run."
        )
    Scope(run=(then["id"], now["id"])).find(engine)  # raises NotComparable if the runs are not alike
    old, new = (Scope(run=each["id"], errors=scope.errors).find(engine).cells() for each in (then, now))
    one, other = _entrant(engine, reference, old, then), _entrant(engine, candidate, new, now)
    unfinished = " ".join(
        f"Run {each['id']} has not finished but is {each['status']}: its tasks may be the ones that come first."
        for each in (then, now)
        if each["status"] != RunStatus.FINISHED
    )
    return _Compared(
        (one["name"], other["name"]), (then["id"], now["id"]), old[one["id"]], new[other["id"]], unfinished
    )


def _newest(engine: Engine, scope: Scope) -> int:
    """Return the newest run that the scope asks for. An earlier run is never judged in its place."""
    newest = scope.newest(engine)
    if newest is None:
        raise NotFound("No run matches what is asked for: `stackrank runs` lists them.")
    if scope.finished_only and newest.status != RunStatus.FINISHED:
        raise NotComparable(
            f"The newest run, {newest.id} ({newest.name}), has not finished but is {newest.status}: name the run to "
            "judge with --run, or judge it as it is with --all."
        )
    return newest.id


def _warning(found: _Compared, outcome: GateOutcome, max_drop: float) -> str:
    """Warn of unfinished runs, of missing tasks, and of an answer that depends on leaving errors out; may be empty."""
    return " ".join(filter(None, (found.unfinished, _missing(found), _by_errors(found, outcome, max_drop))))


def _missing(found: _Compared) -> str:
    """Warn if the candidate did not play all of the reference's tasks, because the rest may be the easy ones."""
    counted = [key for key, sums in found.before.items() if sums.counted]
    missing = sum(key not in found.after or not found.after[key].done for key in counted)
    if not missing:
        return ""
    where = "" if found.runs[0] is None else f" in run {found.runs[0]}"
    return (
        f"Of the {len(counted)} tasks of {found.names[0]}{where}, {missing} {'was' if missing == 1 else 'were'} not "
        "played by the candidate and say nothing here."
    )


def _by_errors(found: _Compared, outcome: GateOutcome, max_drop: float) -> str:
    """Warn if the answer depends on leaving errors out; empty if it does not."""
    if not _errors(found.before) and not _errors(found.after):
        return ""
    failing = [{key: sums.with_errors_failed() for key, sums in side.items()} for side in (found.before, found.after)]
    gap, gaps = _Compared(found.names, found.runs, failing[0], failing[1]).difference()
    if noninferior(list(gaps.values()), gap.low, gap.high, max_drop).outcome == outcome:
        return ""
    ends = f"[{points(gap.low)}, {points(gap.high)}]"
    return (
        f"With errors counted as failures the answer is another one: {points(gap.difference)} points {ends} on "
        f"{len(gaps)} tasks (--errors as-failures)."
    )


def _errors(cells: Cells) -> int:
    """Count the errors that are not counted as failures."""
    return sum(each.errors - each.failed_errors for each in cells.values())


def _entrant(engine: Engine, ref: str, played: Iterable[int], run: RunRow) -> EntrantRow:
    """Return the newest entrant with this id or name, or called so, among those that played in a run."""
    known = sorted(entrants_of(engine, played).values(), key=lambda row: -row["id"])
    for row in known:
        if ref in (str(row["id"]), row["name"], row["called"]):
            return row
    names = ", ".join(row["name"] for row in known) or "nobody"
    raise NotFound(
        f"No entrant {ref[:80]!r} has an episode in run {run['id']} ({run['name']}): its entrants are {names}."
    )


def _sentence(found: GateReport) -> str:
    candidate, against = found["candidate"], found["reference"]
    if found["baseline"] is not None:
        against = f"{'it was' if against == candidate else against} in run {found['baseline']}"
    claim = f"more than {100 * found['max_drop']:g} points worse than {against}"
    said = {
        GateOutcome.NOT_WORSE: f"{candidate} is not {claim}",
        GateOutcome.WORSE: f"{candidate} is {claim}",
        GateOutcome.UNKNOWN: f"It is not known yet whether {candidate} is {claim}",
    }[GateOutcome(found["outcome"])]
    if found["difference"] is None:
        return f"{said}: they have no counted task in common."
    tasks = f"{found['tasks']} {'task' if found['tasks'] == 1 else 'tasks'}"
    ends = f"[{points(found['ci_low'])}, {points(found['ci_high'])}]"
    text = f"{said}: {points(found['difference'])} points {ends} on {tasks}"
    text += f", now in run {found['run']}" if found["run"] is not None else ""
    if sum(found["errors"]):
        text += f", {found['errors'][0]} and {found['errors'][1]} errors are not counted"
    if found["outcome"] != GateOutcome.UNKNOWN:
        return f"{text}."
    more = found["more_tasks"]
    if more is None:
        return f"{text}; it is so close to the margin that more tasks would hardly decide it."
    return f"{text}; about {more} {'task' if more == 1 else 'tasks'} more would probably decide it."
