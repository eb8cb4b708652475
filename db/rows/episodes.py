"""Episodes, the claims of workers on them, their steps, and what people write about them."""

from __future__ import annotations

from datetime import datetime
from typing import NotRequired, TypedDict

from stackrank.db.rows.columns import Json


class EpisodeListed(TypedDict):
    """An episode with the names of its task, entrant and run, but without diff and score."""

    id: int
    run_id: int
    task_id: int
    entrant_id: int
    attempt: int
    try_number: int
    counted: bool
    status: str
    verdict: str
    sealed: int
    stop_reason: str
    failure_point: str
    failure_step: int | None
    tampered: bool
    steps: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_reasoning: int
    cost_usd: float | None
    env_ms: float
    model_ms: float
    score_ms: float
    wall_s: float
    tests_passed: int
    tests_failed: int
    error: str
    error_class: str
    at_reproduced: int | None
    at_localized: int | None
    at_breakpoint: int | None
    at_inspected: int | None
    at_edited: int | None
    at_improved: int | None
    at_solved: int | None
    sandbox: str
    tags: list[str]
    claimed_by: str
    alive_at: str | None
    interruptions: int
    replayed: str
    replayed_at: str | None
    started_at: str | None
    ended_at: str | None
    task: str
    entrant: str
    model: str
    tools: str
    run: str


class Episode(EpisodeListed):
    """An episode with details of its task, entrant and run. `milestones`: name -> the step that reached it."""

    diff: str
    score: Json
    usage: Json
    created_at: str | None
    task_title: str
    statement: str
    category: str
    difficulty: str
    faults: list[Json]
    fix: str
    agent: str
    agent_version: str
    tool_list: list[str]
    run_status: str
    prefect_flow_run_id: str
    benchmark: str
    milestones: dict[str, int]


class Claimed(TypedDict):
    """An episode that a worker has claimed. If it was interrupted before, it already has steps."""

    id: int
    task_id: int
    entrant_id: int
    attempt: int
    try_number: int
    interruptions: int


class Claim(TypedDict):
    """The worker that plays an episode, and when it was last heard of."""

    id: int
    claimed_by: str
    alive_at: datetime | None


class Played(TypedDict):
    """Whether a run is over, and when it was created, which tells runs of several databases apart."""

    over: bool
    created_at: str


class Step(TypedDict):
    """One action and its observation. `exchanges` are present only if requested."""

    index: int
    tool: str
    arguments: Json
    thought: str
    observation: str
    ok: bool
    state: Json
    env_ms: float
    model_ms: float
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_reasoning: int
    cost_usd: float | None
    milestones: list[str]
    distance: str
    distance_lines: int | None
    investigation: int | None
    """The step that asked for the investigation that this step is part of, if any."""
    exchanges: NotRequired[list[Json]]


class Note(TypedDict):
    """What a member of the team wrote."""

    id: int
    run_id: int
    episode_id: int | None
    step_index: int | None
    author: str
    body: str
    created_at: str | None


class LabelGiven(TypedDict):
    """A label that somebody gave a task (`episode_id` None) or an episode; `digest` is the task's."""

    id: int
    task_id: int
    task: str
    digest: str
    episode_id: int | None
    label: str
    is_set: bool
    person: str
    reason: str
    created_at: str | None


class View(TypedDict):
    """The filters of a page, saved under a name; `address` is the part of the address after the question mark."""

    id: int
    page: str
    name: str
    address: str
    person: str
    created_at: str | None


class EpisodeMean(TypedDict):
    """The mean cost and time of an entrant's episodes; `cost_usd` is None if a price is unknown.

    `same_limits`: 1 if the runs had the limits that were asked for.
    """

    id: int
    called: str
    agent: str
    model: str
    wall_s: float
    cost_usd: float | None
    episodes: int
    same_limits: int
