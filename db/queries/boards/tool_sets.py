"""What tools are used for, and what they are worth."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypedDict, cast

from sqlalchemy import Engine, func, select

from stackrank.db.connection.transactions import TOOL_USE
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, Selection, fetch_entrants
from stackrank.db.queries.boards.standings import Standing
from stackrank.db.queries.catalogue import EntrantRow
from stackrank.db.queries.comparisons.compare import Comparison, add_holm, compare_entrants
from stackrank.db.queries.comparisons.effort import EffortComparison, effort
from stackrank.db.queries.reading import Row, fetch
from stackrank.terms import DEBUGGERS

_T = TOOL_USE.c
_COUNTS = ("calls", "searching", "diagnosing", "repairing", "failed", "tokens_in", "tokens_out")


class ToolUseRow(TypedDict):
    """How an entrant used a tool, over the `episodes` that used it; costs are those of model calls that chose it."""

    entrant_id: int
    entrant: str
    tool: str
    episodes: int
    calls: int
    searching: int
    diagnosing: int
    repairing: int
    failed: int
    tokens_in: int
    tokens_out: int
    env_ms: float
    cost_usd: float | None
    error_rate: float


class ToolSetRow(TypedDict):
    """A tool set of one agent and model, and its differences (0..1) to the tool set `base`, paired by task.

    `base` is empty in the row of the base itself, whose differences are None. Means are over counted episodes; a cost
    is None if a price is unknown. `gained` and `lost`: how many tasks went better, and worse.
    Intervals of differences belong to the corrected p-values.
    `steps_needed` to resolve a task, and `steps_saved` of those: see `EffortComparison`.
    """

    entrant_id: int
    entrant: str
    agent: str
    model: str
    tools: str
    base: str
    tasks: int
    episodes: int
    errors: int
    rate: float | None
    ci_low: float | None
    ci_high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    p_value: float | None
    p_holm: float | None
    gained: int | None
    lost: int | None
    steps_mean: float | None
    steps_needed: float | None
    steps_saved: float | None
    steps_saved_low: float | None
    steps_saved_high: float | None
    tokens_mean: float | None
    cost_per_episode: float | None
    cost_per_resolved: float | None


def tool_use(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> list[ToolUseRow]:
    """Return how each entrant used each tool in its counted episodes, an entrant's most used tool first."""
    selection = scope.find(engine)
    sums = [func.sum(_T[name]).label(name) for name in _COUNTS]
    priced = [func.count(_T.cost_usd).label("priced"), func.sum(_T.cost_usd).label("cost_usd")]
    # The groups are in the index's order, so the database sorts nothing; the runs are added up below.
    groups = (_T.run_id, _T.entrant_id, _T.tool)
    query = (
        select(*groups, func.count().label("episodes"), *sums, *priced, func.sum(_T.env_ms).label("env_ms"))
        .where(_T.run_id.in_(selection.runs), _T.task_id.in_(selection.keys))
        .group_by(*groups)
    )
    totals: dict[tuple[int, str], Row] = {}
    for row in fetch(engine, query):
        names = ("episodes", *_COUNTS, "env_ms", "priced", "cost_usd")
        tool_totals = totals.setdefault((row["entrant_id"], row["tool"]), dict.fromkeys(names, 0))
        for name in names:
            tool_totals[name] += row[name] or 0
    entrant_rows = fetch_entrants(engine, {entrant for entrant, _ in totals})
    rows = []
    for (entrant, tool), row in totals.items():
        all_priced = row.pop("priced") == row["episodes"]
        row |= {"cost_usd": row["cost_usd"] if all_priced else None, "error_rate": row["failed"] / row["calls"]}
        row |= {"entrant_id": entrant, "entrant": entrant_rows[entrant]["name"], "tool": tool}
        rows.append(cast("ToolUseRow", row))
    return sorted(rows, key=lambda row: (row["entrant"], -row["calls"]))


def tool_sets(
    engine: Engine, scope: Scope = DEFAULT_SCOPE, *, base: str = "", models: Collection[str] = ()
) -> list[Comparison]:
    """Compare entrants that differ only in their tools, paired by task: this shows what tools are worth.

    Returns a row per pair, each as from `compare`, with `p_holm` corrected as in `compare`. Both have the same agent,
    agent version, model, configuration, and versions of the tools that they share. The second of a pair has all tools
    of the first and more, and no set that was played lies between them. A set that has no such neighbour is compared
    with the smallest set. With `base`, the name of a tool set or of an entrant, all others are compared with that one.
    `models`: only entrants with one of these.
    """
    return compare_tool_sets(scope.find(engine), base=base, models=models)


def compare_tool_sets(selection: Selection, *, base: str = "", models: Collection[str] = ()) -> list[Comparison]:
    """Compare the tool sets of a selection as `tool_sets` does."""
    cells = selection.cells()
    entrant_rows = sorted(fetch_entrants(selection.engine, cells).values(), key=lambda entrant: str(entrant["name"]))
    played = [entrant for entrant in entrant_rows if not models or entrant["model"] in models]
    pairs = _pairs_with(base, played) if base else _neighbours(played)
    comparisons = [compare_entrants(pair, [cells[side["id"]] for side in pair], selection.tasks) for pair in pairs]
    return add_holm([row for row in comparisons if row["tasks"]], selection)


