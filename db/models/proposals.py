"""The tables of proposed fixes and of what people decided about them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, text
from sqlmodel import Field, SQLModel

from stackrank.db.models.columns import json, key, long_text, one_of, ref, when
from stackrank.terms import DecisionKind


class Proposal(SQLModel, table=True):
    """A change that an entrant made to a repository, with its evidence. Only `replaced_by` and `folder` ever change."""

    id: int | None = key()
    run_id: int = ref("run.id", index=True)
    entrant_id: int = ref("entrant.id")
    # The first of the episodes that made this change.
    episode_id: int = ref("episode.id", index=True)
    # Where the repository is, the commit that the change is for, and the folder that gets the patches.
    repository: str = Field(index=True)
    base: str
    folder: str = ""
    # The task's name and title.
    problem: str
    title: str = ""
    # Tests that fail without the change and have to pass with it.
    tests: list[str] = json(list)
    # The digest of the commit and of both diffs, which a decision refers to.
    digest: str
    diff: str = long_text()
    # A diff that adds the test that stands for an issue; empty if the repository has the test.
    test_diff: str = long_text()
    evidence: dict[str, Any] = json()
    # What speaks against the change, one sentence each; the queue lists changes with the fewest first.
    doubts: list[str] = json(list)
    # The proposal that replaced this one before anybody decided.
    replaced_by: int | None = ref("proposal.id", default=None)
    created_at: datetime | None = when()


class Decision(SQLModel, table=True):
    """A decision or comment on a proposal. Rows are appended, never changed; each has a seal over its other columns."""

    __table_args__ = (
        one_of("kind", DecisionKind),
        # At most one decision for each proposal; comments do not count.
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
    # The digest of the change that was looked at.
    digest: str
    kind: str
    reason: str = long_text()
    person: str = ""
    # A keyed hash of the columns above and of the evidence that was shown: see `db.decision_seal`.
    seal: str = ""
    created_at: datetime | None = when()
