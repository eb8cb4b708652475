"""Converts trajectories to and from the database: the only place where a step becomes a row, and a row a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from sqlalchemy import Engine

from stackrank.agents.episode.milestones import Progress
from stackrank.agents.episode.protocol import RecordingQuery, SetupError
from stackrank.agents.episode.step import Exchange, Step, Usage
from stackrank.db import queries
from stackrank.db.connection.errors import NotFound
from stackrank.db.models import runs as models
from stackrank.db.queries.episodes.episodes import EpisodeSummary
from stackrank.env.actions import Action, Observation
from stackrank.env.environment import Environment
from stackrank.env.tools import ToolSet, tool_set
from stackrank.env.tools.server_plugin import server_plugin
from stackrank.env.tools.servers import ToolServer
from stackrank.terms import Distance, Milestone

_USAGE = [each.name for each in fields(Usage) if each.name not in ("estimated", "waited_ms")]
"""The fields of a step's usage that have columns; the others are only in its exchanges."""


def trajectory(engine: Engine, episode_id: int) -> list[Step]:
    """Return the committed steps of an episode, beginning with the reset."""
    return [from_row(row) for row in queries.steps(engine, episode_id, exchanges=True)]


def to_row(episode_id: int, step: Step) -> models.Step:
    """Return a step's row for the database; the counterpart of `from_row`."""
    return models.Step(
        episode_id=episode_id,
        index=step.index,
        tool=step.action.tool if step.action else "",
        arguments=step.action.arguments if step.action else {},
        thought=step.thought,
        observation=step.observation.text,
        ok=step.observation.ok,
        state=dict(step.observation.state),
        env_ms=step.observation.env_ms,
        exchanges=[asdict(each) for each in step.exchanges],
        milestones=list(step.progress.milestones),
        distance=step.progress.distance or "",
        distance_lines=step.progress.distance_lines,
        **{name: getattr(step.usage, name) for name in _USAGE},
    )


def from_row(row: Mapping[str, Any]) -> Step:
    """Return the step of a row, which must have `exchanges`. A malformed step has no action."""
    exchanges = tuple(Exchange(**{**each, "usage": Usage(**each["usage"])}) for each in row["exchanges"])
    in_all = sum((each.usage for each in exchanges), Usage())
    return Step(
        index=row["index"],
        action=Action(row["tool"], row["arguments"]) if row["tool"] else None,
        observation=Observation(row["observation"], row["ok"], row["state"], row["env_ms"]),
        thought=row["thought"],
        usage=Usage(**{name: row[name] for name in _USAGE}, estimated=in_all.estimated, waited_ms=in_all.waited_ms),
        exchanges=exchanges,
        progress=Progress(
            tuple(Milestone(name) for name in row["milestones"]),
            Distance(row["distance"]) if row["distance"] else None,
            row["distance_lines"],
        ),
    )


def find_trajectory(engine: Engine, which: RecordingQuery, episode_id: int) -> list[Step]:
    """Find the recorded trajectory for an episode's task. Raises SetupError if there is none, or several."""
    playing = queries.episode(engine, episode_id)
    task = playing["task"]
    try:
        recorded: Sequence[EpisodeSummary] = (
            queries.episodes(engine, which.run, task=task, entrant=which.entrant or None)
            if which.episode is None
            else [queries.episode(engine, which.episode)]
        )
    except NotFound as error:
        raise SetupError(f"the agent replay has nothing to repeat: {error}") from None
    found = [row for row in recorded if row["task"] == task]
    where = f"episode {which.episode}" if which.run is None else f"run {which.run}"
    if not found:
        raise SetupError(f"{where} has no episode of the task {task} that the agent replay could repeat")
    # If this run has more attempts than the recorded one, the recorded attempts are repeated in turn.
    attempts = sorted({row["attempt"] for row in found})
    found = [row for row in found if row["attempt"] == attempts[(playing["attempt"] - 1) % len(attempts)]]
    if len(found) > 1:
        names = ", ".join(repr(row["entrant"]) for row in found)
        raise SetupError(f"{where} has several episodes of the task {task}: set `entrant` to one of {names}")
    steps = trajectory(engine, found[0]["id"])
    if not steps:
        raise SetupError(f"episode {found[0]['id']} has no steps that the agent replay could repeat")
    return steps


def recorded_tools(text: str, spec: Mapping[str, Any], reset: Mapping[str, Any]) -> ToolSet:
    """Return the tools that an entrant had. `spec`: its run's stored specification; `reset`: the reset's state.

    Raises ValueError if a tool no longer exists.
    """
    tools = tool_set(text)
    servers = {name: ToolServer.model_validate(spec["mcp"][name]) for name in tools.servers}
    spoken = reset.get("spoken", ())
    return tools.with_offers([server_plugin().recorded_offer(name, server, spoken) for name, server in servers.items()])


def with_installed(tools: ToolSet, past: Sequence[Step]) -> ToolSet:
    """Return the tools with the packages that were installed for the entrant's own program, if it started one."""
    started = [step.action.arguments.get("start") for step in past if step.action and step.action.tool == "program"]
    needed = {tuple(each.get("requirements") or ()) for each in started if isinstance(each, dict)} - {()}
    return replace(tools, installed=tuple(Environment(requirements=each) for each in sorted(needed)))
