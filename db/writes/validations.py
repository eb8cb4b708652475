"""Records which tasks are sound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, select, update

from stackrank.db.connection.errors import NotFound
from stackrank.db.connection.transactions import BENCHMARK, TASK, Transactions, clean
from stackrank.host.wall_clock import now

_COVERED = ("tests_deciding", "tests_covered")
RESULT = ("valid", "invalid_reason", "validated_rounds", "validated_at", *_COVERED)


class Validations(Transactions):
    """The part of `db.writes.store.Store` that records validations."""

    def save_validation(
        self,
        benchmark_id: int,
        results: Mapping[str, tuple[bool | None, str]],
        *,
        rounds: int = 0,
        covered: tuple[int | None, int | None] = (None, None),
    ) -> None:
        """Store whether tasks are sound: task name -> (valid, reason). `valid` is None if no fix is known to check it.

        `rounds`: how many rounds were played in a row. `covered`: how many test functions decide, and how many of them
        have an expectation that verdicts contradict. Tasks that are not named stay as they are.
        """

        def work(connection: Connection) -> None:
            for name, (valid, reason) in results.items():
                conditions = (TASK.c.benchmark_id == benchmark_id, TASK.c.name == name)
                values = {"valid": valid, "invalid_reason": reason, "validated_rounds": rounds, "validated_at": now()}
                values |= dict(zip(_COVERED, covered, strict=True))
                if connection.execute(update(TASK).where(*conditions).values(clean(values))).rowcount == 0:
                    raise NotFound(f"Benchmark {benchmark_id} has no task {name!r}: save the benchmark first.")
            self._count_valid(connection, benchmark_id)

        self._write(work)

    def save_audit(self, benchmark_id: int, task: str, audit: Mapping[str, Any]) -> None:
        """Store which wrong changes pass a task's tests."""

        def work(connection: Connection) -> None:
            conditions = (TASK.c.benchmark_id == benchmark_id, TASK.c.name == task)
            if connection.execute(update(TASK).where(*conditions).values(clean({"audit": dict(audit)}))).rowcount == 0:
                raise NotFound(f"Benchmark {benchmark_id} has no task {task!r}: save the benchmark first.")

        self._write(work)

    def _carry_over(self, connection: Connection, benchmark: str, benchmark_id: int) -> None:
        """Copy the validation of each task that has not changed since an earlier version of its benchmark."""
        new = select(TASK.c.id, TASK.c.name, TASK.c.digest).where(
            TASK.c.benchmark_id == benchmark_id, TASK.c.validated_at.is_(None), TASK.c.digest != ""
        )
        task_ids = {(row.name, row.digest): row.id for row in connection.execute(new)}
        if not task_ids:
            return
        old = (
            select(TASK.c.name, TASK.c.digest, *(TASK.c[column] for column in RESULT))
            .join(BENCHMARK)
            .where(BENCHMARK.c.name == benchmark, TASK.c.validated_at.is_not(None))
            .order_by(TASK.c.validated_at)
        )
        validations = {key: row for row in connection.execute(old) if (key := (row.name, row.digest)) in task_ids}
        for key, row in validations.items():
            self._update(connection, TASK, task_ids[key], {column: getattr(row, column) for column in RESULT})
        if validations:
            self._count_valid(connection, benchmark_id)

    def _count_valid(self, connection: Connection, benchmark_id: int) -> None:
        in_benchmark = TASK.c.benchmark_id == benchmark_id
        valid = connection.scalar(select(func.count()).where(in_benchmark, TASK.c.valid.is_(True)))
        last = connection.scalar(select(func.max(TASK.c.validated_at)).where(in_benchmark))
        self._update(connection, BENCHMARK, benchmark_id, {"validated_at": last, "tasks_valid": valid})
