"""Claims say which worker plays which episode. They make "exactly once" true even if workers die, hang or come back.

An episode is pending, or running and claimed by one worker, or done. Workers take a claim, and take one over, by
compare and swap; once a worker has lost its claim, its writes are refused. Clocks of different machines are never
compared: a process watches a claim to see whether its worker is silent (`flows.runs.playing.claims`).
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, TypedDict, cast

from sqlalchemy import BindParameter, Connection, Select, bindparam, func, insert, select, union_all, update
from sqlalchemy.sql.dml import ReturningUpdate

from stackrank.db.connection.errors import ClaimLost, no_episode
from stackrank.db.connection.transactions import COUNTER, EPISODE, LEFT, OPEN, STEP, Transactions, clean, new_id
from stackrank.db.models.runs import Episode
from stackrank.db.totals import tallies
from stackrank.host.wall_clock import now
from stackrank.terms import EpisodeStatus, ErrorClass, StopReason, Verdict

_E = EPISODE.c
CLAIMED = (_E.id, _E.task_id, _E.entrant_id, _E.attempt, _E.try_number, _E.interruptions)
Row = dict[str, Any]


class ClaimedEpisode(TypedDict):
    """An episode that a worker has claimed. If it was interrupted before, it already has steps."""

    id: int
    task_id: int
    entrant_id: int
    attempt: int
    try_number: int
    interruptions: int


class WorkerClaim(TypedDict):
    """The worker that plays an episode, and when it was last heard of."""

    id: int
    claimed_by: str
    alive_at: datetime | None


class Claims(Transactions):
    """Writes the claims of workers on episodes."""

    def claim_next(self, run_id: int, by: str, *, without: Collection[int] = ()) -> ClaimedEpisode | None:
        """Claim the first pending episode of a run, except those of the entrants `without`; None if there is none."""

        def work(connection: Connection) -> ClaimedEpisode | None:
            parameters = {"run": run_id, "without": list(without), "by": by, "at": now()}
            row = connection.execute(_CLAIM_NEXT, parameters).mappings().one_or_none()
            return None if row is None else as_claimed(row)

        return self._write(work)

    def claims(self, run_id: int) -> list[WorkerClaim]:
        """Return the claims on the running episodes of a run."""
        query = select(_E.id, _E.claimed_by, _E.alive_at)
        query = query.where(_E.run_id == run_id, _E.counted, _E.status == EpisodeStatus.RUNNING, OPEN).order_by(_E.id)
        rows = self._write(lambda connection: connection.execute(query).mappings().all(), write=False)
        return [WorkerClaim(id=row["id"], claimed_by=row["claimed_by"], alive_at=row["alive_at"]) for row in rows]

    def take_over(self, episode_id: int, by: str, *, last_claim: WorkerClaim) -> ClaimedEpisode | None:
        """Claim an episode whose worker is gone if its claim is still `last_claim`; else return None."""

        def work(connection: Connection) -> ClaimedEpisode | None:
            row = _locked(connection, episode_id)
            is_unchanged = (row["claimed_by"], row["alive_at"]) == (last_claim["claimed_by"], last_claim["alive_at"])
            if row["status"] != EpisodeStatus.RUNNING or not is_unchanged:
                return None
            change(connection, episode_id, **claimed(by, now()), interruptions=row["interruptions"] + 1)
            return as_claimed(row, interruptions=row["interruptions"] + 1)

        return self._write(work)

    def free(self, episode_id: int, *, last_claim: WorkerClaim) -> bool:
        """Make an episode whose worker is gone pending if its claim is still `last_claim`, for another worker."""
        values = {"status": EpisodeStatus.PENDING, "claimed_by": "", "interruptions": _E.interruptions + 1}
        is_unchanged = (_E.claimed_by == last_claim["claimed_by"], _E.alive_at == last_claim["alive_at"])
        conditions = (_E.id == episode_id, _E.status == EpisodeStatus.RUNNING, *is_unchanged)
        statement = update(EPISODE).where(*conditions).values(values)
        return bool(self._write(lambda connection: connection.execute(statement).rowcount))

    def hand_over(self, episode_id: int, giver: str, taker: str) -> bool:
        """Pass a claim on to another worker; False if `giver` does not hold it."""
        values = {"claimed_by": taker, "alive_at": now()}
        conditions = (_E.id == episode_id, _E.status == EpisodeStatus.RUNNING, _E.claimed_by == giver)
        statement = update(EPISODE).where(*conditions).values(values)
        return bool(self._write(lambda connection: connection.execute(statement).rowcount))

    def keep_claims(self, episode_ids: Collection[int], by: str) -> None:
        """Record that `by` is alive and still plays these episodes."""
        if episode_ids:
            conditions = (_E.id.in_(list(episode_ids)), _E.claimed_by == by)
            statement = update(EPISODE).where(*conditions).values(alive_at=now())
            self._write(lambda connection: connection.execute(statement))

    def release(self, episode_id: int, by: str) -> None:
        """Give an unfinished episode back for another worker to continue. Does nothing if `by` does not hold it."""
        values = {"status": EpisodeStatus.PENDING, "claimed_by": "", "interruptions": _E.interruptions + 1}
        conditions = (_E.id == episode_id, _E.status == EpisodeStatus.RUNNING, _E.claimed_by == by)
        statement = update(EPISODE).where(*conditions).values(values)
        self._write(lambda connection: connection.execute(statement))

    def retry_episode(self, episode_id: int, by: str = "", *, afresh: bool = False) -> ClaimedEpisode | None:
        """Claim an episode that ended in `error`, or make it pending if `by` is empty. None if it no longer counts.

        An episode that had taken steps is continued, so that nothing that was paid for is lost. Otherwise, or with
        `afresh`, it stays as it is but is no longer counted, and a new try takes its place.
        """

        return self._write(lambda connection: retry_within(connection, episode_id, by, afresh=afresh))

    def skip(self, run_id: int, entrants: Collection[int]) -> int:
        """Mark the episodes that these entrants have not begun as not played (not needed), and return their number."""
        pending = (_E.run_id == run_id, _E.counted, _E.status == EpisodeStatus.PENDING, _E.interruptions == 0)
        values = {"status": EpisodeStatus.NOT_PLAYED, "stop_reason": StopReason.DECIDED}
        statement = update(EPISODE).where(*pending, _E.entrant_id.in_(list(entrants))).values(values)
        return int(self._write(lambda connection: connection.execute(statement).rowcount)) if entrants else 0

    def unskip(self, run_id: int) -> None:
        """Make the episodes that were marked as not played pending again."""
        skipped = (_E.run_id == run_id, _E.status == EpisodeStatus.NOT_PLAYED)
        statement = update(EPISODE).where(*skipped).values(status=EpisodeStatus.PENDING, stop_reason="")
        self._write(lambda connection: connection.execute(statement))

    def begin(self, episode_id: int, by: str) -> None:
        """Record that an episode that `by` claimed earlier starts now."""
        statement = update(EPISODE).where(_E.id == episode_id, _E.claimed_by == by).values(started_at=now())
        self._write(lambda connection: connection.execute(statement))

    def fail_episode(
        self,
        episode_id: int,
        *,
        stop_reason: str,
        error: str,
        error_class: ErrorClass = ErrorClass.MACHINE,
        by: str | None = None,
    ) -> bool:
        """Store the verdict `error` with the totals of the steps so far. False if `by` no longer holds the claim."""
        sums = ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "cost_usd", "env_ms", "model_ms")

        def work(connection: Connection) -> bool:
            counts = (func.count().label("steps"), func.count(STEP.c.cost_usd).label("priced"))
            totals = select(*counts, *(func.sum(STEP.c[name]).label(name) for name in sums))
            of_steps = dict(connection.execute(totals.where(STEP.c.episode_id == episode_id)).mappings().one())
            steps, priced = of_steps.pop("steps"), of_steps.pop("priced")
            sums_of_steps = {name: value for name, value in of_steps.items() if value is not None}
            if priced < steps:
                sums_of_steps["cost_usd"] = None  # one unknown price makes the sum unknown, not small
            values = {
                "verdict": Verdict.ERROR,
                "status": EpisodeStatus.DONE,
                "steps": max(steps - 1, 0),
                **sums_of_steps,
            }
            cause = {"stop_reason": stop_reason, "error": error, "error_class": error_class}
            values |= {"ended_at": now(), "claimed_by": "", **clean(cause)}
            tallies.forget_tally_of(connection, episode_id)
            conditions = [_E.id == episode_id, _E.verdict == "", *([] if by is None else [_E.claimed_by == by])]
            return bool(connection.execute(update(EPISODE).where(*conditions).values(values)).rowcount)

        return self._write(work)

    def spent_usd(self, run_id: int) -> float:
        """Return what a run has cost so far, unfinished episodes included; unknown prices count as 0."""
        cost_of_done = select(func.sum(COUNTER.c.cost_usd)).where(
            COUNTER.c.run_id == run_id, COUNTER.c.status == EpisodeStatus.DONE
        )
        running = select(_E.id).where(_E.run_id == run_id, _E.status == EpisodeStatus.RUNNING, OPEN)
        given_back = select(_E.id).where(_E.run_id == run_id, LEFT)
        cost_of_unfinished = select(func.sum(STEP.c.cost_usd)).where(
            STEP.c.episode_id.in_(union_all(running, given_back))
        )
        return self._write(
            lambda connection: float(
                (connection.scalar(cost_of_done) or 0.0) + (connection.scalar(cost_of_unfinished) or 0.0)
            ),
            write=False,
        )


def check_claim(connection: Connection, episode_id: int, by: str | None) -> None:
    """Raise ClaimLost unless `by` holds the claim, and lock it until the transaction ends. With None, do nothing."""
    if by is None:
        return
    if connection.scalar(_HOLDER, {"one": episode_id}) != by:
        raise ClaimLost(f"Another worker now plays episode {episode_id}.")


def claimed(by: str | BindParameter[str], at: datetime | BindParameter[datetime]) -> Row:
    """Return the columns of an episode's row that a claim of `by` changes."""
    started = func.coalesce(_E.started_at, at)
    return {"status": EpisodeStatus.RUNNING, "claimed_by": by, "alive_at": at, "started_at": started}


