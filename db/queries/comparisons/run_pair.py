"""Compares two runs task by task: what newly fails, and what is newly solved."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from sqlalchemy import Engine, select

from stackrank.db import rows, stats
from stackrank.db.connection.transactions import ENTRANT, EPISODE, TASK
from stackrank.db.queries.comparisons.changes import difference
from stackrank.db.queries.reading import fetch
from stackrank.db.queries.runs import run as find_run
from stackrank.db.writes import conditions
from stackrank.wording import p_is, percent, point_interval, points

_E = EPISODE.c
Side = Mapping[str, Any]
"""An episode with a verdict: its id, whether it was resolved, its entrant and its task."""


class Flip(TypedDict):
    """A task with another result than before, and an episode of each run that shows it."""

    entrant: str
    task: str
    before: str
    now: str
    difference: float
    episode_before: int
    episode: int


class Both(rows.Difference):
    """An entrant of both runs, over the tasks that are counted in both."""

    entrant: str
    worse: int
    better: int


class RunPair(TypedDict):
    """`first` is the older run. `apart`: why the two are not quite comparable; empty if they are."""

    first: int
    second: int
    sentence: str
    apart: str
    entrants: list[Both]
    worse: list[Flip]
    better: list[Flip]


def run_pair(engine: Engine, first: int | str, second: int | str) -> RunPair:
    """Compare the older of two runs with the newer one, on the tasks that are the same in both.

    An entrant is matched with itself, or else with the one that is called the same, if no other entrant of either run
    is called so. Episodes that ended in an error count on neither side. Raises `NotFound` for an unknown run.
    """
    runs = sorted((find_run(engine, first), find_run(engine, second)), key=lambda run: run["id"])
    before, now = (_played(engine, run["id"]) for run in runs)
    found, flips = [], []
    for name, then_id, now_id in _same(before, now):
        then, tonight = before[then_id], now[now_id]
        shared = sorted(then.keys() & tonight.keys())
        change = stats.change([stats.Night(_counts(then, shared))], _counts(tonight, shared)) if shared else None
        if change is not None:
            own = [_flip(name, task, then[task], tonight[task]) for task in shared]
            flips += own
            found.append((name, change, own))
    corrected = stats.holm([change.p_value for _, change, _ in found])
    entrants = [_both(name, change, p, own) for (name, change, own), p in zip(found, corrected, strict=True)]
    worse, better = ([each for each in flips if sign * each["difference"] > 0] for sign in (-1, 1))
    return {
        "first": runs[0]["id"],
        "second": runs[1]["id"],
        "sentence": pair_sentence(entrants, worse, better),
        "apart": _apart(*runs),
        "entrants": sorted(entrants, key=lambda each: each["difference"]),
        "worse": sorted(worse, key=lambda each: each["difference"]),
        "better": sorted(better, key=lambda each: -each["difference"]),
    }


def _played(engine: Engine, run_id: int) -> dict[tuple[int, str], dict[tuple[str, str], list[Side]]]:
    """Entrant (id and what it is called) -> task (name and digest) -> its episodes with a verdict, newest first."""
    query = (
        select(_E.id, _E.verdict, _E.entrant_id, ENTRANT.c.called, TASK.c.name.label("task"), TASK.c.digest)
        .select_from(EPISODE)
        .join(TASK)
        .join(ENTRANT)
        .where(_E.run_id == run_id, _E.counted, _E.verdict.in_(["resolved", "unresolved"]))
    )
    found: dict[tuple[int, str], dict[tuple[str, str], list[Side]]] = defaultdict(lambda: defaultdict(list))
    for row in fetch(engine, query.order_by(_E.id.desc())):
        found[row["entrant_id"], row["called"]][row["task"], row["digest"]].append(row)
    return found


def _same(before: Mapping[tuple[int, str], Any], now: Mapping[tuple[int, str], Any]) -> list[tuple[str, Any, Any]]:
    often = [Counter(called for _, called in side) for side in (before, now)]
    alone = {called: each for each in before if often[0][called := each[1]] == often[1][called] == 1}
    pairs = [(each[1], each if each in before else alone.get(each[1]), each) for each in now]
    return sorted(pair for pair in pairs if pair[1] is not None)


def _counts(played: Mapping[Any, Sequence[Side]], tasks: Sequence[Any]) -> list[stats.Played]:
    return [(_resolved(played[task]), len(played[task])) for task in tasks]


def _resolved(episodes: Sequence[Side]) -> int:
    return sum(each["verdict"] == "resolved" for each in episodes)


def _flip(entrant: str, task: tuple[str, str], then: Sequence[Side], now: Sequence[Side]) -> Flip:
    difference = _resolved(now) / len(now) - _resolved(then) / len(then)

    def shown(side: Sequence[Side], resolved: bool) -> int:
        return int(next((each for each in side if (each["verdict"] == "resolved") == resolved), side[0])["id"])

    return {
        "entrant": entrant,
        "task": task[0],
        "before": f"{_resolved(then)} of {len(then)}",
        "now": f"{_resolved(now)} of {len(now)}",
        "difference": difference,
        "episode_before": shown(then, difference < 0),
        "episode": shown(now, difference > 0),
    }


def _both(entrant: str, change: stats.Change, p_value: float, flips: Sequence[Flip]) -> Both:
    return {
        "entrant": entrant,
        **difference(change, p_value),
        "worse": sum(each["difference"] < 0 for each in flips),
        "better": sum(each["difference"] > 0 for each in flips),
    }


def pair_sentence(entrants: Sequence[Mapping[str, Any]], worse: Sequence[Flip], better: Sequence[Flip]) -> str:
    """Say who is better or worse, and on how many tasks. `entrants`: those of `run_pair`, or rows of `changes`."""
    if not entrants:
        return "The two runs have no task in common that an entrant of both has a verdict on."
    parts = []
    for word, sign in (("worse", -1), ("better", 1)):
        sure = sorted((each for each in entrants if each["sure"] and sign * each["difference"] > 0), key=_size)
        if sure:
            told = ", ".join(
                f"{each['entrant']} {percent(each['rate_before'], 1)} -> {percent(each['rate'], 1)} "
                f"({points(each['difference'])} points, {point_interval(each['ci_low'], each['ci_high'])}, "
                f"{p_is(each['p_value'])})"
                for each in sure
            )
            parts.append(f"{len(sure)} of {len(entrants)} entrants {word}: {told}")
    parts = parts or [f"None of {len(entrants)} entrants is clearly better or worse"]
    less, more = (len({each["task"] for each in flips}) for flips in (worse, better))
    return f"{'; '.join(parts)}; tasks resolved less often: {less}, more often: {more}."


def _size(each: Mapping[str, Any]) -> float:
    return -abs(float(each["difference"]))


def _apart(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    parts = []
    if first["benchmark_digest"] != second["benchmark_digest"]:
        parts.append("The runs are of other benchmarks or versions: only tasks that are the same count.")
    if first["conditions_digest"] != second["conditions_digest"]:
        differing = conditions.differences(second["conditions"], first["conditions"])
        parts.append(f"The conditions differ: {conditions.describe_differences(differing)}.")
    return " ".join(parts)
