"""Benchmarks, tasks and entrants."""

from __future__ import annotations

from typing import Any, TypedDict

from stackrank.db.rows.columns import Json


class Benchmark(TypedDict):
    """One version of a benchmark."""

    id: int
    name: str
    digest: str
    license: str
    source: str
    tasks_total: int
    created_at: str | None
    validated_at: str | None
    tasks_valid: int | None


class TaskListed(TypedDict):
    """A task without its long texts."""

    id: int
    benchmark_id: int
    name: str
    title: str
    category: str
    difficulty: str
    digest: str
    tags: list[str]
    faults: list[Json]
    measured: dict[str, Any] | None
    tests_deciding: int | None
    tests_covered: int | None
    valid: bool | None
    invalid_reason: str
    validated_rounds: int
    validated_at: str | None


class Task(TaskListed):
    """A task with all its columns and its benchmark's name."""

    statement: str
    fix: str
    files: dict[str, str]
    audit: dict[str, Any] | None
    benchmark: str


class Entrant(TypedDict):
    """An agent, its model and its tools. `called`: its name in the specification; `name` is unique among entrants."""

    id: int
    digest: str
    name: str
    called: str
    reference: bool
    agent: str
    agent_version: str
    model: str
    tools: str
    tool_list: list[str]
    tool_versions: dict[str, str]
    config: Json
    created_at: str | None