def _claim_next() -> ReturningUpdate[Any]:
    """Build the statement that claims the next episode. It is built only once, since no write is more frequent."""
    pending = (_E.run_id == bindparam("run"), _E.counted, _E.status == EpisodeStatus.PENDING, OPEN)
    is_allowed = _E.entrant_id.not_in(bindparam("without", expanding=True))
    first = select(_E.id).where(*pending, is_allowed).order_by(_E.id).limit(1).with_for_update(skip_locked=True)
    values = claimed(bindparam("by"), bindparam("at", type_=_E.alive_at.type))
    return update(EPISODE).where(_E.id == first.scalar_subquery()).values(values).returning(*CLAIMED)


_CLAIM_NEXT = _claim_next()
_HOLDER = select(_E.claimed_by).where(_E.id == bindparam("one")).with_for_update(read=True)


def as_claimed(row: Any, **changed: Any) -> ClaimedEpisode:
    """Return an episode's row in the form that workers get."""
    return cast("ClaimedEpisode", {column.name: row[column.name] for column in CLAIMED} | changed)


def _locked(connection: Connection, episode_id: int) -> Any:
    query: Select[Any] = select(EPISODE).where(_E.id == episode_id).with_for_update()
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise no_episode(episode_id)
    return row


def change(connection: Connection, episode_id: int, **values: Any) -> None:
    """Change columns of an episode."""
    connection.execute(update(EPISODE).where(_E.id == episode_id).values(values))


