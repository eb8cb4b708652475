"""Circuit breakers for endpoints that do not answer, kept in the run's row for all its workers.

While an endpoint is out, workers claim only one episode of its entrants at a time: the probe, which asks the endpoint
again. A compare and swap on the number of probes, not a comparison of clocks, decides which worker probes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, select, update

from stackrank.db.connection.transactions import EPISODE, OPEN, RUN, Transactions, clean
from stackrank.db.queries.runs import Outage
from stackrank.db.writes.claims import CLAIMED, ClaimedEpisode, as_claimed, change, claimed
from stackrank.host.wall_clock import now
from stackrank.terms import EpisodeStatus

_E = EPISODE.c


class Outages(Transactions):
    """Writes outages of endpoints, for workers."""

    def open_outage(self, run_id: int, endpoint: str, entrants: Collection[int], error: str) -> None:
        """Record that an endpoint does not answer: these entrants wait. An open outage gets the new error."""

        def work(connection: Connection) -> None:
            outages = _locked(connection, run_id)
            outage = outages.get(endpoint) or Outage(since=now().isoformat(), probes=0, probe=0, entrants=[], error="")
            waiting = sorted({*outage["entrants"], *entrants})
            _store(connection, run_id, {**outages, endpoint: {**outage, "entrants": waiting, "error": error}})

        self._write(work)

    def end_outage(self, run_id: int, endpoint: str) -> bool:
        """Record that an endpoint answers again. False if it was not out."""

        def work(connection: Connection) -> bool:
            outages = _locked(connection, run_id)
            was_out = outages.pop(endpoint, None) is not None
            if was_out:
                _store(connection, run_id, outages)
            return was_out

        return self._write(work)

    def claim_probe(self, run_id: int, endpoint: str, by: str, *, probes: int) -> ClaimedEpisode | None:
        """Claim the episode that asks an endpoint again; None if another worker does so, or if no episode waits for it.

        `probes`: how many there were so far. Successive probes use different episodes if there are several, so that one
        that the endpoint cannot answer does not keep the others waiting.
        """

        def work(connection: Connection) -> ClaimedEpisode | None:
            outages = _locked(connection, run_id)
            outage = outages.get(endpoint)
            if outage is None or outage["probes"] != probes or _is_played(connection, outage["probe"]):
                return None
            row = None
            for following in ((_E.id > outage["probe"],), ()):
                query = select(*CLAIMED).where(*_waiting(run_id, outage["entrants"]), *following)
                query = query.order_by(_E.id).limit(1).with_for_update(skip_locked=True)
                row = row or connection.execute(query).mappings().one_or_none()
            if row is None:
                return None
            change(connection, row["id"], **claimed(by, now()))
            _store(connection, run_id, {**outages, endpoint: {**outage, "probes": probes + 1, "probe": row["id"]}})
            return as_claimed(row)

        return self._write(work)

    def postpone(self, episode_id: int, by: str) -> bool:
        """Give back an episode whose endpoint does not answer; a worker continues it later from where it stopped.

        A failed probe adds no further interruption, so that a long outage does not make the episode look suspicious.
        False if `by` does not hold the claim.
        """

        def work(connection: Connection) -> bool:
            query = select(RUN.c.outages).join(EPISODE, _E.run_id == RUN.c.id).where(_E.id == episode_id)
            probes = [outage["probe"] for outage in (connection.scalar(query) or {}).values()]
            interruptions = case((_E.interruptions == 0, 1), else_=0) if episode_id in probes else 1
            values = {
                "status": EpisodeStatus.PENDING,
                "claimed_by": "",
                "interruptions": _E.interruptions + interruptions,
            }
            conditions = (_E.id == episode_id, _E.status == EpisodeStatus.RUNNING, _E.claimed_by == by)
            return bool(connection.execute(update(EPISODE).where(*conditions).values(values)).rowcount)

        return self._write(work)

    def count_waiting(self, run_id: int, entrants: Collection[int], *, limit: int | None = None) -> int:
        """Count the waiting episodes of these entrants, up to `most`."""
        waiting = select(_E.id).where(*_waiting(run_id, entrants)).limit(limit).subquery()
        query = select(func.count()).select_from(waiting)
        return int(self._write(lambda connection: connection.scalar(query), write=False) or 0)


def _waiting(run_id: int, entrants: Iterable[int]) -> tuple[ColumnElement[bool], ...]:
    pending = (_E.run_id == run_id, _E.counted, _E.status == EpisodeStatus.PENDING, OPEN)
    return (*pending, _E.entrant_id.in_(list(entrants)))


def _is_played(connection: Connection, episode_id: int) -> bool:
    return connection.scalar(select(_E.status).where(_E.id == episode_id)) == EpisodeStatus.RUNNING


def _locked(connection: Connection, run_id: int) -> dict[str, Any]:
    return dict(
        connection.scalar(select(RUN.c.outages).where(RUN.c.id == run_id).with_for_update(key_share=True)) or {}
    )


def _store(connection: Connection, run_id: int, outages: dict[str, Any]) -> None:
    connection.execute(update(RUN).where(RUN.c.id == run_id).values(clean({"outages": outages or None})))
