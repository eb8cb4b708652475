"""What the tools are worth that one of two entrants has in addition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TypedDict

from sqlalchemy import Engine, case, func, select

from stackrank.db.connection.transactions import EPISODE
from stackrank.db.queries.boards.consumption import EffortUnit
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, Selection
from stackrank.db.queries.comparisons.claims import claim, direction, in_sentence
from stackrank.db.queries.comparisons.compare import Comparison, describe_interval, describe_p
from stackrank.db.queries.comparisons.effort import EffortComparison, effort, effort_claim, spending, spending_sentence
from stackrank.db.queries.reading import fetch
from stackrank.db.totals.sums import TaskKey
from stackrank.wording import count_of, mean, points

PHASES = ("searching", "diagnosing", "repairing")
"""Until the fault was first seen; from then to the first edit there; from that edit on."""

_UNITS: tuple[EffortUnit, ...] = ("steps", "tokens", "cost_usd")
_LEAST_SAVING = 0.5  # steps
_E = EPISODE.c


class ToolWorth(TypedDict):
    """What the second entrant of a pair gains by the tools that it has in `added`, and the first does not.

    `removed`: what only the first has. `effort`: unit -> what a resolved task takes, see `EffortComparison`.
    `spending`: unit -> what an episode takes. `phases`: phase -> how many steps of it an episode of the second saves,
    the mean over the tasks that both played; None without such a task. `needs` says what an episode and a resolved task
    take, and `sentence` sums everything up.
    """

    first: str
    second: str
    added: list[str]
    removed: list[str]
    effort: dict[str, EffortComparison]
    spending: dict[str, EffortComparison]
    phases: dict[str, float | None]
    needs: str
    sentence: str


def tool_worth(engine: Engine, pairs: Sequence[Comparison], scope: Scope = DEFAULT_SCOPE) -> list[ToolWorth]:
    """Return what the tools of each pair's second entrant are worth: `pairs` as from `tool_sets`."""
    ids = [(pair["first"]["entrant_id"], pair["second"]["entrant_id"]) for pair in pairs]
    if not ids:
        return []
    efforts, spent = ({unit: ask(engine, ids, scope, by=unit) for unit in _UNITS} for ask in (effort, spending))
    phases = _read_phases(scope.find(engine), {entrant_id for pair_ids in ids for entrant_id in pair_ids})
    return [
        _worth(
            pair,
            {unit: efforts[unit][place] for unit in _UNITS},
            {unit: spent[unit][place] for unit in _UNITS},
            _saved(phases.get(first), phases.get(second)),
        )
        for place, (pair, (first, second)) in enumerate(zip(pairs, ids, strict=True))
    ]


_Phases = Mapping[TaskKey, tuple[float, ...]]
"""Task -> mean steps of an episode in each phase."""


def _read_phases(selection: Selection, entrants: set[int]) -> dict[int, _Phases]:
    seen = func.coalesce(_E.at_localized, _E.steps)
    edited = func.coalesce(_E.at_edited, _E.steps)
    found = case((seen < edited, seen), else_=edited)  # An edit may come before the fault was shown.
    query = (
        select(
            _E.entrant_id,
            _E.task_id,
            func.avg(found).label("searching"),
            func.avg(edited - found).label("diagnosing"),
            func.avg(_E.steps - edited).label("repairing"),
        )
        .where(selection.grouped, _E.counted, _E.verdict.in_(selection.counting), _E.entrant_id.in_(sorted(entrants)))
        .group_by(_E.entrant_id, _E.task_id)
    )
    phases: dict[int, dict[TaskKey, tuple[float, ...]]] = defaultdict(dict)
    for row in fetch(selection.engine, query):
        if row["task_id"] in selection.keys:
            means = tuple(float(row[phase]) for phase in PHASES)
            phases[row["entrant_id"]][selection.keys[row["task_id"]]] = means
    return dict(phases)


def _saved(first: _Phases | None, second: _Phases | None) -> dict[str, float | None]:
    first, second = first or {}, second or {}
    shared = first.keys() & second.keys()
    return {
        phase: fmean(first[task][place] - second[task][place] for task in shared) if shared else None
        for place, phase in enumerate(PHASES)
    }


