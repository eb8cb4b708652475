"""Finds out whether anybody plays a run that is in progress according to the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine

from stackrank.db.writes.store import Store
from stackrank.flows.runs.playing.claims import are_deserted
from stackrank.host.wall_clock import seconds_since
from stackrank.settings import settings
from stackrank.terms import RunStatus
from stackrank.wording import duration


def describe_absence(engine: Engine, run: Mapping[str, Any]) -> str:
    """Say why nobody seems to play a run, as a clause; empty if somebody does, or if the run is not in progress.

    `run`: a row with id, status, heartbeat_at and started_at. A process of this machine is known to have ended; of
    others, only their silence tells.
    """
    last_sign = run["heartbeat_at"] or run["started_at"]
    if run["status"] != RunStatus.RUNNING or not last_sign:
        return ""
    silent_s = seconds_since(last_sign)
    if silent_s > settings().run_silent_s:
        return f"nobody has played it for {duration(silent_s)}"
    return "the process that played it has ended" if are_deserted(Store(engine).claims(run["id"])) else ""


def is_played(engine: Engine, run: Mapping[str, Any]) -> bool:
    """Whether a process plays the run; see `describe_absence`."""
    return bool(run["status"] == RunStatus.RUNNING and not describe_absence(engine, run))


def is_held(engine: Engine, run_id: int) -> bool:
    """Whether a process that may be alive holds an episode of the run."""
    claims = Store(engine).claims(run_id)
    return bool(claims) and not are_deserted(claims)
