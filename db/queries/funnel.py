"""How far episodes came, and what failed that was not their entrant."""

from __future__ import annotations

from typing import Any, Unpack

from sqlalchemy import Engine, case, func, select

from db.models import MILESTONES, Verdict
from db.queries.reading import Row, fetch
from db.queries.scope import ScopeOptions, entrants_of, find_scope, task_keys
from db.transactions import EPISODE, TASK

_E = EPISODE.c
DEBUGGER = "pdb"
STAGES = ("reproduced", "localized", "inspected", "edited", "improved", "resolved")
"""The stages of the funnel, in order: milestones, and the verdict at the end."""


def funnel(engine: Engine, **options: Unpack[ScopeOptions]) -> list[Row]:
    """How many counted episodes of each entrant reached each milestone, and how many were resolved.

    A row per entrant: entrant_id, entrant, debugger (whether it has one), counted, a count for each of `MILESTONES`,
    resolved. Stages need not nest: who has no debugger inspects nothing and may yet resolve. The scope is chosen as in
    `leaderboard`.
    """
    scope = find_scope(engine, **options)
    if scope is None:
        return []
    reached = [func.count(_E[f"at_{name}"]).label(name) for name in MILESTONES]
    resolved = func.sum(case((_E.verdict == Verdict.RESOLVED, 1), else_=0)).label("resolved")
    query = (
        select(_E.entrant_id, _E.task_id, func.count().label("counted"), *reached, resolved)
        .where(scope.grouped(engine), _E.counted, _E.verdict.in_([Verdict.RESOLVED, Verdict.UNRESOLVED]))
        .group_by(_E.entrant_id, _E.task_id)
    )
    keys = task_keys(engine, scope)
    names = ("counted", *MILESTONES, "resolved")
    sums: dict[int, dict[str, int]] = {}
    for row in fetch(engine, query):
        if row["task_id"] in keys:
            one = sums.setdefault(row["entrant_id"], dict.fromkeys(names, 0))
            for name in names:
                one[name] += row[name]
    about = entrants_of(engine, sums)
    rows: list[Row] = [
        {
            "entrant_id": one,
            "entrant": about[one]["name"],
            "debugger": DEBUGGER in about[one]["tool_list"],
            **sums[one],
        }
        for one in sums
    ]
    return sorted(rows, key=lambda row: (-row["resolved"] / row["counted"], row["entrant"]))


def set_aside(engine: Engine, **options: Unpack[ScopeOptions]) -> list[Row]:
    """Episodes in the scope's runs that say nothing about their entrant.

    A row per reason: `reason` (`infrastructure`, or `defective task`), `what` (the beginning of the error's sentence,
    or the task and what is wrong with it), episodes, and `example`, the id of the newest.
    """
    scope = find_scope(engine, **options)
    if scope is None:
        return []
    what = func.substr(_E.error, 1, 120)
    errors = (
        select(what.label("what"), func.count().label("episodes"), func.max(_E.id).label("example"))
        .where(scope.condition, _E.counted, _E.verdict == Verdict.ERROR)
        .group_by(what)
    )
    about: tuple[Any, ...] = (TASK.c.name, TASK.c.invalid_reason)
    defective = (
        select(*about, func.count().label("episodes"), func.max(_E.id).label("example"))
        .join(TASK, TASK.c.id == _E.task_id)
        .where(scope.condition, _E.counted, _E.verdict != "", TASK.c.valid.is_(False))
        .group_by(*about)
    )
    rows = [{"reason": "infrastructure", **row} for row in fetch(engine, errors)]
    for row in fetch(engine, defective):
        sentence = ": ".join(filter(None, (row.pop("name"), row.pop("invalid_reason"))))
        rows.append({"reason": "defective task", "what": sentence, **row})
    return sorted(rows, key=lambda row: (row["reason"], -row["episodes"]))