def debugger_pairs(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> list[Comparison]:
    """Return those pairs of `tool_sets` whose second entrant has a debugging tool that the first lacks."""
    return [pair for pair in tool_sets(engine, scope) if adds_debugger(pair)]


def adds_debugger(pair: Comparison) -> bool:
    """Whether the second entrant of a pair has a debugging tool that the first lacks."""
    first_tools, second_tools = pair["differs"].get("tool_list", ((), ()))
    return not set(DEBUGGERS).isdisjoint(set(second_tools) - set(first_tools))


def _pairs_with(base: str, played: Sequence[EntrantRow]) -> list[tuple[EntrantRow, EntrantRow]]:
    firsts = [entrant for entrant in played if base in (entrant["tools"], entrant["name"])]
    return [
        (first, second)
        for first in firsts
        for second in played
        if second["tools"] != first["tools"] and _differ_only_in_tools(first, second)
    ]


def _neighbours(played: Sequence[EntrantRow]) -> list[tuple[EntrantRow, EntrantRow]]:
    """Return the pairs in which the second entrant's tools include the first's, with no entrant between them."""
    pairs = []
    for second in played:
        counterparts = [first for first in played if _differ_only_in_tools(first, second)]
        smaller = [first for first in counterparts if _tools(first) < _tools(second)]
        largest = [first for first in smaller if not any(_tools(first) < _tools(other) for other in smaller)]
        if not largest and not any(_tools(second) < _tools(other) for other in counterparts):
            others = [first for first in counterparts if _tools(first) != _tools(second)]
            smallest = min([second, *others], key=lambda entrant: (len(_tools(entrant)), entrant["name"]))
            largest = [smallest] if smallest["id"] != second["id"] else []
        pairs += [(first, second) for first in largest]
    return pairs


def _tools(entrant: EntrantRow) -> frozenset[str]:
    return frozenset(entrant["tool_list"])


def _differ_only_in_tools(first: EntrantRow, second: EntrantRow) -> bool:
    first_versions, second_versions = first["tool_versions"], second["tool_versions"]
    shared = all(
        first_versions[tool] == second_versions[tool] for tool in first_versions.keys() & second_versions.keys()
    )
    return shared and all(first[name] == second[name] for name in ("agent", "agent_version", "model", "config"))


def side_by_side(engine: Engine, pairs: Sequence[Comparison], scope: Scope = DEFAULT_SCOPE) -> list[ToolSetRow]:
    """Return the pairs of `tool_sets` as a table: each base entrant first, then those that are compared with it.

    A base's numbers are over the tasks of its pair that has the most tasks.
    """
    ids = [_ids(pair) for pair in pairs]
    saved = dict(zip(ids, effort(engine, ids, scope), strict=True)) if ids else {}
    rows: list[ToolSetRow] = []
    groups: dict[int, list[Comparison]] = {}
    for pair in pairs:
        groups.setdefault(pair["first"]["entrant_id"], []).append(pair)
    for group in groups.values():
        widest = max(group, key=lambda pair: pair["tasks"])
        rows.append(_tool_set_row(widest["first"], None, saved[_ids(widest)]))
        rows += [_tool_set_row(pair["second"], pair, saved[_ids(pair)]) for pair in group]
    return rows


def _ids(pair: Comparison) -> tuple[int, int]:
    return pair["first"]["entrant_id"], pair["second"]["entrant_id"]


def _tool_set_row(side: Standing, pair: Comparison | None, needs: EffortComparison) -> ToolSetRow:
    counted = side["resolved"] + side["unresolved"]
    columns: Row = {name: value for name, value in side.items() if name in _STANDING_COLUMNS}
    pair_columns = {
        "base": pair["first"]["tools"] if pair else "",
        "episodes": counted,
        "steps_needed": needs["second"] if pair else needs["first"],
        "steps_saved": needs["saved"] if pair else None,
        "steps_saved_low": needs["holm_low"] if pair else None,
        "steps_saved_high": needs["holm_high"] if pair else None,
        "tokens_mean": (side["tokens_in"] + side["tokens_out"]) / counted if counted else None,
        "difference": pair["difference"] if pair else None,
        "difference_low": pair["holm_low"] if pair else None,
        "difference_high": pair["holm_high"] if pair else None,
        "p_value": pair["p_value"] if pair else None,
        "p_holm": pair["p_holm"] if pair else None,
        "gained": len(pair["only_second"]) if pair else None,
        "lost": len(pair["only_first"]) if pair else None,
    }
    return cast("ToolSetRow", columns | pair_columns)


_STANDING_COLUMNS = (
    *("entrant_id", "entrant", "agent", "model", "tools", "tasks", "errors", "rate", "ci_low", "ci_high"),
    *("steps_mean", "cost_per_episode", "cost_per_resolved"),
)
