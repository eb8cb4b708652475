"""How a run starts, continues and ends. Every change of its status is one compare and swap, so that a cancel wins."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict, cast

from sqlalchemy import Connection, and_, case, func, or_, select, update

from stackrank.db.connection.transactions import EPISODE, RUN, Transactions, clean
from stackrank.db.queries.reading import Json
from stackrank.db.queries.runs import RunSummary
from stackrank.db.totals import tallies
from stackrank.host.wall_clock import moment_ago, now
from stackrank.terms import EpisodeStatus, ErrorClass, RunStatus, Verdict

_IN_PROGRESS = RUN.c.status.in_([RunStatus.PENDING, RunStatus.RUNNING])
_LAST_SIGN = func.coalesce(RUN.c.heartbeat_at, RUN.c.started_at, RUN.c.created_at)
"""The last sign of life of a run's owner."""
_RESUMABLE = (RunStatus.FINISHED, RunStatus.FAILED)
"""The statuses that a supervisor may resume a run from. Cancelled is not one of them: that was somebody's decision."""


class InterruptedRun(TypedDict):
    """A run that is going on, or should be."""

    id: int
    name: str
    host: str
    schedule: str
    prefect_flow_run_id: str
    heartbeat_at: datetime | None
    spec: Json


class EndedRun(TypedDict):
    """A run that ended; `auto_resumes`: how often a supervisor has resumed it."""

    id: int
    schedule: str
    ended_at: datetime
    auto_resumes: int
    spec: Json


