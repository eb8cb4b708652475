"""Runs, their progress, and how they end."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from stackrank.db.rows.boards import Failing
from stackrank.db.rows.columns import Json


class Progress(TypedDict):
    """How far a run is, in episodes.

    `done` ones have a verdict, `sealed` ones are resolved, `retried` ones are tries that do not count, and `not_played`
    ones were no longer needed.
    `errors_by_class`: as in `Ranked`.
    """

    done: int
    resolved: int
    sealed: int
    unresolved: int
    errors: int
    errors_by_class: dict[str, int]
    running: int
    pending: int
    not_played: int
    retried: int
    cost_usd: float | None


class Outage(TypedDict):
    """An endpoint that does not answer, and the entrants that wait for it."""

    since: str
    probes: int
    """How often it was asked again."""
    probe: int
    """The episode that asked last."""
    entrants: list[int]
    error: str


class RunListed(Progress):
    """A run, its benchmark's name, how long it has taken, and its progress."""

    id: int
    name: str
    benchmark_id: int
    benchmark: str
    benchmark_digest: str
    status: str
    reason: str
    leaderboard: str
    series: str
    conditions: Json
    conditions_digest: str
    owner: str
    project: str
    tags: list[str]
    seed: int
    episodes_total: int
    schedule: str
    regressions: list[Json]
    outages: dict[str, Outage] | None
    auto_resumes: int
    prefect_flow_run_id: str
    host: str
    created_at: str | None
    started_at: str | None
    ended_at: str | None
    heartbeat_at: str | None
    wall_s: float | None


class Run(RunListed):
    """A run with what it was made from; `entrants` have id, digest, name, model, agent and tools."""

    spec: Json
    versions: Json
    entrants: list[Json]


class Interrupted(TypedDict):
    """A run that is going on, or should be."""

    id: int
    name: str
    host: str
    schedule: str
    prefect_flow_run_id: str
    heartbeat_at: datetime | None
    spec: Json


class TimeSpent(TypedDict):
    """Where the time of an episode went, in seconds; all but `queued_s` add up to `total_s`."""

    episode: int
    entrant: str
    queued_s: float
    """The wait before it began, while others were played."""
    total_s: float
    waited_s: float
    """The wait for its endpoint, because of limits and failed tries."""
    model_s: float
    sandbox_s: float
    """The time of its tools."""
    tests_s: float
    """The time of the verdict."""
    rest_s: float


class Ended(TypedDict):
    """A run that ended; `auto_resumes`: how often a supervisor has resumed it."""

    id: int
    schedule: str
    ended_at: datetime
    auto_resumes: int
    spec: Json


class Stalled(TypedDict):
    """A run that should be going on but is silent."""

    id: int
    name: str
    heartbeat_at: str | None


class Health(TypedDict):
    """How well the infrastructure worked in the newest `runs` runs.

    `done`: episodes with a verdict; `retried`: tries that were repeated; `interruptions`: how often an episode was cut
    off and continued; `reasons`: the most common errors.
    """

    runs: int
    done: int
    errors: int
    error_rate: float | None
    retried: int
    interruptions: int
    stalled: list[Stalled]
    reasons: list[Failing]
