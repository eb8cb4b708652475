"""Write proposed fixes of runs, and the decisions of people about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from stackrank.db.connection.errors import no_proposal
from stackrank.db.connection.transactions import DECISION, PROPOSAL, Transactions, clean, new_id
from stackrank.db.decision_seal import DecisionRefused, digest_of, seal_of, shown_of
from stackrank.errors import UsageError
from stackrank.host.wall_clock import now
from stackrank.storable import storable_text
from stackrank.terms import DecisionKind

MOST_CHARS = 10_000
_P = PROPOSAL.c


class Proposals(Transactions):
    """Writes proposals and decisions. Raises as `Store` does."""

    def propose(self, rows: Sequence[Mapping[str, Any]]) -> list[int]:
        """Store proposals, in this order, and return their numbers. `rows`: columns of `Proposal`.

        Older proposals for the same problem of the same repository are replaced if nobody has decided about them. A
        change that is already stored, even for a problem with another name, keeps its number and its decision; while
        it is undecided, its folder is the one that was given last.
        """
        return self._write(lambda connection: self._propose(connection, rows))

    def _propose(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[int]:
        numbers: list[int] = []
        by_problem: dict[tuple[str, str], list[int]] = {}
        decided = select(DECISION.c.proposal_id).where(DECISION.c.kind != DecisionKind.COMMENT)
        for row in map(clean, map(dict, rows)):
            row["digest"] = digest_of(row["base"], row["diff"], row["test_diff"])
            is_same_change = (_P.repository == row["repository"], _P.digest == row["digest"])
            number = connection.scalar(select(_P.id).where(*is_same_change, _P.replaced_by.is_(None)).order_by(_P.id))
            if number is None:
                number = new_id(connection.execute(insert(PROPOSAL).values({**row, "created_at": now()})))
            else:
                moved = update(PROPOSAL).where(_P.id == number, _P.id.not_in(decided))
                connection.execute(moved.values(folder=row["folder"]))
            numbers.append(number)
            by_problem.setdefault((row["repository"], row["problem"]), []).append(number)
        for (repository, problem), new in by_problem.items():
            older = (_P.repository == repository, _P.problem == problem, _P.id.not_in(new), _P.id.not_in(decided))
            old = update(PROPOSAL).where(*older, _P.replaced_by.is_(None))
            connection.execute(old.values(replaced_by=new[0]))
        return numbers

    def decide(self, number: int, kind: DecisionKind, *, digest: str, reason: str, person: str) -> int:
        """Append a decision, or a comment, and return its number.

        `digest`: that of the change that was looked at. Raises DecisionRefused if somebody has already decided, if the
        change has been replaced, or if it is not the one that was looked at; NotFound; UsageError for a rejection or a
        comment without words.
        """
        words = storable_text(reason.strip())
        if len(words) > MOST_CHARS or (not words and kind is not DecisionKind.APPROVED):
            raise UsageError(f"say why: a reason or a comment has 1 to {MOST_CHARS} characters")

        def work(connection: Connection) -> int:
            # This transaction and one that replaces the proposal wait for each other, whichever comes first.
            columns = (_P.run_id, _P.digest, _P.replaced_by, _P.title, _P.tests, _P.evidence)
            query = select(*columns).where(_P.id == number).with_for_update()
            proposal = connection.execute(query).mappings().one_or_none()
            if proposal is None:
                raise no_proposal(number)
            if proposal["replaced_by"] is not None and kind is not DecisionKind.COMMENT:
                raise DecisionRefused(
                    f"proposal {number} was replaced by proposal {proposal['replaced_by']}: review that one"
                )
            if proposal["digest"] != digest:
                raise DecisionRefused(f"proposal {number} has changed since you reviewed it: review it again")
            row = {"run_id": proposal["run_id"], "proposal_id": number, "digest": digest, "kind": str(kind)}
            row |= {"reason": words, "person": storable_text(person), "created_at": now()}
            row["seal"] = seal_of(row, shown_of(dict(proposal)))
            return new_id(connection.execute(insert(DECISION).values(row)))

        try:
            return self._write(work)
        except ValueError as error:
            if isinstance(error.__cause__, IntegrityError):
                raise DecisionRefused(
                    f"proposal {number} has already been decided: `stackrank review {number}` shows by whom"
                ) from None
            raise
