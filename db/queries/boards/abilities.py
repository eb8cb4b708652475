"""Abilities of entrants and difficulties of tasks, fitted together even if not every entrant played every task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TypedDict, TypeVar

from sqlalchemy import Engine

from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, fetch_entrants, without_reference
from stackrank.db.totals.sums import Cells, Sums, TaskKey
from stackrank.wording import count_of

_Key = TypeVar("_Key")
_LEVELS = ("easiest third", "middle third", "hardest third")


class AbilityRow(TypedDict):
    """An entrant's ability in the model of `stats.fit_abilities`, in logits and as the `rate` expected on all tasks.

    `observed` is its rate on the `tasks` that it played. `infit` and `outfit` are near 1 if the model fits. If `linked`
    is false, no chain of common tasks links it to the others; then only the distribution of all tasks does.
    """

    entrant_id: int
    entrant: str
    ability: float
    ability_low: float
    ability_high: float
    rate: float
    ci_low: float
    ci_high: float
    observed: float
    tasks: int
    tasks_total: int
    infit: float
    outfit: float
    linked: bool


class DifficultyRow(TypedDict):
    """A task's difficulty in the same model, in logits; `entrants` is how many have played the task."""

    task: str
    task_id: int
    category: str
    difficulty: float
    low: float
    high: float
    entrants: int


class LevelRow(TypedDict):
    """The rate of an entrant on the easiest, middle or hardest third of the tasks, by measured difficulty."""

    entrant_id: int
    entrant: str
    level: str
    tasks: int
    rate: float | None


class CalibrationRow(TypedDict):
    """A fifth of the results of entrants, by the chance that the model predicts from the results of the others."""

    predicted: float
    observed: float
    episodes: int


class AbilityBoard(TypedDict):
    """The whole model. `spread`: standard deviation of the difficulties; `clusters`: how many the intervals cover."""

    entrants: list[AbilityRow]
    tasks: list[DifficultyRow]
    levels: list[LevelRow]
    calibration: list[CalibrationRow]
    spread: float | None
    clusters: int
    note: str


def abilities(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> AbilityBoard:
    """Fit the model of `stats.fit_abilities` to the scope. Return its entrants best first and its tasks hardest first.

    Reference entrants are left out: applying the known fix, for instance, is no ability. The tasks of a category form
    a cluster.
    """
    from stackrank.db.stats.abilities import fit_abilities as fit

    selection = scope.find(engine)
    cells = selection.cells()
    entrant_rows = fetch_entrants(engine, cells)
    played: dict[int, Cells] = {
        entrant_id: {key: sums for key, sums in tasks.items() if sums.counted}
        for entrant_id, tasks in without_reference(cells, entrant_rows).items()
    }
    played = {entrant_id: tasks for entrant_id, tasks in played.items() if tasks}
    facts = {(fact["name"], fact["digest"]): fact for fact in selection.tasks}
    keys = sorted({key for tasks in played.values() for key in tasks})
    if not keys:
        return {"entrants": [], "tasks": [], "levels": [], "calibration": [], "spread": None, "clusters": 0, "note": ""}
    resolved, counted = count_matrices(played.values(), keys)
    model = fit(resolved, counted, [facts[key]["category"] for key in keys])
    ability_rows: list[AbilityRow] = [
        {
            "entrant_id": entrant_id,
            "entrant": entrant_rows[entrant_id]["name"],
            "ability": ability.ability,
            "ability_low": ability.low,
            "ability_high": ability.high,
            "rate": ability.rate,
            "ci_low": ability.rate_low,
            "ci_high": ability.rate_high,
            "observed": fmean(sums.mended / sums.counted for sums in played[entrant_id].values()),
            "tasks": len(played[entrant_id]),
            "tasks_total": len(keys),
            "infit": ability.infit,
            "outfit": ability.outfit,
            "linked": ability.linked,
        }
        for entrant_id, ability in zip(played, model.entrants, strict=True)
    ]
    difficulty_rows: list[DifficultyRow] = [
        {
            "task": key[0],
            "task_id": facts[key]["id"],
            "category": facts[key]["category"],
            "difficulty": task.difficulty,
            "low": task.low,
            "high": task.high,
            "entrants": sum(key in tasks for tasks in played.values()),
        }
        for key, task in zip(keys, model.tasks, strict=True)
    ]
    order = sorted(range(len(keys)), key=lambda index: round(model.tasks[index].difficulty, 9))
    names = {entrant_id: entrant_rows[entrant_id]["name"] for entrant_id in played}
    by_category = count_of(model.clusters, "category") if model.clusters < len(keys) else count_of(len(keys), "task")
    return {
        "entrants": sorted(ability_rows, key=lambda row: (not row["linked"], -row["ability"])),
        "tasks": sorted(difficulty_rows, key=lambda row: -row["difficulty"]),
        "levels": _level_rows([keys[index] for index in order], played, names),
        "calibration": [
            {"predicted": predicted, "observed": observed, "episodes": episodes}
            for predicted, observed, episodes in model.calibration
        ],
        "spread": model.spread,
        "clusters": model.clusters,
        "note": f"Logistic model: an ability for each entrant, a random difficulty for each task; over {by_category}.",
    }


def count_matrices(
    entrants: Iterable[Mapping[_Key, Sums]], keys: Sequence[_Key]
) -> tuple[list[list[float]], list[list[int]]]:
    """Return the numbers of resolved and of counted episodes, entrants x tasks, 0 for a task that was not played."""
    rows = [[(tasks[key].mended, tasks[key].counted) if key in tasks else (0, 0) for key in keys] for tasks in entrants]
    return [[resolved for resolved, _ in row] for row in rows], [[counted for _, counted in row] for row in rows]


def _level_rows(order: Sequence[TaskKey], played: Mapping[int, Cells], names: Mapping[int, str]) -> list[LevelRow]:
    """Return each entrant's observed rate on each third of the tasks, by measured difficulty, easiest first."""
    rows: list[LevelRow] = []
    for third, level in enumerate(_LEVELS):
        task_keys = order[third * len(order) // 3 : (third + 1) * len(order) // 3]
        for entrant_id, tasks in played.items():
            results = [tasks[key] for key in task_keys if key in tasks]
            rate = fmean(sums.mended / sums.counted for sums in results) if results else None
            rows.append(
                {
                    "entrant_id": entrant_id,
                    "entrant": names[entrant_id],
                    "level": level,
                    "tasks": len(results),
                    "rate": rate,
                }
            )
    return rows
