"""The page of the dashboard on which people review proposed fixes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stackrank.dashboard.pages import Page

if TYPE_CHECKING:
    from sqlalchemy import Engine


def count_waiting(engine: Engine) -> str:
    """Return a sentence about the proposals without a decision; empty if there are none."""
    from stackrank.db import queries

    waiting = sum(proposal["status"] == queries.OPEN for proposal in queries.proposals(engine))
    return f"Proposed fixes that wait for a decision: {waiting}" if waiting else ""


PROPOSALS = Page(
    title="Proposals",
    icon="rule",
    description="Fixes that wait for a person: the change, the evidence for it, and the decision.",
    file=Path(__file__).parent / "app_pages" / "proposals.py",
    notice=count_waiting,
)
