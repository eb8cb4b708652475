"""What the front page of the dashboard says: who leads, what a debugger is worth, and which traces to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

from sqlalchemy import Engine, func, select

from stackrank.db.connection.transactions import EPISODE
from stackrank.db.queries.boards.grid import find_decisive
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, Selection, fetch_entrants
from stackrank.db.queries.boards.scope_description import ScopeDescription, describe
from stackrank.db.queries.boards.standings import RankedStanding, has_several_faults, ranked_rows
from stackrank.db.queries.boards.tool_sets import adds_debugger, compare_tool_sets
from stackrank.db.queries.boards.tool_worth import describe_tools, rate_claim, tools_headline
from stackrank.db.queries.comparisons.claims import in_sentence
from stackrank.db.queries.comparisons.compare import (
    Comparison,
    add_holm,
    compare_entrants,
    describe_alone,
    evidence,
    headline,
)
from stackrank.db.queries.episodes.episodes import EpisodeSummary, episodes
from stackrank.db.queries.reading import fetch
from stackrank.db.totals.sums import TaskKey
from stackrank.terms import Verdict
from stackrank.wording import count_of, interval, percent

_E = EPISODE.c
_MOST_NAMED = 3


class ReadingTip(TypedDict):
    """A trace that is worth reading, why, and the step to begin with; None means wherever a trace begins."""

    why: str
    episode: EpisodeSummary
    step: int | None


class FrontPage(TypedDict):
    """See `front_page`. `lead`, what it rests on, and `debugger` are sentences.

    `alone`: the interval and the p-value of the lead without the correction; empty if nothing was corrected. `debugger`
    is empty if no pair differs in a debugger; of several pairs, its first sentence sums up the others.
    """

    scope: ScopeDescription
    board: list[RankedStanding]
    lead: str
    evidence: str
    alone: str
    debugger: list[str]
    traces: list[ReadingTip]


def front_page(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> FrontPage:
    """Return what the front page says about a scope. Raises as `Scope.find` does."""
    selection = scope.find(engine)
    board = ranked_rows(selection)
    pairs = [pair for pair in compare_tool_sets(selection) if adds_debugger(pair)]
    ranked = [row for row in board if row["rank_low"] is not None]
    leading = _leading_pair(selection, ranked)
    tips = _traces(engine, selection, ranked, pairs) if selection.pooled else iter(())
    return {
        "scope": describe(selection, selection.cells()),
        "board": board,
        "lead": _lead_sentence(ranked, leading),
        "evidence": evidence(leading) if leading else "",
        "alone": describe_alone(leading) if leading else "",
        "debugger": _debugger_sentences(pairs, ranked[:2]),
        "traces": _distinct(tips),
    }


def _leading_pair(selection: Selection, ranked: Sequence[RankedStanding]) -> Comparison | None:
    """Compare the best with the second; None if fewer than two are ranked."""
    if len(ranked) < 2:
        return None
    cells = selection.cells()
    entrants = fetch_entrants(selection.engine, [row["entrant_id"] for row in ranked[:2]])
    sides = [entrants[row["entrant_id"]] for row in (ranked[1], ranked[0])]
    (pair,) = add_holm([compare_entrants(sides, [cells[side["id"]] for side in sides], selection.tasks)], selection)
    return pair


def _lead_sentence(ranked: Sequence[RankedStanding], leading: Comparison | None) -> str:
    """Say who leads and by how much, or that nobody clearly does; empty if nobody is ranked."""
    if leading is None:
        return leader_sentence(ranked)
    return " ".join(filter(None, [headline(leading), _shared_lead(ranked, ranked[0]["entrant"])]))


def leader_sentence(board: Sequence[RankedStanding]) -> str:
    """Say whether an entrant of a board leads, and what the best one resolves; empty if nobody is ranked."""
    ranked = [row for row in board if row["rank_low"] is not None]
    if not ranked:
        return ""
    best = ranked[0]
    rate = f"{percent(best['rate'])} ({interval(best['ci_low'], best['ci_high'])})"
    does = f"mends {rate} of the faults of" if has_several_faults(best) else f"resolves {rate} of"
    result = f"{best['entrant']} {does} {count_of(best['tasks'], 'task')}"
    if len(ranked) == 1:
        return f"{result}; nobody else has played yet."
    if best["rank_high"] == 1:
        return f"{result}, clearly more than all others."
    return " ".join(filter(None, ["No clear leader.", f"{result}.", _shared_lead(ranked, "It")]))


def _shared_lead(ranked: Sequence[RankedStanding], leader: str) -> str:
    """Say how many share the lead, and whom the leader is clearly ahead of; empty if one entrant leads alone.

    An entrant's first rank counts those clearly ahead of it, and its last one those clearly behind it. So the leader is
    ahead of all that come second at best if there are as many of them as are behind it.
    """
    first_ranks = sum(row["rank_low"] == 1 for row in ranked)
    if first_ranks < 2:
        return ""
    best = ranked[0]
    behind = [row["entrant"] for row in ranked if (row["rank_low"] or 0) > 1]
    is_ahead_of_all = len(behind) == len(ranked) - (best["rank_high"] or 0)
    clear = f"{leader} is clearly ahead of {_named(behind)}. " if behind and is_ahead_of_all else ""
    return f"{clear}{first_ranks} of {count_of(len(ranked), 'entrant')} may be the best."


def _named(entrants: Sequence[str]) -> str:
    """Name a few entrants, or say how many they are."""
    if len(entrants) > _MOST_NAMED:
        return count_of(len(entrants), "entrant")
    return " and ".join(filter(None, [", ".join(entrants[:-1]), entrants[-1]]))


def _debugger_sentences(pairs: Sequence[Comparison], leading: Sequence[RankedStanding]) -> list[str]:
    summary = [tools_headline(pairs)] if len(pairs) > 1 else []
    return [*summary, *(_debugger_sentence(pair, leading) for pair in pairs)]


def _debugger_sentence(pair: Comparison, leading: Sequence[RankedStanding]) -> str:
    """Say what a debugger is worth to a pair; of the two that lead, whose difference is stated, only that."""
    if {row["entrant_id"] for row in leading} == {pair[side]["entrant_id"] for side in ("first", "second")}:
        return f"The two that lead differ only in {describe_tools(pair)}: {rate_claim(pair)}."
    return f"With {describe_tools(pair)}, {in_sentence(headline(pair))}"


def _traces(
    engine: Engine, selection: Selection, ranked: Sequence[RankedStanding], pairs: Sequence[Comparison]
) -> Iterator[ReadingTip]:
    keys = {name: task_id for task_id, (name, _) in selection.keys.items()}
    for task, entrant_ids in find_decisive(selection, pairs).items():
        if row := _newest(engine, selection, entrant_ids[0], [keys[task]], Verdict.RESOLVED):
            step = row["at_inspected"] if row["at_inspected"] is not None else row["at_breakpoint"]
            yield {"why": "Resolved only with a debugger", "episode": row, "step": step}
            break
    for standing in ranked[:1]:
        tasks = _failed_by_it_alone(selection, standing["entrant_id"])
        for task_ids, why in ((tasks, ", and others resolved it"), (list(selection.keys), "")):
            row = _newest(engine, selection, standing["entrant_id"], task_ids, Verdict.UNRESOLVED) if task_ids else None
            if row:
                yield {"why": f"The best-ranked entrant failed{why}", "episode": row, "step": row["failure_step"]}
                break
    newest = episodes(engine, scope=selection.scope, verdict=list(Verdict), newest_first=True, limit=1)
    for row in newest:
        yield {"why": "The newest", "episode": row, "step": None}


def _failed_by_it_alone(selection: Selection, entrant_id: int) -> list[int]:
    """Return the tasks that an entrant never resolved and another one did."""
    cells = selection.cells()
    resolved = {side: {key for key, sums in tasks.items() if sums.resolved} for side, tasks in cells.items()}
    played = {key for key, sums in cells[entrant_id].items() if sums.counted} - resolved[entrant_id]
    entrants = fetch_entrants(selection.engine, cells)
    others = [side for side in cells if side != entrant_id and not entrants[side]["reference"]]
    by_others = set[TaskKey]().union(*(resolved[side] for side in others))
    return [task_id for task_id, key in selection.keys.items() if key in played & by_others]


def _newest(
    engine: Engine, selection: Selection, entrant_id: int, task_ids: Sequence[int], verdict: Verdict
) -> EpisodeSummary | None:
    # An index has the id; the row is then read by it.
    newest = select(func.max(_E.id).label("id")).where(
        _E.entrant_id == entrant_id,
        _E.task_id.in_(task_ids),
        _E.run_id.in_(selection.runs),
        _E.counted,
        _E.verdict == verdict,
    )
    episode_id = fetch(engine, newest)[0]["id"]
    return None if episode_id is None else episodes(engine, extra_conditions=[_E.id == episode_id])[0]


def _distinct(tips: Iterator[ReadingTip]) -> list[ReadingTip]:
    by_episode: dict[int, ReadingTip] = {}
    for tip in tips:
        by_episode.setdefault(tip["episode"]["id"], tip)
    return list(by_episode.values())
