"""What operators did to a run, and what they want of it now."""

from __future__ import annotations

from typing import TypedDict

from sqlalchemy import Engine, select

from stackrank.db.connection.errors import NotFound
from stackrank.db.connection.transactions import ACT, RUN
from stackrank.db.queries.reading import Json, fetch, fetch_one
from stackrank.terms import ActKind
from stackrank.wording import moment


class ActRow(TypedDict):
    """One act; `change` as in `db.models.acts.Act`."""

    id: int
    run_id: int
    kind: str
    change: Json
    person: str
    why: str
    created_at: str


class Directions(TypedDict):
    """What the processes that play a run have to obey."""

    paused: bool
    spec: Json


def acts(engine: Engine, run_id: int) -> list[ActRow]:
    """Return the acts of operators on a run, the oldest first."""
    return fetch(engine, select(ACT).where(ACT.c.run_id == run_id).order_by(ACT.c.id), ActRow)


def directions(engine: Engine, run_id: int) -> Directions:
    """Return whether a run is paused, and its specification as it is now. Raises NotFound."""
    row = fetch_one(engine, select(RUN.c.paused, RUN.c.spec).where(RUN.c.id == run_id), Directions)
    if row is None:
        raise NotFound(f"There is no run {run_id}: `stackrank runs` lists them.")
    return row


def describe_pause(engine: Engine, run_id: int) -> str:
    """Return who paused a run last, when and why, and how it goes on."""
    pauses = [act for act in acts(engine, run_id) if act["kind"] == ActKind.PAUSE]
    return f"{describe_act(pauses[-1]).rstrip('.')}. `stackrank resume {run_id}` lets it go on."


def describe_act(act: ActRow) -> str:
    """Describe an act in one sentence: `ada paused it at 03:12: the provider throttles.`"""
    change = act["change"]
    match ActKind(act["kind"]):
        case ActKind.PAUSE:
            done = "paused it"
        case ActKind.RESUME:
            done = "let it go on"
        case ActKind.SET:
            done = "set " + ", ".join(f"{name} from {old} to {new}" for name, (old, new) in change.items())
        case ActKind.RETRY:
            done = f"retried episode {change['episode']}"
    why = f": {act['why']}" if act["why"] else ""
    return f"{act['person'] or 'somebody'} {done} at {moment(act['created_at'])}{why}"
