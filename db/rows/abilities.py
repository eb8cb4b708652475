"""Abilities of entrants and difficulties of tasks, fitted together."""

from __future__ import annotations

from typing import TypedDict


class Ability(TypedDict):
    """An entrant's ability in the model of `stats.abilities`, in logits and as the `rate` expected on all tasks.

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


class Difficulty(TypedDict):
    """A task's difficulty in the same model, in logits; `entrants` is how many have played the task."""

    task: str
    task_id: int
    category: str
    difficulty: float
    low: float
    high: float
    entrants: int


class Level(TypedDict):
    """The rate of an entrant on the easiest, middle or hardest third of the tasks, by measured difficulty."""

    entrant_id: int
    entrant: str
    level: str
    tasks: int
    rate: float | None


class Calibrated(TypedDict):
    """A fifth of the results of entrants, by the chance that the model predicts from the results of the others."""

    predicted: float
    observed: float
    episodes: int


class Abilities(TypedDict):
    """The whole model. `spread`: standard deviation of the difficulties; `clusters`: how many the intervals cover."""

    entrants: list[Ability]
    tasks: list[Difficulty]
    levels: list[Level]
    calibration: list[Calibrated]
    spread: float | None
    clusters: int
    note: str
