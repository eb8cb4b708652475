"""How far episodes came, and which failures were not their entrant's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any, TypedDict, cast

from sqlalchemy import Engine, case, func, select

from stackrank.db.connection.transactions import EPISODE, RUN, TASK
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, fetch_entrants
from stackrank.db.queries.reading import ERROR_HEAD, Row, fetch, fetch_tuples
from stackrank.terms import DEBUGGERS, STAGES, Milestone, Verdict
from stackrank.wording import count_of

_E = EPISODE.c


class FunnelRow(TypedDict):
    """How many of an entrant's `counted` episodes reached each milestone. `debugger`: whether it has or used one.
    `shares`: the same in 0..1, where each task weighs the same, however often it was played.
    """

    entrant_id: int
    entrant: str
    debugger: bool
    counted: int
    reproduced: int
    localized: int
    breakpoint: int
    inspected: int
    edited: int
    improved: int
    solved: int
    resolved: int
    shares: dict[str, float]


class FailureCount(TypedDict):
    """What failed, and in how many `episodes`; `example` is the id of the newest of them."""

    what: str
    episodes: int
    example: int


class ExcludedEpisodes(FailureCount):
    """Episodes that say nothing about their entrant; `reason`: `infrastructure` or `defective task`."""

    reason: str


class ExcludedShare(TypedDict):
    """How many of an entrant's episodes in a run say nothing about it: of those `played`, in how many the
    infrastructure failed, and how many others have a defective task.
    """

    run_id: int
    run: str
    entrant_id: int
    entrant: str
    played: int
    infrastructure: int
    defective: int


def funnel(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> list[FunnelRow]:
    """Return how far each entrant's episodes came. One that skips a milestone may still reach the next, or resolve."""
    selection = scope.find(engine)
    milestone_counts = [func.count(_E[f"at_{name}"]).label(name) for name in Milestone]
    resolved = func.sum(case((_E.verdict == Verdict.RESOLVED, 1), else_=0)).label("resolved")
    query = (
        select(_E.entrant_id, _E.task_id, func.count().label("counted"), *milestone_counts, resolved)
        .where(selection.grouped, _E.counted, _E.verdict.in_([Verdict.RESOLVED, Verdict.UNRESOLVED]))
        .group_by(_E.entrant_id, _E.task_id)
    )
    names = ("counted", *map(str, Milestone), "resolved")
    sums: dict[int, dict[str, int]] = {}
    tasks: dict[int, list[Row]] = defaultdict(list)
    for row in fetch(engine, query):
        if row["task_id"] in selection.keys:
            entrant_sums = sums.setdefault(row["entrant_id"], dict.fromkeys(names, 0))
            tasks[row["entrant_id"]].append(row)
            for name in names:
                entrant_sums[name] += row[name]
    entrant_rows = fetch_entrants(engine, sums)
    board = [
        cast(
            "FunnelRow",
            {
                "entrant_id": entrant_id,
                "entrant": entrant_rows[entrant_id]["name"],
                "debugger": not set(DEBUGGERS).isdisjoint(entrant_rows[entrant_id]["tool_list"])
                or sums[entrant_id][Milestone.INSPECTED] > 0,
                **sums[entrant_id],
                "shares": {name: fmean(row[name] / row["counted"] for row in tasks[entrant_id]) for name in names[1:]},
            },
        )
        for entrant_id in sums
    ]
    return sorted(board, key=lambda row: (-row["shares"]["resolved"], row["entrant"]))


def funnel_sentence(rows: Sequence[FunnelRow]) -> str:
    """Say between which stages most episodes of all entrants are lost; empty if none is.

    Being inspected is no stage here: an entrant needs no debugger to come further.
    """
    episodes = sum(row["counted"] for row in rows)
    stages = [stage for stage in STAGES if stage != Milestone.INSPECTED]
    reached = [("the start", episodes), *((stage, sum(cast("Row", row)[stage] for row in rows)) for stage in stages)]
    losses = {f"between {first} and {second}": before - after for (first, before), (second, after) in pairwise(reached)}
    most = max(losses.values())
    if most <= 0:
        return ""
    places = [place for place, lost in losses.items() if lost == most]
    number = f"{most:,}{'' if len(places) == 1 else ' each'} of {count_of(episodes, 'counted episode')}"
    return f"The most episodes are lost {' and '.join(places)}: {number}."


def runs_with_other_analysis(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> list[int]:
    """Return the scope's runs whose milestones and failure points were worked out in another way than the newest's."""
    found_with = RUN.c.versions["failure_points"].as_string()
    query = select(RUN.c.id, found_with).where(RUN.c.id.in_(scope.find(engine).runs)).order_by(RUN.c.id)
    version_of: dict[int, str | None] = dict(fetch_tuples(engine, query))
    newest = version_of[max(version_of)] if version_of else None
    return [run_id for run_id, version in version_of.items() if version != newest]


def excluded_shares(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> list[ExcludedShare]:
    """Count, for each run and entrant in the scope, the episodes with a verdict and those that no rate counts."""
    selection = scope.find(engine)
    failed = _E.verdict == Verdict.ERROR
    defective = _E.task_id.in_(select(TASK.c.id).where(TASK.c.valid.is_(False)))
    sums = {"infrastructure": failed, "defective": ~failed & defective}
    query = (
        select(
            _E.run_id,
            _E.entrant_id,
            func.count().label("played"),
            *(func.sum(case((condition, 1), else_=0)).label(name) for name, condition in sums.items()),
        )
        .where(selection.condition, _E.counted, _E.verdict != "")
        .group_by(_E.run_id, _E.entrant_id)
        .order_by(_E.run_id.desc(), _E.entrant_id)
    )
    rows = fetch(engine, query)
    entrants = fetch_entrants(engine, {row["entrant_id"] for row in rows})
    names = dict(fetch_tuples(engine, select(RUN.c.id, RUN.c.name).where(RUN.c.id.in_(selection.runs))))
    return [
        cast(
            "ExcludedShare",
            {**row, "run": names[row["run_id"]], "entrant": entrants[row["entrant_id"]]["name"]},
        )
        for row in rows
    ]


def excluded_episodes(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> list[ExcludedEpisodes]:
    """Count the episodes in the scope's runs that say nothing about their entrant, by cause.

    `what` is the beginning of the error message, or the task and what is wrong with it.
    """
    selection = scope.find(engine)
    by_error = (
        select(ERROR_HEAD.label("what"), func.count().label("episodes"), func.max(_E.id).label("example"))
        .where(selection.condition, _E.counted, _E.verdict == Verdict.ERROR)
        .group_by(ERROR_HEAD)
    )
    columns: tuple[Any, ...] = (TASK.c.name, TASK.c.invalid_reason)
    by_task = (
        select(*columns, func.count().label("episodes"), func.max(_E.id).label("example"))
        .join(TASK, TASK.c.id == _E.task_id)
        .where(selection.condition, _E.counted, _E.verdict != "", TASK.c.valid.is_(False))
        .group_by(*columns)
    )
    excluded: list[ExcludedEpisodes] = [
        {"reason": "infrastructure", **row} for row in fetch(engine, by_error, FailureCount)
    ]
    for row in fetch(engine, by_task):
        sentence = ": ".join(filter(None, (row["name"], row["invalid_reason"])))
        count = {"what": sentence, "episodes": row["episodes"], "example": row["example"]}
        excluded.append({"reason": "defective task", **cast("FailureCount", count)})
    return sorted(excluded, key=lambda row: (row["reason"], -row["episodes"]))
