"""Queries about proposed fixes, and what people decided about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, select

from stackrank.db.connection.errors import no_proposal
from stackrank.db.connection.transactions import BENCHMARK, DECISION, ENTRANT, EPISODE, PROPOSAL, TASK
from stackrank.db.queries.reading import Row, fetch, parse_id
from stackrank.storable import storable_text
from stackrank.terms import DecisionKind

_P, _D = PROPOSAL.c, DECISION.c
OPEN = "open"
REPLACED = "replaced"
COVERED = "covered"


def proposals(engine: Engine, *, repository: str = "", run_id: int | None = None) -> list[Row]:
    """Return all proposals: first those that wait for a decision, those with the fewest doubts first.

    Each has the columns of the table, `entrant`, `status` (open, covered, replaced, approved, rejected), `decision`
    (the row, or None), `comments`, and `covered_by`: an approved proposal for the same commit with which all tests of
    this one pass too, so that nobody has to decide about it; None if there is none.
    """
    query = select(PROPOSAL, ENTRANT.c.name.label("entrant")).join(ENTRANT, ENTRANT.c.id == _P.entrant_id)
    if repository:
        query = query.where(_P.repository == repository)
    if run_id is not None:
        query = query.where(_P.run_id == run_id)
    return sorted(
        _with_decisions(engine, query), key=lambda row: (row["status"] != OPEN, len(row["doubts"]), row["id"])
    )


def proposal(engine: Engine, number: int | str) -> Row:
    """Return one proposal, as `proposals` does. Raises NotFound."""
    proposal_id = parse_id(number)
    query = select(PROPOSAL, ENTRANT.c.name.label("entrant")).join(ENTRANT, ENTRANT.c.id == _P.entrant_id)
    rows = _with_decisions(engine, query.where(_P.id == proposal_id)) if proposal_id is not None else []
    if not rows:
        raise no_proposal(number)
    return rows[0]


def _with_decisions(engine: Engine, query: Any) -> list[Row]:
    rows = fetch(engine, query)
    numbers = [row["id"] for row in rows]
    decisions_of: dict[int, list[Row]] = {}
    for start in range(0, len(numbers), 500):
        of_batch = select(DECISION).where(_D.proposal_id.in_(numbers[start : start + 500])).order_by(_D.id)
        for decision in fetch(engine, of_batch):
            decisions_of.setdefault(decision["proposal_id"], []).append(decision)
    for row in rows:
        decisions = decisions_of.get(row["id"], [])
        final = next((decision for decision in decisions if decision["kind"] != DecisionKind.COMMENT), None)
        row["decision"] = final
        row["comments"] = [decision for decision in decisions if decision["kind"] == DecisionKind.COMMENT]
        row["status"] = final["kind"] if final else REPLACED if row["replaced_by"] else OPEN
        row["covered_by"] = None
    _mark_covered(engine, [row for row in rows if row["status"] == OPEN])
    return rows


def _mark_covered(engine: Engine, waiting: Sequence[Row]) -> None:
    repositories = sorted({row["repository"] for row in waiting})
    query = (
        select(_P.id, _P.repository, _P.base, _P.evidence)
        .join(DECISION, _D.proposal_id == _P.id)
        .where(_P.repository.in_(repositories), _D.kind == DecisionKind.APPROVED)
        .order_by(_P.id)
    )
    approved = fetch(engine, query) if waiting else []
    for row in waiting:
        same_commit = (
            cover for cover in approved if (cover["repository"], cover["base"]) == (row["repository"], row["base"])
        )
        row["covered_by"] = next(
            (cover["id"] for cover in same_commit if {*row["tests"]} <= {*cover["evidence"]["fixed"]}), None
        )
        row["status"] = COVERED if row["covered_by"] else OPEN


def rejected_changes(engine: Engine, benchmark_name: str) -> dict[str, list[str]]:
    """Return the changes that people rejected, in any version of a benchmark: task name -> diffs."""
    query = (
        select(TASK.c.name, _P.diff)
        .join(EPISODE, EPISODE.c.id == _P.episode_id)
        .join(TASK, TASK.c.id == EPISODE.c.task_id)
        .join(BENCHMARK, BENCHMARK.c.id == TASK.c.benchmark_id)
        .join(DECISION, _D.proposal_id == _P.id)
        .where(BENCHMARK.c.name == storable_text(benchmark_name), _D.kind == DecisionKind.REJECTED)
        .order_by(_P.id)
    )
    changes: dict[str, list[str]] = {}
    for row in fetch(engine, query):
        changes.setdefault(row["name"], []).append(row["diff"])
    return changes
