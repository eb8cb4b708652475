"""Write what operators do to runs, each with who, when and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from stackrank.db.connection.errors import NotFound
from stackrank.db.connection.transactions import ACT, EPISODE, RUN, clean
from stackrank.db.writes.claims import retry_within
from stackrank.db.writes.store import Store
from stackrank.errors import UsageError
from stackrank.host.wall_clock import now
from stackrank.terms import ActKind, EpisodeStatus, RunStatus, Verdict


class Acts(Store):
    """Changes runs as an operator decides; the change and its record are one transaction. Raises as `Store` does."""

    def pause(self, run_id: int, *, person: str, why: str = "") -> bool:
        """Let no more episodes of a run start. False if it is paused. Raises UsageError if the run is over."""
        return self._set_paused(run_id, True, person, why)

    def unpause(self, run_id: int, *, person: str, why: str = "") -> bool:
        """Let episodes of a run start again. False if it is not paused."""
        return self._set_paused(run_id, False, person, why)

    def tune(self, run_id: int, changes: Mapping[str, Any], *, person: str, why: str = "") -> dict[str, list[Any]]:
        """Change fields of a run's specification, and return {field: [old value, new value]} of those that differ."""

        def work(connection: Connection) -> dict[str, list[Any]]:
            stored = connection.scalar(select(RUN.c.spec).where(RUN.c.id == run_id).with_for_update(key_share=True))
            spec = dict(stored or {})
            differing = {name: [spec.get(name), value] for name, value in changes.items() if spec.get(name) != value}
            if differing:
                self._update(connection, RUN, run_id, clean({"spec": {**spec, **changes}}))
                _record(connection, run_id, ActKind.SET, differing, person, why)
            return differing

        return self._write(work)

    def retry(self, episode_id: int, *, person: str, why: str = "") -> int:
        """Give an episode that ended in an error another try, and return the number of its run.

        Raises NotFound, and UsageError for an episode without an error: choosing among results would be wrong.
        """
        query = select(EPISODE.c.run_id, EPISODE.c.status, EPISODE.c.verdict, EPISODE.c.counted)

        def work(connection: Connection) -> int:
            row = connection.execute(query.where(EPISODE.c.id == episode_id).with_for_update()).one_or_none()
            if row is None:
                raise NotFound(f"There is no episode {episode_id}: `stackrank episodes RUN` lists them.")
            if row.status != EpisodeStatus.DONE:
                raise UsageError(f"episode {episode_id} is {row.status}: only an episode that ended can be retried")
            if row.verdict != Verdict.ERROR:
                raise UsageError(
                    f"episode {episode_id} is {row.verdict}: another try would choose among results; play the task "
                    "again in a run of its own"
                )
            if not row.counted:
                raise UsageError(f"episode {episode_id} is an earlier try, and another one has taken its place")
            retry_within(connection, episode_id)
            _record(connection, row.run_id, ActKind.RETRY, {"episode": episode_id}, person, why)
            return int(row.run_id)

        return self._write(work)

    def _set_paused(self, run_id: int, is_paused: bool, person: str, why: str) -> bool:
        query = select(RUN.c.status, RUN.c.paused, RUN.c.name).where(RUN.c.id == run_id).with_for_update(key_share=True)

        def work(connection: Connection) -> bool:
            row = connection.execute(query).one()
            if is_paused and RunStatus(row.status).ended:
                raise UsageError(f"run {run_id} ({row.name}) is {row.status}: only a run in progress can be paused")
            if row.paused == is_paused:
                return False
            self._update(connection, RUN, run_id, {"paused": is_paused})
            _record(connection, run_id, ActKind.PAUSE if is_paused else ActKind.RESUME, {}, person, why)
            return True

        return self._write(work)


def _record(
    connection: Connection, run_id: int, kind: ActKind, change: Mapping[str, Any], person: str, why: str
) -> None:
    row = {"run_id": run_id, "kind": kind, "change": dict(change), "person": person, "why": why, "created_at": now()}
    connection.execute(insert(ACT).values(clean(row)))
