"""The tables of proposed fixes and of what people decided about them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, text
from sqlmodel import Field, SQLModel

from stackrank.db.columns import json, key, long_text, one_of, ref, when
from stackrank.terms import DecisionKind


class Proposal(SQLModel, table=True):
    """A change that an entrant made to a repository, with the evidence for it. All but `replaced_by` never changes."""

    id: int | None = key()
    run_id: int = ref("run.id", index=True)
    entrant_id: int = ref("entrant.id")
    # The first of the episodes that came to this change.
    episode_id: int = ref("episode.id", index=True)
    # Where the repository is, the commit that the change is for, and the folder that gets the patches.
    repository: str = Field(index=True)
    base: str
    folder: str = ""
    # The task's name, and what it is called.
    problem: str
    title: str = ""
    # Tests that fail without the change and have to pass with it.
    tests: list[str] = json(list)
    # Of the commit and of both diffs: what a decision is about.
    digest: str
    diff: str = long_text()
    # Adds the test that stands for an issue; empty where the repository has the test.
    test_diff: str = long_text()
    evidence: dict[str, Any] = json()
    # How sure it is; the queue has the surest first.
    surety: float = 0.0
    # The proposal that took its place before anybody decided.
    replaced_by: int | None = ref("proposal.id", default=None)
    created_at: datetime | None = when()


class Decision(SQLModel, table=True):
    """What somebody said of a proposal. Rows are appended, never changed, and each carries a seal over the others."""

    __table_args__ = (
        one_of("kind", DecisionKind),
        # One decision for each proposal, whoever comes second; comments do not count.
        Index(
            "ix_decision_final",
            "proposal_id",
            unique=True,
            sqlite_where=text("kind <> 'comment'"),
            postgresql_where=text("kind <> 'comment'"),
        ),
    )

    id: int | None = key()
    run_id: int = ref("run.id", index=True)
    proposal_id: int = ref("proposal.id", index=True)
    # Of the change that was looked at.
    digest: str
    kind: str
    reason: str = long_text()
    person: str = ""
    # A keyed hash of all that and of the evidence that was shown: see `db.proposals`.
    seal: str = ""
    created_at: datetime | None = when()
