"""Queries about proposed fixes, and what people decided about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, select

from stackrank.db.connection.errors import no_proposal
from stackrank.db.connection.transactions import BENCHMARK, DECISION, ENTRANT, EPISODE, PROPOSAL, TASK
from stackrank.db.queries.reading import Row, fetch, row_id
from stackrank.storable import storable_text
from stackrank.terms import DecisionKind

_P, _D = PROPOSAL.c, DECISION.c
OPEN = "open"
REPLACED = "replaced"
COVERED = "covered"


def proposals(engine: Engine, *, repository: str = "", run_id: int | None = None) -> list[Row]:
    """Return all proposals: first those that wait for a decision, the surest first.

    Each has the columns of the table, `entrant`, `status` (open, covered, replaced, approved, rejected), `decision`
    (the row, or None), `comments`, and `covered_by`: an approved proposal for the same commit with which all tests of
    this one pass too, so that nobody has to decide about it; None if there is none.
    """
    query = select(PROPOSAL, ENTRANT.c.name.label("entrant")).join(ENTRANT, ENTRANT.c.id == _P.entrant_id)
    if repository:
        query = query.where(_P.repository == repository)
    if run_id is not None:
        query = query.where(_P.run_id == run_id)
    return sorted(_whole(engine, query), key=lambda row: (row["status"] != OPEN, -row["surety"], row["id"]))


def proposal(engine: Engine, number: int | str) -> Row:
    """Return one proposal, as `proposals` does. Raises NotFound."""
    wanted = row_id(number)
    query = select(PROPOSAL, ENTRANT.c.name.label("entrant")).join(ENTRANT, ENTRANT.c.id == _P.entrant_id)
    found = _whole(engine, query.where(_P.id == wanted)) if wanted is not None else []
    if not found:
        raise no_proposal(number)
    return found[0]


def _whole(engine: Engine, query: Any) -> list[Row]:
    rows = fetch(engine, query)
    numbers = [row["id"] for row in rows]
    said: dict[int, list[Row]] = {}
    for start in range(0, len(numbers), 500):
        some = select(DECISION).where(_D.proposal_id.in_(numbers[start : start + 500])).order_by(_D.id)
        for each in fetch(engine, some):
            said.setdefault(each["proposal_id"], []).append(each)
    for row in rows:
        about = said.get(row["id"], [])
        final = next((each for each in about if each["kind"] != DecisionKind.COMMENT), None)
        row["decision"] = final
        row["comments"] = [each for each in about if each["kind"] == DecisionKind.COMMENT]
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
        same = (each for each in approved if (each["repository"], each["base"]) == (row["repository"], row["base"]))
        row["covered_by"] = next(
            (each["id"] for each in same if {*row["tests"]} <= {*each["evidence"]["mended"]}), None
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
    found: dict[str, list[str]] = {}
    for row in fetch(engine, query):
        found.setdefault(row["name"], []).append(row["diff"])
    return found
