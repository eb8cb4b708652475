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

_USAGE = [usage_field.name for usage_field in fields(Usage) if usage_field.name not in ("estimated", "waited_ms")]
"""The fields of a step's usage that have columns; the others are only in its exchanges."""


def load_trajectory(engine: Engine, episode_id: int) -> list[Step]:
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
        exchanges=[asdict(exchange) for exchange in step.exchanges],
        milestones=list(step.progress.milestones),
        distance=step.progress.distance or "",
        distance_lines=step.progress.distance_lines,
        **{name: getattr(step.usage, name) for name in _USAGE},
    )


def from_row(row: Mapping[str, Any]) -> Step:
    """Return the step of a row, which must have `exchanges`. A malformed step has no action."""
    exchanges = tuple(Exchange(**{**exchange, "usage": Usage(**exchange["usage"])}) for exchange in row["exchanges"])
    total = sum((exchange.usage for exchange in exchanges), Usage())
    return Step(
        index=row["index"],
        action=Action(row["tool"], row["arguments"]) if row["tool"] else None,
        observation=Observation(row["observation"], row["ok"], row["state"], row["env_ms"]),
        thought=row["thought"],
        usage=Usage(**{name: row[name] for name in _USAGE}, estimated=total.estimated, waited_ms=total.waited_ms),
        exchanges=exchanges,
        progress=Progress(
            tuple(Milestone(name) for name in row["milestones"]),
            Distance(row["distance"]) if row["distance"] else None,
            row["distance_lines"],
        ),
    )


def find_trajectory(engine: Engine, recording: RecordingQuery, episode_id: int) -> list[Step]:
    """Find the recorded trajectory for an episode's task. Raises SetupError if there is none, or several."""
    playing = queries.episode(engine, episode_id)
    task = playing["task"]
    try:
        episodes: Sequence[EpisodeSummary] = (
            queries.episodes(engine, recording.run, task=task, entrant=recording.entrant or None)
            if recording.episode is None
            else [queries.episode(engine, recording.episode)]
        )
    except NotFound as error:
        raise SetupError(f"the agent replay has nothing to repeat: {error}") from None
    candidates = [row for row in episodes if row["task"] == task]
    source = f"episode {recording.episode}" if recording.run is None else f"run {recording.run}"
    if not candidates:
        raise SetupError(f"{source} has no episode of the task {task} that the agent replay could repeat")
    # If this run has more attempts than the recorded one, the recorded attempts are repeated in turn.
    attempts = sorted({row["attempt"] for row in candidates})
    candidates = [row for row in candidates if row["attempt"] == attempts[(playing["attempt"] - 1) % len(attempts)]]
    if len(candidates) > 1:
        names = ", ".join(repr(row["entrant"]) for row in candidates)
        raise SetupError(f"{source} has several episodes of the task {task}: set `entrant` to one of {names}")
    steps = load_trajectory(engine, candidates[0]["id"])
    if not steps:
        raise SetupError(f"episode {candidates[0]['id']} has no steps that the agent replay could repeat")
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
    package_lists = {tuple(start.get("requirements") or ()) for start in started if isinstance(start, dict)} - {()}
    return replace(tools, installed=tuple(Environment(requirements=start) for start in sorted(package_lists)))