def _worth(
    pair: Comparison,
    efforts: dict[str, EffortComparison],
    spent: dict[str, EffortComparison],
    phases: dict[str, float | None],
) -> ToolWorth:
    first, second = pair["first"], pair["second"]
    added, removed = _differing_tools(pair)
    needs = _needs(pair, efforts, phases)
    return {
        "first": first["entrant"],
        "second": second["entrant"],
        "added": added,
        "removed": removed,
        "effort": efforts,
        "spending": spent,
        "phases": phases,
        "needs": needs,
        "sentence": f"{_question(pair)}: {rate_claim(pair)} {_rate_evidence(pair)}. {needs}".strip(),
    }


def _needs(pair: Comparison, efforts: Mapping[str, EffortComparison], phases: Mapping[str, float | None]) -> str:
    """Say what an episode takes with and without the tools, and what it takes to resolve a task."""
    needs = "; ".join(filter(None, (_effort_part(efforts[unit]) for unit in _UNITS)))
    sentences = [
        spending_sentence(pair["first"], pair["second"]),
        f"To resolve a task, where an unresolved episode counts as all that it was allowed: {needs}." if needs else "",
        phase_sentence(efforts["steps"], phases),
    ]
    return " ".join(filter(None, sentences))


def _question(pair: Comparison) -> str:
    return f"{describe_tools(pair)}, added to {pair['first']['entrant']}"


def tools_headline(pairs: Sequence[Comparison]) -> str:
    """Say in how many of several pairs the tools of the second make a clear difference to the rate."""
    signs = [direction(pair["difference"], pair["p_holm"]) for pair in pairs]
    tools = list(dict.fromkeys(map(describe_tools, pairs)))
    parts = [
        f"{text} in {signs.count(sign)}"
        for text, sign in (("a higher rate", 1), ("a lower rate", -1), ("no clear difference", 0))
        if sign in signs
    ]
    subject = tools[0] if len(tools) == 1 else "More or other tools"
    return f"{subject}, in {count_of(len(pairs), 'pair')} of entrants: {', '.join(parts)}."


def describe_tools(pair: Comparison) -> str:
    """Name the tools that only the second of a pair has, and those that it has not."""
    added, removed = _differing_tools(pair)
    instead = f" instead of {', '.join(removed)}" if removed else ""
    return f"{', '.join(added) or pair['second']['tools']}{instead}"


def _differing_tools(pair: Comparison) -> tuple[list[str], list[str]]:
    """Return the tools that only the second of a pair has, and those that only the first has."""
    first, second = (pair["differs"].get("tool_list") or [[], []])[:2]
    return [tool for tool in second if tool not in first], [tool for tool in first if tool not in second]


def rate_claim(pair: Comparison) -> str:
    """Say what the tools of the second of a pair do to its rate, as a clause."""
    rate = claim(
        pair["difference"],
        pair["p_holm"],
        above="a higher rate",
        below="a lower rate",
        between="in the rate",
    )
    return f"{in_sentence(rate)}, {points(pair['difference'])} points"


def _rate_evidence(pair: Comparison) -> str:
    return f"({describe_interval(pair)}), {describe_p(pair)}, n = {count_of(pair['tasks'], 'task')}"


def _effort_part(comparison: EffortComparison) -> str:
    if not comparison["is_limited"] or not (comparison["first"] or comparison["second"]):
        return ""  # without a limit, unknown, or neither uses any: repair uses no tokens
    return in_sentence(effort_claim(comparison))


def phase_sentence(steps: EffortComparison, phases: Mapping[str, float | None]) -> str:
    """Name the phase in which the tools saved most steps; empty unless the steps differ, by half a step in a phase."""
    saved = {phase: steps for phase, steps in phases.items() if steps is not None}
    if not saved or direction(steps["saved"], steps["p_holm"]) <= 0:
        return ""
    longest = max(saved, key=lambda phase: saved[phase])
    return f"Most while {longest}: {mean(saved[longest])} steps an episode." if saved[longest] >= _LEAST_SAVING else ""