def retry_within(
    connection: Connection, episode_id: int, by: str = "", *, afresh: bool = False
) -> ClaimedEpisode | None:
    """Do what `Claims.retry_episode` does, within a transaction."""
    row = _locked(connection, episode_id)
    if not row["counted"] or row["verdict"] != Verdict.ERROR:
        return None
    tallies.forget_tally_of(connection, episode_id)
    state: Row = {"status": EpisodeStatus.PENDING, "claimed_by": ""}
    if by:
        status = EpisodeStatus.RUNNING
        state = {"status": status, "claimed_by": by, "alive_at": now(), "started_at": now()}
    steps = connection.scalar(select(func.count()).where(STEP.c.episode_id == episode_id))
    if steps and steps > 1 and not afresh:
        cleared = {"verdict": "", "stop_reason": "", "error": "", "error_class": "", "ended_at": None}
        cleared |= {"interruptions": row["interruptions"] + 1}
        change(connection, episode_id, **cleared, **state)
        return as_claimed(row, interruptions=row["interruptions"] + 1)
    change(connection, episode_id, counted=False)
    key = {name: row[name] for name in ("run_id", "task_id", "entrant_id", "attempt", "sandbox")}
    following = Episode(**key, try_number=row["try_number"] + 1, created_at=now())
    values = {**following.model_dump(exclude={"id"}), **state}
    new = new_id(connection.execute(insert(EPISODE).values(values)))
    return as_claimed({**values, "id": new})
