"""How an episode used each tool, added up once, when its verdict is written."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, bindparam, case, delete, func, insert, select

from stackrank.db.connection.transactions import EPISODE, STEP, TOOL_USE
from stackrank.terms import Verdict


def totals(*conditions: Any) -> Select[Any]:
    """Return the query for the rows of `ToolUse`, from the steps of the counted episodes that meet these conditions."""
    e, s = EPISODE.c, STEP.c
    repairing = s["index"] >= e.at_edited
    diagnosing = s["index"] > e.at_localized
    columns = {
        "episode_id": s.episode_id,
        "tool": s.tool,
        "run_id": e.run_id,
        "entrant_id": e.entrant_id,
        "task_id": e.task_id,
        "calls": func.count(),
        "searching": func.sum(case((repairing, 0), (diagnosing, 0), else_=1)),
        "diagnosing": func.sum(case((repairing, 0), (diagnosing, 1), else_=0)),
        "repairing": func.sum(case((repairing, 1), else_=0)),
        "failed": func.sum(case((s.ok, 0), else_=1)),
        "env_ms": func.sum(s.env_ms),
        "tokens_in": func.sum(s.tokens_in),
        "tokens_out": func.sum(s.tokens_out),
        "cost_usd": case((func.count() == func.count(s.cost_usd), func.sum(s.cost_usd))),
    }
    return (
        select(*(column.label(name) for name, column in columns.items()))
        .join(EPISODE, e.id == s.episode_id)
        .where(s.tool != "", e.counted, e.verdict.in_([Verdict.RESOLVED, Verdict.UNRESOLVED]), *conditions)
        .group_by(s.episode_id, s.tool, e.run_id, e.entrant_id, e.task_id)
    )


# Built once, because building these takes longer than running them.
_ONE = totals(EPISODE.c.id == bindparam("one"))
_FORGET = delete(TOOL_USE).where(TOOL_USE.c.episode_id == bindparam("one"))
_ADD = insert(TOOL_USE).from_select([column.name for column in _ONE.selected_columns], _ONE)


def store_tool_use(connection: Connection, episode_id: int) -> None:
    """Replace the rows of one episode; there are none if the infrastructure failed it."""
    for statement in (_FORGET, _ADD):
        connection.execute(statement, {"one": episode_id})
