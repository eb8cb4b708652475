"""Verdicts, the first and those that were taken again."""

from __future__ import annotations

from typing import TypedDict


class VerdictListed(TypedDict):
    """One verdict on an episode's work, without its tests. `of_record`: the one that it was played with."""

    id: int
    episode_id: int
    of_record: bool
    task_digest: str
    workspace: str
    change: str
    scorer: str
    environment: str
    resolved: bool
    tampered: bool
    sealed: int
    unsealed: str
    created_at: str | None


class VerdictAgain(VerdictListed):
    """A verdict that was taken again, whose it is, and what the episode was `played` with."""

    task: str
    entrant: str
    played: str


class Verdict(VerdictListed):
    """A verdict with the outcome of each test and what the scorer noted."""

    tests: dict[str, str]
    notes: list[str]
