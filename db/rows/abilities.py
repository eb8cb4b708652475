"""Abilities of entrants and difficulties of tasks, fitted together."""

from __future__ import annotations

from typing import TypedDict


class Ability(TypedDict):
    """An entrant in the model of `stats.abilities`: in logits, and as the `rate` that it would have on all tasks.

    `observed` is its rate on the `tasks` that it played. `infit` and `outfit` are near 1 where the model fits. Without
    `linked`, no chain of common tasks joins it to the others, and only what tasks are like on the whole does.
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
    """A task in the same model, in logits; `entrants` have played it."""

    task: str
    task_id: int
    category: str
    difficulty: float
    low: float
    high: float
    entrants: int


class Level(TypedDict):
    """The rate of an entrant on a third of the tasks: easy, middling or hard, by measured difficulty."""

    entrant_id: int
    entrant: str
    level: str
    tasks: int
    rate: float | None


class Calibrated(TypedDict):
    """A fifth of what entrants did, by the chance that the model gives them from what the others did."""

    predicted: float
    observed: float
    episodes: int


class Abilities(TypedDict):
    """The whole model. `spread`: standard deviation of the difficulties; `clusters`: what the intervals hold over."""

    entrants: list[Ability]
    tasks: list[Difficulty]
    levels: list[Level]
    calibration: list[Calibrated]
    spread: float | None
    clusters: int
    note: str