class RunLife(Transactions):
    """Writes the status of runs."""

    def reopen_run(self, run: RunSummary) -> bool:
        """Make a cancelled run pending. False if it is not cancelled, or was cancelled again since `run` was read."""
        ended_at = datetime.fromisoformat(run["ended_at"]) if run["ended_at"] else None

        def work(connection: Connection) -> bool:
            is_unchanged = (RUN.c.status == RunStatus.CANCELLED, RUN.c.ended_at.is_not_distinct_from(ended_at))
            statement = update(RUN).where(RUN.c.id == run["id"], *is_unchanged).values(status=RunStatus.PENDING)
            reopened = bool(connection.execute(statement).rowcount)
            if reopened:
                tallies.forget(connection, [run["id"]])
            return reopened

        return self._write(work)

    def start_run(self, run_id: int, *, prefect_flow_run_id: str = "") -> bool:
        """Mark a run as running, whether new or resumed; its first start time stays. False if it is cancelled."""

        def work(connection: Connection) -> bool:
            started = func.coalesce(RUN.c.started_at, now())
            flow_run_id = RUN.c.prefect_flow_run_id  # the first id stays: a retry of that flow run finds its run by it
            values = {
                "status": RunStatus.RUNNING,
                "reason": "",
                "outages": None,
                "started_at": started,
                "ended_at": None,
                "prefect_flow_run_id": case((flow_run_id == "", prefect_flow_run_id), else_=flow_run_id),
                "heartbeat_at": now(),
            }
            conditions = (RUN.c.id == run_id, RUN.c.status != RunStatus.CANCELLED)
            if connection.execute(update(RUN).where(*conditions).values(values)).rowcount == 0:
                self._update(connection, RUN, run_id, {"heartbeat_at": now()})
                return False
            tallies.forget(connection, [run_id])
            return True

        return self._write(work)

    def heartbeat(self, run_id: int) -> RunStatus:
        """Record that the run's owner is alive, and return the run's status: it may have been cancelled meanwhile."""

        def work(connection: Connection) -> RunStatus:
            self._update(connection, RUN, run_id, {"heartbeat_at": now()})
            return RunStatus(connection.execute(select(RUN.c.status).where(RUN.c.id == run_id)).scalar_one())

        return self._write(work)

    def cancel_run(self, run_id: int, reason: str) -> bool:
        """Cancel a run that is pending or running; its workers learn of it from `heartbeat`. False if it was over.

        A run that is already cancelled is cancelled again, because somebody may be about to reopen it.
        """

        def work(connection: Connection) -> bool:
            values = clean({"status": RunStatus.CANCELLED, "reason": reason, "ended_at": now()})
            if connection.execute(update(RUN).where(RUN.c.id == run_id, _IN_PROGRESS).values(values)).rowcount == 0:
                is_cancelled = (RUN.c.id == run_id, RUN.c.status == RunStatus.CANCELLED)
                connection.execute(update(RUN).where(*is_cancelled).values(ended_at=now()))
                return False
            tallies.keep(connection, run_id)
            return True

        return self._write(work)

    def end_run(self, run_id: int, status: str, reason: str = "") -> bool:
        """End the run as finished, cancelled or failed. False if it was over: it then stays as it was ended."""
        final_status = RunStatus(status)
        if final_status in (RunStatus.PENDING, RunStatus.RUNNING):
            raise ValueError(f"a run does not end as {status}: use finished, cancelled or failed")

        def work(connection: Connection) -> bool:
            values = clean({"status": final_status, "reason": reason, "ended_at": now()})
            conditions = (RUN.c.id == run_id, _IN_PROGRESS)
            changed = bool(connection.execute(update(RUN).where(*conditions).values(values)).rowcount)
            if not changed:
                self._update(connection, RUN, run_id, {"ended_at": func.coalesce(RUN.c.ended_at, now())})
            tallies.keep(connection, run_id)
            return changed

        return self._write(work)

    def settle_run(self, run_id: int) -> None:
        """Add up a run that is over and whose last episodes ended after the run did."""

        def work(connection: Connection) -> None:
            status = connection.scalar(select(RUN.c.status).where(RUN.c.id == run_id).with_for_update())
            if status not in (RunStatus.PENDING, RunStatus.RUNNING):
                tallies.keep(connection, run_id)

        self._write(work)

    def fail_start(self, run_id: int, reason: str, *, heartbeat_at: datetime | None) -> None:
        """End the run as failed, unless it is over or its last heartbeat is no longer the one at `heartbeat_at`."""

        def work(connection: Connection) -> None:
            silent = and_(RUN.c.status == RunStatus.RUNNING, RUN.c.heartbeat_at.is_not_distinct_from(heartbeat_at))
            conditions = (RUN.c.id == run_id, or_(RUN.c.status == RunStatus.PENDING, silent))
            values = clean({"status": RunStatus.FAILED, "reason": reason, "ended_at": now()})
            if connection.execute(update(RUN).where(*conditions).values(values)).rowcount:
                tallies.keep(connection, run_id)

        self._write(work)

    def interrupted_runs(self, older_than_s: float | None = None) -> list[InterruptedRun]:
        """Return runs that should be in progress, but whose owner was silent for more than `older_than_s` seconds.

        With None, return all that should be in progress. That includes a scheduled run that never started because
        Prefect did not answer.
        """
        columns = (RUN.c.id, RUN.c.name, RUN.c.host, RUN.c.schedule, RUN.c.prefect_flow_run_id)
        by_a_schedule = and_(RUN.c.schedule != "", RUN.c.prefect_flow_run_id != "")
        in_progress = (RUN.c.status == RunStatus.RUNNING, and_(RUN.c.status == RunStatus.PENDING, by_a_schedule))
        query = select(*columns, RUN.c.heartbeat_at, RUN.c.spec).where(or_(*in_progress))
        if older_than_s is not None:
            query = query.where(or_(_LAST_SIGN.is_(None), moment_ago(seconds=older_than_s) > _LAST_SIGN))
        rows = self._write(lambda connection: connection.execute(query).mappings().all(), write=False)
        return [cast("InterruptedRun", dict(row)) for row in rows]

    def ended_runs(self, within_s: float, *, auto_resumes: int) -> list[EndedRun]:
        """Return runs that finished or failed in the last `within_s` seconds, and were resumed less often than this."""
        columns = (RUN.c.id, RUN.c.schedule, RUN.c.ended_at, RUN.c.auto_resumes, RUN.c.spec)
        recent = RUN.c.ended_at > moment_ago(seconds=within_s)
        query = select(*columns).where(RUN.c.status.in_(_RESUMABLE), recent, RUN.c.auto_resumes < auto_resumes)
        rows = self._write(lambda connection: connection.execute(query).mappings().all(), write=False)
        return [cast("EndedRun", dict(row)) for row in rows]

    def claim_resume(self, run_id: int, *, times: int, limit: int) -> bool:
        """Return whether the caller resumes an ended run, which was resumed `times` times and may be `limit` times.

        False if somebody else resumes it, or if every episode has its verdict or an error that is permanent. In the
        latter case the run counts as resumed `limit` times, so that nobody asks again.
        """

        def work(connection: Connection) -> bool:
            lost = EPISODE.c.error_class.in_([ErrorClass.MACHINE, ErrorClass.ENDPOINT])
            is_unfinished = or_(
                EPISODE.c.status == EpisodeStatus.PENDING, and_(EPISODE.c.verdict == Verdict.ERROR, lost)
            )
            query = select(EPISODE.c.id).where(EPISODE.c.run_id == run_id, EPISODE.c.counted, is_unfinished).limit(1)
            has_work = connection.scalar(query) is not None
            conditions = (RUN.c.id == run_id, RUN.c.status.in_(_RESUMABLE), RUN.c.auto_resumes == times)
            values = {"auto_resumes": times + 1 if has_work else limit}
            return bool(connection.execute(update(RUN).where(*conditions).values(values)).rowcount) and has_work

        return self._write(work)
