"""Who plays which episode. A claim is what makes "exactly once" true, whoever dies, is cut off, or comes back.

An episode is pending, or running and claimed by one worker, or done. A claim is taken and taken over by compare and
swap; whatever a worker writes is refused once its claim is gone. Times are never compared between machines: whether a
worker is silent is found by watching (`flows.claims`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select, update

from db.columns import now
from db.errors import ClaimLost, NotFound
from db.models import Episode, EpisodeStatus, Verdict
from db.transactions import EPISODE, STEP, Transactions, clean, new_id

_E = EPISODE.c
_CLAIMED = (_E.id, _E.task_id, _E.entrant_id, _E.attempt, _E.try_number, _E.interruptions)
Row = dict[str, Any]


class Claims(Transactions):
    """What workers write about who plays what. A claimed row has id, task_id, entrant_id, attempt, try_number,
    interruptions; with interruptions it has steps already."""

    def claim_next(self, run_id: int, by: str) -> Row | None:
        """Claim the first pending episode of a run; None when there is none."""

        def work(connection: Connection) -> Row | None:
            pending = (_E.run_id == run_id, _E.counted, _E.status == EpisodeStatus.PENDING)
            query = select(*_CLAIMED).where(*pending).order_by(_E.id).limit(1)
            row = connection.execute(query.with_for_update(skip_locked=True)).mappings().one_or_none()
            if row is not None:
                _change(connection, row["id"], **_claimed(by))
            return None if row is None else dict(row)

        return self._write(work)

    def claims(self, run_id: int) -> list[Row]:
        """The running episodes of a run: id, claimed_by, alive_at."""
        query = select(_E.id, _E.claimed_by, _E.alive_at)
        query = query.where(_E.run_id == run_id, _E.counted, _E.status == EpisodeStatus.RUNNING).order_by(_E.id)
        return self._write(lambda connection: [dict(row) for row in connection.execute(query).mappings()], write=False)

    def take_over(self, episode_id: int, by: str, *, seen: Row) -> Row | None:
        """Claim an episode whose worker is gone, if it still stands as in `seen` (a row of `claims`); else None."""

        def work(connection: Connection) -> Row | None:
            row = _locked(connection, episode_id)
            if row["status"] != EpisodeStatus.RUNNING or any(
                row[key] != seen[key] for key in ("claimed_by", "alive_at")
            ):
                return None
            _change(connection, episode_id, **_claimed(by), interruptions=row["interruptions"] + 1)
            return {key.name: row[key.name] for key in _CLAIMED} | {"interruptions": row["interruptions"] + 1}

        return self._write(work)

    def free(self, episode_id: int, *, seen: Row) -> bool:
        """Make an episode whose worker is gone pending, if it still stands as in `seen`: whoever is next goes on."""
        values = {"status": EpisodeStatus.PENDING, "claimed_by": "", "interruptions": _E.interruptions + 1}
        as_seen = (_E.claimed_by == seen["claimed_by"], _E.alive_at == seen["alive_at"])
        where = (_E.id == episode_id, _E.status == EpisodeStatus.RUNNING, *as_seen)
        statement = update(EPISODE).where(*where).values(values)
        return bool(self._write(lambda connection: connection.execute(statement).rowcount))

    def hand_over(self, episode_id: int, giver: str, taker: str) -> bool:
        """Give a claim to another worker; False when it was not `giver`'s."""
        values = {"claimed_by": taker, "alive_at": now()}
        where = (_E.id == episode_id, _E.status == EpisodeStatus.RUNNING, _E.claimed_by == giver)
        statement = update(EPISODE).where(*where).values(values)
        return bool(self._write(lambda connection: connection.execute(statement).rowcount))

    def keep_claims(self, episode_ids: Collection[int], by: str) -> None:
        """Say that `by` lives and still plays these episodes."""
        if episode_ids:
            where = (_E.id.in_(list(episode_ids)), _E.claimed_by == by)
            statement = update(EPISODE).where(*where).values(alive_at=now())
            self._write(lambda connection: connection.execute(statement))

    def release(self, episode_id: int, by: str) -> None:
        """Give an episode back in the middle: somebody else continues it. Nothing happens if it was not `by`'s."""
        values = {"status": EpisodeStatus.PENDING, "claimed_by": "", "interruptions": _E.interruptions + 1}
        where = (_E.id == episode_id, _E.status == EpisodeStatus.RUNNING, _E.claimed_by == by)
        statement = update(EPISODE).where(*where).values(values)
        self._write(lambda connection: connection.execute(statement))

    def try_again(self, episode_id: int, by: str = "", *, afresh: bool = False) -> Row | None:
        """Claim an episode that ended in `error`, or make it pending where `by` is empty. None: it counts no more.

        One that had got going is continued: nothing of what was paid for is lost. One that had not, or with `afresh`,
        stays as it is, uncounted, and a new try takes its place.
        """

        def work(connection: Connection) -> Row | None:
            row = _locked(connection, episode_id)
            if not row["counted"] or row["verdict"] != Verdict.ERROR:
                return None
            state: Row = {"status": EpisodeStatus.PENDING, "claimed_by": ""}
            if by:
                status = EpisodeStatus.RUNNING
                state = {"status": status, "claimed_by": by, "alive_at": now(), "started_at": now()}
            steps = connection.scalar(select(func.count()).where(STEP.c.episode_id == episode_id))
            if steps and steps > 1 and not afresh:
                again = {"verdict": "", "stop_reason": "", "error": "", "ended_at": None}
                again |= {"interruptions": row["interruptions"] + 1}
                _change(connection, episode_id, **again, **state)
                return {key.name: row[key.name] for key in _CLAIMED} | {"interruptions": row["interruptions"] + 1}
            _change(connection, episode_id, counted=False)
            same = {name: row[name] for name in ("run_id", "task_id", "entrant_id", "attempt", "sandbox")}
            following = Episode(**same, try_number=row["try_number"] + 1, created_at=now())
            values = {**following.model_dump(exclude={"id"}), **state}
            new = new_id(connection.execute(insert(EPISODE).values(values)))
            return {key.name: values.get(key.name) for key in _CLAIMED} | {"id": new}

        return self._write(work)

    def begin(self, episode_id: int, by: str) -> None:
        """An episode that `by` claimed earlier is played from now on."""
        statement = update(EPISODE).where(_E.id == episode_id, _E.claimed_by == by).values(started_at=now())
        self._write(lambda connection: connection.execute(statement))

    def fail_episode(self, episode_id: int, *, stop_reason: str, error: str, by: str | None = None) -> bool:
        """The verdict `error`, with the totals of the steps so far. False when the claim is not `by`'s any more."""
        sums = ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning", "cost_usd", "env_ms", "model_ms")

        def work(connection: Connection) -> bool:
            counts = (func.count().label("steps"), func.count(STEP.c.cost_usd).label("priced"))
            totals = select(*counts, *(func.sum(STEP.c[name]).label(name) for name in sums))
            of_steps = dict(connection.execute(totals.where(STEP.c.episode_id == episode_id)).mappings().one())
            steps, priced = of_steps.pop("steps"), of_steps.pop("priced")
            known = {name: value for name, value in of_steps.items() if value is not None}
            if priced < steps:
                known["cost_usd"] = None  # one unknown price makes the sum unknown, not small
            values = {"verdict": Verdict.ERROR, "status": EpisodeStatus.DONE, "steps": max(steps - 1, 0), **known}
            values |= {"ended_at": now(), "claimed_by": ""} | clean({"stop_reason": stop_reason, "error": error})
            where = [_E.id == episode_id, _E.verdict == "", *([] if by is None else [_E.claimed_by == by])]
            return bool(connection.execute(update(EPISODE).where(*where).values(values)).rowcount)

        return self._write(work)

    def spent_usd(self, run_id: int) -> float:
        """What a run has cost so far, the episodes that are going on included; unknown prices count nothing."""
        done = select(func.sum(_E.cost_usd)).where(_E.run_id == run_id, _E.status == EpisodeStatus.DONE)
        going = (
            select(func.sum(STEP.c.cost_usd))
            .join(EPISODE, _E.id == STEP.c.episode_id)
            .where(_E.run_id == run_id, _E.status != EpisodeStatus.DONE)
        )
        return self._write(
            lambda connection: float((connection.scalar(done) or 0.0) + (connection.scalar(going) or 0.0)), write=False
        )


def check_claim(connection: Connection, episode_id: int, by: str | None) -> None:
    """Raise ClaimLost if the episode is not `by`'s, and keep it so until the transaction ends. None: whoever asks."""
    if by is None:
        return
    query = select(_E.claimed_by).where(_E.id == episode_id)
    if connection.scalar(query.with_for_update(read=True)) != by:
        raise ClaimLost(f"Episode {episode_id} is played by somebody else now.")


def _claimed(by: str) -> Row:
    started = func.coalesce(_E.started_at, now())
    return {"status": EpisodeStatus.RUNNING, "claimed_by": by, "alive_at": now(), "started_at": started}


def _locked(connection: Connection, episode_id: int) -> Any:
    query: Select[Any] = select(EPISODE).where(_E.id == episode_id).with_for_update()
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise NotFound(f"There is no episode {episode_id}: `stackrank episodes RUN` lists them.")
    return row


def _change(connection: Connection, episode_id: int, **values: Any) -> None:
    connection.execute(update(EPISODE).where(_E.id == episode_id).values(values))
