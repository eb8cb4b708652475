"""Trajectories out of the database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine

from agents.base import Exchange, Past, SetupError, Usage
from agents.replay import Source
from db import queries
from db.errors import NotFound
from env.actions import Action, Observation

_USAGE = ("tokens_in", "tokens_out", "cost_usd", "model_ms", "tokens_cached", "tokens_reasoning")


def trajectory(engine: Engine, episode_id: int) -> list[Past]:
    """The committed steps of an episode, the reset first."""
    return [_past(step) for step in queries.steps(engine, episode_id, exchanges=True)]


def _past(step: dict[str, Any]) -> Past:
    return Past(
        action=Action(step["tool"], step["arguments"]) if step["tool"] else None,
        observation=Observation(step["observation"], step["ok"], step["state"], step["env_ms"]),
        exchanges=tuple(Exchange(**{**each, "usage": Usage(**each["usage"])}) for each in step["exchanges"]),
        usage=Usage(**{name: step[name] for name in _USAGE}),
        thought=step["thought"],
    )


def find_trajectory(engine: Engine, source: Source, episode_id: int) -> list[Past]:
    """The trajectory that the agent `replay` repeats in an episode. Raises SetupError: there is none, or several."""
    playing = queries.episode(engine, episode_id)
    task = playing["task"]
    try:
        if source.episode is not None:
            rows = [queries.episode(engine, source.episode)]
        else:
            rows = queries.episodes(engine, source.run, task=task, entrant=source.entrant or None)
    except NotFound as error:
        raise SetupError(f"the agent replay has nothing to repeat: {error}") from None
    found = [row for row in rows if row["task"] == task]
    where = f"episode {source.episode}" if source.run is None else f"run {source.run}"
    if not found:
        raise SetupError(f"{where} holds no episode of the task {task} that the agent replay could repeat")
    # A run with more attempts than the one that is repeated starts over.
    attempts = sorted({row["attempt"] for row in found})
    found = [row for row in found if row["attempt"] == attempts[(playing["attempt"] - 1) % len(attempts)]]
    if len(found) > 1:
        names = ", ".join(repr(row["entrant"]) for row in found)
        raise SetupError(f"{where} holds several episodes of the task {task}: set `entrant` to one of {names}")
    steps = trajectory(engine, found[0]["id"])
    if not steps:
        raise SetupError(f"episode {found[0]['id']} has no steps that the agent replay could repeat")
    return steps
