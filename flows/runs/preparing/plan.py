"""Plans how large a run must be to answer its question (tasks, attempts, dollars, hours), before anything is played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from sqlalchemy import Engine

from stackrank.agents.episode.protocol import SetupError
from stackrank.agents.llm.endpoints.prices import find_price
from stackrank.agents.registry import find_agent
from stackrank.db.queries.comparisons.history import EpisodeMean, episode_means, observed_spread
from stackrank.db.stats.planning import ASSUMED, ASSUMED_SHARES, Spread, detectable_difference, needed_tasks, power
from stackrank.db.stats.power import POWER
from stackrank.db.stats.rates import ALPHA
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.flows.runs.preparing.entrants import why_idle
from stackrank.flows.runs.preparing.prepared_run import invalid_tasks, limits_of
from stackrank.flows.runs.specification.spec import EntrantSpec, RunSpec, SpecError
from stackrank.wording import count_of, duration, usd

TOKENS_IN, TOKENS_CACHED, TOKENS_OUT = 150_000, 75_000, 5_000
MODEL_S, SCRIPT_S = 120.0, 20.0
"""Assumptions about an episode, used if no earlier run tells."""
ATTEMPTS = (1, 2, 3, 5, 10)
_LIMITS = ("steps", "tokens", "cost_usd", "wall_s")
"""The limits that determine an episode's cost and time, by their names in specifications and conditions."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Episode:
    """The cost and duration of one entrant's episode."""

    cost_usd: float | None
    wall_s: float
    assumed: bool
    other_limits: bool = False
    """Whether the numbers come from episodes under other limits."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What a specification chooses."""

    benchmark: str
    available: int
    """How many tasks could be played."""
    played: int
    """How many tasks are."""
    competing: frozenset[str]
    """The entrants that are compared."""
    episodes: tuple[_Episode, ...]
    """An episode of each entrant, reference entrants included."""
    several_faults: bool
    """Whether every task has several faults, so that outcomes are shares."""


def plan(engine: Engine, spec: RunSpec, detect: float) -> Row:
    """Return the plan as a document: what the run can detect, and ways to detect a difference of `detect` (0..1).

    Raises SpecError.
    """
    choice = _chosen(engine, spec)
    entrants, episodes = len(choice.competing), choice.episodes
    if entrants < 2:
        raise SpecError("a plan compares entrants: the specification needs two that are not reference entrants")
    against = spec.stop.against if spec.stop else ""
    pairs = entrants - 1 if against else entrants * (entrants - 1) // 2
    alpha = ALPHA / pairs
    measured = observed_spread(engine, choice.benchmark, set(choice.competing))
    spread = measured[0] if measured else ASSUMED_SHARES if choice.several_faults else ASSUMED
    options = []
    for attempts in sorted({*ATTEMPTS, spec.attempts}):
        task_count = needed_tasks(detect, attempts, spread, alpha)
        options.append(
            {**_amounts(choice, spec.workers, task_count, attempts), "possible": task_count <= choice.available}
        )
    possible = [option for option in options if option["possible"]]
    cheapest = min(possible, key=lambda option: int(option["episodes"])) if possible else None
    document: Row = {
        "benchmark": choice.benchmark,
        "tasks_available": choice.available,
        "entrants": len(episodes),
        "pairs": pairs,
        "detect": detect,
        "power": POWER,
        "alpha": alpha,
        "test": "mcnemar" if spec.attempts == 1 and spread.whole else "permutation",
        "variance": {
            "between": spread.between,
            "within": spread.within,
            "source": "runs" if measured else "assumption",
            "entrants": measured[1] if measured else [],
            "sentence": _about_variance(spread, measured[1] if measured else None),
        },
        "episode": {
            "usd": [option.cost_usd for option in episodes],
            "seconds": [option.wall_s for option in episodes],
            "source": "assumption" if any(option.assumed for option in episodes) else "runs",
            "sentence": _about_episodes(episodes),
        },
        "as_written": {
            **_amounts(choice, spec.workers, choice.played, spec.attempts),
            "power": power(detect, choice.played, spec.attempts, spread, alpha),
            "detectable": detectable_difference(choice.played, spec.attempts, spread, alpha),
            "detectable_in_one_pair": detectable_difference(choice.played, spec.attempts, spread, ALPHA),
        },
        "options": options,
        "cheapest": cheapest,
        "advice": _advice(spread, spec.attempts, detect, choice.played, choice.available, cheapest, alpha),
    }
    return {**document, "sentence": _sentence(document)}


def _chosen(engine: Engine, spec: RunSpec) -> _Chosen:
    """Load what a specification chooses. Raises SpecError."""
    try:
        benchmark = load_benchmark(spec.benchmark, spec.source)
        all_tasks = tuple(benchmark.tasks())
        playing = [entrant for entrant in spec.entrants if not why_idle(entrant)]
        competing = frozenset(entrant.label for entrant in playing if not find_agent(entrant.agent).reference)
        unsound = {} if spec.include_invalid else invalid_tasks(engine, benchmark, all_tasks)
        sound = [task for task in all_tasks if task.id not in unsound]
        selected = [task for task in select(all_tasks, spec.tasks, None) if task.id not in unsound]
        played = select(selected, None, spec.limit)
        limits = limits_of(spec, all_tasks)
        means = episode_means(engine, benchmark.name, {name: limits[name] for name in _LIMITS})
        episodes = tuple(_episode(entrant, means) for entrant in playing)
    except (BenchmarkError, SetupError, ValueError) as error:
        raise SpecError(str(error)) from None
    return _Chosen(benchmark.name, len(sound), len(played), competing, episodes, all(task.parts for task in played))


