"""Verdicts: the first one on an episode, and those from scoring it again."""

from __future__ import annotations

from typing import TypedDict


class VerdictListed(TypedDict):
    """One verdict on an episode's work, without its tests. `of_record`: given when the episode was played."""

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
    """A verdict from scoring again, with its task and entrant, and the verdict from when the episode was `played`."""

    task: str
    entrant: str
    played: str


class Verdict(VerdictListed):
    """A verdict with the outcome of each test and what the scorer noted."""

    tests: dict[str, str]
    notes: list[str]
