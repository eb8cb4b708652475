"""The tables of verdicts, and of the changes that they are about."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, text
from sqlmodel import Field, SQLModel

from stackrank.db.models.columns import Count, counts, json, key, long_text, ref, when


class Change(SQLModel, table=True):
    """The complete change that an episode made to its workspace, as bytes, so that it can be scored again."""

    # The digest of the content: equal changes are stored once.
    digest: str = Field(primary_key=True)
    content: bytes


class VerdictRecord(SQLModel, table=True):
    """One verdict on one episode's work. Rows are appended, never changed.

    The verdict of record, which boards count, was given when the episode was played; the episode's row has it too. The
    others come from scoring the same change again.
    """

    __tablename__ = "verdicts"
    __table_args__ = (
        Index(
            "ix_verdicts_of_record",
            "episode_id",
            unique=True,
            sqlite_where=text("of_record"),
            postgresql_where=text("of_record"),
        ),
        Index(
            "ix_verdicts_again",
            "episode_id",
            "scorer",
            "task_digest",
            "environment",
            unique=True,
            sqlite_where=text("NOT of_record"),
            postgresql_where=text("NOT of_record"),
        ),
        counts("sealed"),
    )

    id: int | None = key()
    episode_id: int = ref("episode.id", index=True)
    of_record: bool
    # Digests of what decided the verdict: the task with its tests, its workspace alone, the change (empty if there was
    # none, or none that could be kept whole), the scorer, and where the tests ran.
    task_digest: str
    workspace: str
    change: str
    scorer: str
    environment: str
    resolved: bool
    tampered: bool
    # How strongly the verdict is sealed, in bits, or why it is not sealed.
    sealed: int
    unsealed: str = long_text()
    # {fault: whether it is mended}; empty for a task with one fault.
    faults: dict[str, bool] = json()
    # {test id: outcome}
    tests: dict[str, str] = json()
    notes: list[str] = json(list)
    created_at: datetime | None = when()


class FaultVerdict(SQLModel, table=True):
    """The verdict of record on one fault of an episode whose task has several."""

    __tablename__ = "fault_verdict"
    __table_args__ = (counts("sealed", "step", "tokens"), {"sqlite_with_rowid": False})

    episode_id: int = ref("episode.id", primary_key=True)
    name: str = Field(primary_key=True)
    mended: bool
    # How strongly it is sealed that it is mended, in bits, or why it is not sealed.
    sealed: int = 0
    unsealed: str = long_text()
    # The last step that changed the fault's files, and what had been used by then. None: it is not mended.
    step: int | None = None
    tokens: int | None = Field(default=None, sa_type=Count)
    # None: not mended, or a price is unknown.
    cost_usd: float | None = None