def _amounts(choice: _Chosen, workers: int, tasks: int, attempts: int) -> Row:
    """Return what a run of so many tasks and attempts costs and how long it takes."""
    costs = [episode.cost_usd for episode in choice.episodes]
    known_costs = [cost for cost in costs if cost is not None]
    return {
        "tasks": tasks,
        "attempts": attempts,
        "episodes": tasks * attempts * len(costs),
        "usd": sum(known_costs) * tasks * attempts if len(known_costs) == len(costs) else None,
        "hours": sum(episode.wall_s for episode in choice.episodes) * tasks * attempts / workers / 3600,
    }


def _episode(entrant: EntrantSpec, means: list[EpisodeMean]) -> _Episode:
    """Estimate from the same entrant's episodes, else from those of its agent and model, else from assumptions.

    Episodes under other limits, as in a quick trial, are used only if there are none under the same limits.
    """
    same_entrant = [mean for mean in means if mean["called"] == entrant.label]
    same_model = [mean for mean in means if (mean["agent"], mean["model"]) == (entrant.agent, entrant.model)]
    for mean in sorted((*same_entrant, *same_model), key=lambda mean: -mean["same_limits"]):
        return _Episode(mean["cost_usd"], mean["wall_s"], False, not mean["same_limits"])
    if not entrant.model:
        return _Episode(None if find_agent(entrant.agent).needs_model else 0.0, SCRIPT_S, True)
    price = find_price(entrant.model, entrant.config.get("price"))
    return _Episode(price.of(TOKENS_IN, TOKENS_CACHED, TOKENS_OUT) if price else None, MODEL_S, True)


def _about_variance(spread: Spread, entrants: list[str] | None) -> str:
    parts = f"{spread.between:.3f} between tasks, {spread.within:.3f} within them at one attempt"
    if entrants is None:
        return f"Assumed, because no run of this benchmark gives an estimate: a variance of {parts}."
    split = " (in equal parts: with one attempt a task they cannot be told apart)" if spread.assumed_split else ""
    return (
        f"From earlier runs of {', '.join(entrants[:4])}{' and others' if len(entrants) > 4 else ''}: {parts}{split}."
    )


def _about_episodes(episodes: Sequence[_Episode]) -> str:
    if not any(episode.assumed for episode in episodes):
        limits_note = ", in part under other limits" if any(episode.other_limits for episode in episodes) else ""
        return f"Costs and times come from earlier episodes{limits_note}."
    tokens = f"{TOKENS_IN:,} tokens in, half of them cached, and {TOKENS_OUT:,} out"
    subject = (
        "an episode"
        if all(episode.assumed for episode in episodes)
        else "an episode of an entrant that has not played yet"
    )
    return f"Assumed of {subject}: {tokens}, {MODEL_S:.0f} s with a model and {SCRIPT_S:.0f} s without."


def _advice(
    spread: Spread, attempts: int, detect: float, played: int, available: int, cheapest: Row | None, alpha: float
) -> str:
    """Say whether more tasks or more attempts help."""
    share = spread.between / spread.of(attempts) if spread.of(attempts) else 0.0
    reason = (
        f"{share:.0%} of the variance at {count_of(attempts, 'attempt')} lies between tasks, which "
        "attempts do not reduce"
    )
    if power(detect, played, attempts, spread, alpha) >= POWER:
        return "The run is large enough."
    if cheapest is None:
        at_best = detectable_difference(available, 100, spread, alpha)
        least = "nothing" if at_best is None else f"{100 * at_best:.1f} points"
        return (
            f"The benchmark is too small: with all its {count_of(available, 'task')} and any number of "
            f"attempts, {least} could be "
            f"detected. More tasks are needed: {reason}."
        )
    if cheapest["attempts"] > attempts:
        return (
            f"More attempts help, because there are only {count_of(available, 'task')}; more tasks would be "
            f"cheaper: {reason}."
        )
    return f"More tasks help more than more attempts: {reason}."


def _sentence(document: Row) -> str:
    difference, as_written, cheapest = document["detect"], document["as_written"], document["cheapest"]
    smallest = "no difference" if as_written["detectable"] is None else f"{100 * as_written['detectable']:.1f} points"
    pairs = document["pairs"]
    corrected = f" in any of {count_of(pairs, 'comparison')}" if pairs > 1 else ""
    alone = as_written["detectable_in_one_pair"]
    if pairs > 1 and alone is not None:
        smallest += f" ({100 * alone:.1f} if only two were compared)"
    text = f"To detect {100 * difference:g} points{corrected} with {document['power']:.0%} power: "
    text += (
        _size(cheapest)
        if cheapest
        else f"the benchmark, with {count_of(document['tasks_available'], 'task')}, is too small"
    )
    text += f". As written ({_size(as_written)}) it can detect {smallest}, and {100 * difference:g} points with "
    return f"{text}{as_written['power']:.0%} power. {document['advice']}"


def _size(amounts: Row) -> str:
    money = (
        "at an unknown cost, " if amounts["usd"] is None else f"about {usd(amounts['usd'])}, " if amounts["usd"] else ""
    )
    return (
        f"{count_of(amounts['tasks'], 'task')} x {count_of(amounts['attempts'], 'attempt')}, {money}"
        f"{duration(ceil(amounts['hours'] * 3600))}"
    )
