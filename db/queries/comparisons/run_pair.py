"""Compares two runs task by task: which tasks are resolved less often, and which more often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from sqlalchemy import Engine, select

from stackrank.db import stats
from stackrank.db.connection.transactions import ENTRANT, EPISODE, TASK
from stackrank.db.queries.comparisons.changes import RateChange, RateDifference, change_sentence, correct_changes
from stackrank.db.queries.comparisons.claims import claim, direction, in_sentence
from stackrank.db.queries.reading import fetch
from stackrank.db.queries.runs import run as find_run
from stackrank.db.writes import conditions
from stackrank.wording import count_of

_E = EPISODE.c
EpisodeResult = Mapping[str, Any]
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


class EntrantChange(RateDifference):
    """An entrant of both runs, over the tasks that are counted in both."""

    entrant: str
    worse: int
    better: int


class RunPair(TypedDict):
    """`first` is the older run. `apart`: how benchmarks, conditions or versions of the two differ; else empty."""

    first: int
    second: int
    sentence: str
    apart: str
    entrants: list[EntrantChange]
    worse: list[Flip]
    better: list[Flip]


def run_pair(engine: Engine, first: int | str, second: int | str) -> RunPair:
    """Compare the older of two runs with the newer one, on the tasks that are the same in both.

    An entrant is matched with itself, or else with the only entrant of the same name in the specification. Episodes
    that ended in an error count on neither side. Raises `NotFound` for an unknown run.
    """
    runs = sorted((find_run(engine, first), find_run(engine, second)), key=lambda run: run["id"])
    old_entrants, new_entrants = (_read_episodes(engine, run["id"]) for run in runs)
    changes, flips = [], []
    for name, old_key, new_key in _match_entrants(old_entrants, new_entrants):
        old_tasks, new_tasks = old_entrants[old_key], new_entrants[new_key]
        shared = sorted(old_tasks.keys() & new_tasks.keys())
        change = (
            stats.compare_with_baseline([stats.RunScores(_scores(old_tasks, shared))], _scores(new_tasks, shared))
            if shared
            else None
        )
        if change is not None:
            entrant_flips = [_flip(name, task, old_tasks[task], new_tasks[task]) for task in shared]
            flips += entrant_flips
            changes.append((name, change, entrant_flips))
    corrected = correct_changes([change for _, change, _ in changes])
    entrants = [
        _entrant_change(name, difference, entrant_flips)
        for (name, _, entrant_flips), difference in zip(changes, corrected, strict=True)
    ]
    worse, better = ([flip for flip in flips if sign * flip["difference"] > 0] for sign in (-1, 1))
    return {
        "first": runs[0]["id"],
        "second": runs[1]["id"],
        "sentence": pair_sentence(entrants, worse, better),
        "apart": _mismatch_sentence(*runs),
        "entrants": sorted(entrants, key=lambda row: row["difference"]),
        "worse": sorted(worse, key=lambda row: row["difference"]),
        "better": sorted(better, key=lambda row: -row["difference"]),
    }


def _read_episodes(engine: Engine, run_id: int) -> dict[tuple[int, str], dict[tuple[str, str], list[EpisodeResult]]]:
    """Entrant (id and what it is called) -> task (name and digest) -> its episodes with a verdict, newest first."""
    query = (
        select(_E.id, _E.verdict, _E.entrant_id, ENTRANT.c.called, TASK.c.name.label("task"), TASK.c.digest)
        .select_from(EPISODE)
        .join(TASK)
        .join(ENTRANT)
        .where(_E.run_id == run_id, _E.counted, _E.verdict.in_(["resolved", "unresolved"]))
    )
    episodes: dict[tuple[int, str], dict[tuple[str, str], list[EpisodeResult]]] = defaultdict(lambda: defaultdict(list))
    for row in fetch(engine, query.order_by(_E.id.desc())):
        episodes[row["entrant_id"], row["called"]][row["task"], row["digest"]].append(row)
    return episodes


def _match_entrants(
    old_entrants: Mapping[tuple[int, str], Any], new_entrants: Mapping[tuple[int, str], Any]
) -> list[tuple[str, Any, Any]]:
    counts = [Counter(label for _, label in side) for side in (old_entrants, new_entrants)]
    unique_keys = {label: key for key in old_entrants if counts[0][label := key[1]] == counts[1][label] == 1}
    pairs = [(key[1], key if key in old_entrants else unique_keys.get(key[1]), key) for key in new_entrants]
    return sorted(pair for pair in pairs if pair[1] is not None)


def _scores(played: Mapping[Any, Sequence[EpisodeResult]], tasks: Sequence[Any]) -> list[stats.TaskScore]:
    return [(_count_resolved(played[task]), len(played[task])) for task in tasks]


def _count_resolved(episodes: Sequence[EpisodeResult]) -> int:
    return sum(episode["verdict"] == "resolved" for episode in episodes)


def _flip(
    entrant: str, task: tuple[str, str], old_episodes: Sequence[EpisodeResult], new_episodes: Sequence[EpisodeResult]
) -> Flip:
    difference = _count_resolved(new_episodes) / len(new_episodes) - _count_resolved(old_episodes) / len(old_episodes)

    def shown(side: Sequence[EpisodeResult], resolved: bool) -> int:
        return int(next((episode for episode in side if (episode["verdict"] == "resolved") == resolved), side[0])["id"])

    return {
        "entrant": entrant,
        "task": task[0],
        "before": f"{_count_resolved(old_episodes)} of {len(old_episodes)}",
        "now": f"{_count_resolved(new_episodes)} of {len(new_episodes)}",
        "difference": difference,
        "episode_before": shown(old_episodes, difference < 0),
        "episode": shown(new_episodes, difference > 0),
    }


def _entrant_change(entrant: str, difference: RateDifference, flips: Sequence[Flip]) -> EntrantChange:
    return {
        "entrant": entrant,
        **difference,
        "worse": sum(flip["difference"] < 0 for flip in flips),
        "better": sum(flip["difference"] > 0 for flip in flips),
    }


def pair_sentence(
    entrants: Sequence[EntrantChange] | Sequence[RateChange], worse: Sequence[Flip], better: Sequence[Flip]
) -> str:
    """Say who is better or worse, and on how many tasks. `entrants`: those of `run_pair`, or rows of `changes`."""
    if not entrants:
        return "No entrant has a verdict on the same task in both runs."
    clear = sorted((row for row in entrants if direction(row["difference"], row["p_value"])), key=_by_size)
    worse_first = sorted(clear, key=lambda row: row["difference"] > 0)
    parts = [change_sentence(row, row["entrant"]) for row in worse_first]
    if calm := len(entrants) - len(clear):
        quiet = "any entrant" if not clear else f"{calm} of {count_of(len(entrants), 'entrant')}"
        unclear = claim(None, None, above="", below="", between=f"for {quiet}")
        parts.append(in_sentence(unclear) if clear else unclear)
    return f"{'; '.join(parts)}; {count_of(len(worse), 'task result')} got worse, {len(better):,} got better."


def _by_size(row: Mapping[str, Any]) -> float:
    return -abs(float(row["difference"]))


def _mismatch_sentence(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    sentences = []
    if first["benchmark_digest"] != second["benchmark_digest"]:
        sentences.append("The runs have different benchmarks or versions, so only unchanged tasks are compared.")
    if first["conditions_digest"] != second["conditions_digest"]:
        differing = conditions.differences(second["conditions"], first["conditions"])
        sentences.append(f"The conditions differ: {conditions.describe_differences(differing)}.")
    versions = [{name: str(value) for name, value in run["versions"].items()} for run in (first, second)]
    changed = [name for name in versions[1] if versions[0].get(name, versions[1][name]) != versions[1][name]]
    if changed:
        texts = [f"{name} {versions[0][name]} -> {versions[1][name]}" for name in changed]
        sentences.append(f"Versions differ: {', '.join(texts)}.")
    return " ".join(sentences)
