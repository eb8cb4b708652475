"""What tools are used for, and what they are worth."""

from __future__ import annotations

from typing import Any, Unpack

from sqlalchemy import Engine, func, select

from db.queries.compare import compare_sides, with_holm
from db.queries.funnel import DEBUGGER
from db.queries.reading import Row, fetch
from db.queries.scope import ScopeOptions, cells_of, entrants_of, find_scope, tasks_of
from db.transactions import TOOL_USE

_T = TOOL_USE.c
_COUNTS = ("calls", "searching", "diagnosing", "repairing", "failed", "tokens_in", "tokens_out")


def tool_use(engine: Engine, **options: Unpack[ScopeOptions]) -> list[Row]:
    """How each entrant used each tool in its counted episodes: calls by phase, failed calls, time, tokens, cost.

    A row per entrant and tool, most calls first: entrant_id, entrant, tool, episodes (that used it), the columns of
    `ToolUse`, and error_rate. Costs are those of the model calls that chose the tool. Scope: as in `leaderboard`.
    """
    scope = find_scope(engine, **options)
    if scope is None:
        return []
    sums = [func.sum(_T[name]).label(name) for name in _COUNTS]
    priced = [func.count(_T.cost_usd).label("priced"), func.sum(_T.cost_usd).label("cost_usd")]
    facts = tasks_of(engine, scope)
    # The groups are in the index's order, so nothing is sorted; what the runs have is added up below.
    groups = (_T.run_id, _T.entrant_id, _T.tool)
    query = (
        select(*groups, func.count().label("episodes"), *sums, *priced, func.sum(_T.env_ms).label("env_ms"))
        .where(_T.run_id.in_(scope.runs), _T.task_id.in_([fact["id"] for fact in facts]))
        .group_by(*groups)
    )
    found: dict[tuple[int, str], Row] = {}
    for row in fetch(engine, query):
        names = ("episodes", *_COUNTS, "env_ms", "priced", "cost_usd")
        one = found.setdefault((row["entrant_id"], row["tool"]), dict.fromkeys(names, 0))
        for name in names:
            one[name] += row[name] or 0
    about = entrants_of(engine, {entrant for entrant, _ in found})
    rows = []
    for (entrant, tool), row in found.items():
        all_priced = row.pop("priced") == row["episodes"]
        row |= {"cost_usd": row["cost_usd"] if all_priced else None, "error_rate": row["failed"] / row["calls"]}
        rows.append({"entrant_id": entrant, "entrant": about[entrant]["name"], "tool": tool, **row})
    return sorted(rows, key=lambda row: (row["entrant"], -row["calls"]))


def tool_sets(engine: Engine, *, seed: int = 0, **options: Unpack[ScopeOptions]) -> list[Row]:
    """What a debugger is worth: entrants that differ in their tools only, without `pdb` and with it, paired by task.

    A row per pair, each as from `compare` (the second one has the debugger), with `p_holm`, corrected over the pairs.
    The same: agent, its version, model and configuration. Scope: as in `leaderboard`.
    """
    scope = find_scope(engine, **options)
    if scope is None:
        return []
    cells = cells_of(engine, scope)
    about = entrants_of(engine, cells)
    facts = tasks_of(engine, scope)

    def same(entrant: Row) -> Any:
        return entrant["agent"], entrant["agent_version"], entrant["model"], entrant["config"]

    found = []
    for without in sorted(about.values(), key=lambda entrant: str(entrant["name"])):
        for having in sorted(about.values(), key=lambda entrant: str(entrant["name"])):
            debugs = DEBUGGER in having["tool_list"] and DEBUGGER not in without["tool_list"]
            if debugs and same(without) == same(having):
                found.append(compare_sides([without, having], cells, facts, seed=seed))
    return with_holm([row for row in found if row["tasks"]])
