"""Tables derived from episodes and their steps, kept so that no page has to add those up."""

from __future__ import annotations

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel

from stackrank.db.models.columns import KEY, Count, counts, ref


class Tally(SQLModel, table=True):
    """The sums over the episodes of a run that is over, packed by `db.totals.tallies`."""

    run_id: int = ref("run.id", primary_key=True, sa_column_kwargs={"autoincrement": False})
    content: bytes


class Counter(SQLModel, table=True):
    """Sums over the episodes of a run with equal status, verdict and so on. Triggers update them with every episode.

    A sum may be spread over several rows, the slots, which `db.totals.counters` adds up. There are no foreign keys,
    because they would make writers of episodes wait for writers of runs.
    """

    run_id: int = Field(primary_key=True, sa_type=KEY, sa_column_kwargs={"autoincrement": False})
    entrant_id: int = Field(primary_key=True, sa_type=KEY, sa_column_kwargs={"autoincrement": False})
    slot: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    counted: bool = Field(primary_key=True)
    status: str = Field(primary_key=True)
    verdict: str = Field(primary_key=True)
    error_class: str = Field(primary_key=True)
    # The beginning of the error, up to a colon.
    cause: str = Field(primary_key=True)
    episodes: int = Field(sa_type=BigInteger)
    sealed: int = Field(sa_type=BigInteger)
    unverified: int = Field(sa_type=BigInteger)
    # Episodes with a known price.
    priced: int = Field(sa_type=BigInteger)
    cost_usd: float
    wall_s: float
    tokens_in: int = Field(sa_type=BigInteger)
    tokens_out: int = Field(sa_type=BigInteger)
    # Episodes that took at most this many seconds.
    within_1: int = Field(sa_type=BigInteger)
    within_5: int = Field(sa_type=BigInteger)
    within_15: int = Field(sa_type=BigInteger)
    within_60: int = Field(sa_type=BigInteger)
    within_300: int = Field(sa_type=BigInteger)
    within_900: int = Field(sa_type=BigInteger)
    within_1800: int = Field(sa_type=BigInteger)
    within_3600: int = Field(sa_type=BigInteger)


class EpisodeTool(SQLModel, table=True):
    """A tool that an episode used. Written with the first step that uses it, to find episodes by tool."""

    __tablename__ = "episode_tool"
    __table_args__ = ({"sqlite_with_rowid": False},)

    tool: str = Field(primary_key=True)
    episode_id: int = ref("episode.id", primary_key=True, index=True)


class ToolUse(SQLModel, table=True):
    """How a resolved or unresolved episode used one tool. Written with the verdict, so that no page adds up steps.

    The phases are those of a debugging session: `searching` until the fault was first seen, `diagnosing` from then to
    the first edit there, `repairing` from that edit on; the three add up to `calls`.
    """

    __table_args__ = (
        # Covers the query for a leaderboard's tools, in the order of its groups.
        Index(
            "ix_tooluse_totals",
            "run_id",
            "entrant_id",
            "tool",
            "task_id",
            "calls",
            "searching",
            "diagnosing",
            "repairing",
            "failed",
            "env_ms",
            "tokens_in",
            "tokens_out",
            "cost_usd",
        ),
        counts("calls", "searching", "diagnosing", "repairing", "failed", "tokens_in", "tokens_out"),
    )

    episode_id: int = ref("episode.id", primary_key=True)
    tool: str = Field(primary_key=True)
    run_id: int = ref("run.id")
    entrant_id: int = ref("entrant.id")
    task_id: int = ref("task.id")
    calls: int = 0
    searching: int = 0
    diagnosing: int = 0
    repairing: int = 0
    # Calls that came back with `ok` false.
    failed: int = 0
    env_ms: float = 0.0
    tokens_in: int = Field(default=0, sa_type=Count)
    tokens_out: int = Field(default=0, sa_type=Count)
    # None: a price is unknown.
    cost_usd: float | None = None
