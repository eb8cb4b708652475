"""Proposed fixes and the decisions about them: who comes second, what was replaced, what was forged."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, update

from stackrank.db import queries
from stackrank.db.connection.errors import NotFound
from stackrank.db.connection.transactions import DECISION, PROPOSAL
from stackrank.db.decision_seal import DecisionRefused, digest_of, require_genuine
from stackrank.db.maintenance.prune import Pruning
from stackrank.errors import UsageError
from stackrank.extensions.fix.acceptance import acceptance
from stackrank.extensions.fix.decisions import Proposals
from stackrank.terms import DecisionKind
from tests.support.shop import BASE, OTHER_FIX, SECOND_FIX, evidence, proposal_row

APPROVED, REJECTED, COMMENT = DecisionKind.APPROVED, DecisionKind.REJECTED, DecisionKind.COMMENT


@pytest.fixture
def proposals(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Proposals:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    return Proposals(engine)


def row(matrix: SimpleNamespace, **fields: Any) -> dict[str, Any]:
    return proposal_row(matrix.run, matrix.one, matrix.episodes[matrix.cells[0]], **fields)


def decide(proposals: Proposals, number: int, kind: DecisionKind = APPROVED, **fields: Any) -> int:
    arguments = {
        "digest": queries.proposal(proposals.engine, number)["digest"],
        "reason": "So.",
        "person": "ann",
        **fields,
    }
    return proposals.decide(number, kind, **arguments)


def change(engine: Engine, statement: Any) -> None:
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(statement)


def test_a_proposal_and_its_decision(proposals: Proposals, matrix: SimpleNamespace) -> None:
    low, high = proposals.propose(
        [row(matrix, doubts=["a", "b"]), row(matrix, problem="other", diff=SECOND_FIX, doubts=[])]
    )
    rows = queries.proposals(proposals.engine)
    assert [proposal["id"] for proposal in rows] == [high, low] and {proposal["status"] for proposal in rows} == {
        "open"
    }
    assert rows[1]["digest"] == digest_of(BASE, row(matrix)["diff"], "")
    decide(proposals, high, COMMENT, reason="Look at line 3.")
    decide(proposals, high, REJECTED, reason=" Too broad. ", person="bob")
    decided = queries.proposal(proposals.engine, high)
    assert (decided["status"], decided["decision"]["reason"], decided["decision"]["person"]) == (
        "rejected",
        "Too broad.",
        "bob",
    )
    assert [proposal["reason"] for proposal in decided["comments"]] == ["Look at line 3."]
    require_genuine(decided)
    assert [proposal["id"] for proposal in queries.proposals(proposals.engine)] == [
        low,
        high,
    ]  # what is open comes first


def test_two_who_decide_at_once(proposals: Proposals, matrix: SimpleNamespace) -> None:
    (number,) = proposals.propose([row(matrix)])
    digest = queries.proposal(proposals.engine, number)["digest"]
    ends: list[str] = []
    barrier = threading.Barrier(2)

    def one(kind: DecisionKind) -> None:
        barrier.wait()
        try:
            proposals.decide(number, kind, digest=digest, reason="Mine.", person=kind.value)
            ends.append(kind.value)
        except DecisionRefused as error:
            ends.append(str(error))

    threads = [threading.Thread(target=one, args=(kind,)) for kind in (APPROVED, REJECTED)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    status = queries.proposal(proposals.engine, number)["status"]
    assert sorted(ends) == sorted(
        [status, f"proposal {number} has already been decided: `stackrank review {number}` shows by whom"]
    )
    decide(proposals, number, COMMENT)  # a comment is no decision


@pytest.mark.parametrize(("first", "second"), [(APPROVED, REJECTED), (REJECTED, APPROVED), (APPROVED, APPROVED)])
def test_whoever_comes_second_is_refused(
    proposals: Proposals, matrix: SimpleNamespace, first: DecisionKind, second: DecisionKind
) -> None:
    (number,) = proposals.propose([row(matrix)])
    decide(proposals, number, first)
    with pytest.raises(DecisionRefused, match="has already been decided"):
        decide(proposals, number, second)
    assert queries.proposal(proposals.engine, number)["status"] == first


def test_a_change_that_was_replaced_meanwhile(proposals: Proposals, matrix: SimpleNamespace) -> None:
    old, decided = proposals.propose([row(matrix), row(matrix, problem="other", diff=SECOND_FIX)])
    decide(proposals, decided)
    rerun_fields = {"base": "1" * 40, "run_id": matrix.run}
    first, two = proposals.propose([row(matrix, **rerun_fields), row(matrix, diff=OTHER_FIX, **rerun_fields)])
    assert queries.proposal(proposals.engine, old)["replaced_by"] == first
    assert [queries.proposal(proposals.engine, proposal)["status"] for proposal in (first, two)] == ["open", "open"]
    assert queries.proposal(proposals.engine, decided)["status"] == "approved"
    with pytest.raises(DecisionRefused, match=f"was replaced by proposal {first}"):
        decide(proposals, old)
    with pytest.raises(DecisionRefused, match="has changed since you reviewed it"):
        decide(proposals, first, digest=queries.proposal(proposals.engine, old)["digest"])
    assert proposals.propose([row(matrix, **rerun_fields)]) == [first]  # the same change keeps its number
    assert queries.proposal(proposals.engine, two)["replaced_by"] == first
    assert proposals.propose([row(matrix, problem="called otherwise", **rerun_fields)]) == [first]


def test_a_change_goes_to_the_folder_that_was_named_last(proposals: Proposals, matrix: SimpleNamespace) -> None:
    numbers = proposals.propose([row(matrix, folder="/a"), row(matrix, problem="o", diff=SECOND_FIX, folder="/a")])
    decide(proposals, numbers[0])  # its patch is in /a
    assert numbers == proposals.propose(
        [row(matrix, folder="/b"), row(matrix, problem="o", diff=SECOND_FIX, folder="/b")]
    )
    assert [queries.proposal(proposals.engine, proposal)["folder"] for proposal in numbers] == ["/a", "/b"]


def test_forged_decisions(proposals: Proposals, matrix: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = proposals.engine
    (number,) = proposals.propose([row(matrix)])
    decide(proposals, number, REJECTED)
    require_genuine(queries.proposal(engine, number))
    for forged in ({"kind": "approved"}, {"person": "eve"}, {"reason": "Fine."}, {"seal": ""}):
        genuine = queries.proposal(engine, number)["decision"]
        change(engine, update(DECISION).values(forged))
        with pytest.raises(DecisionRefused, match="does not have the seal"):
            require_genuine(queries.proposal(engine, number))
        change(engine, update(DECISION).values({name: genuine[name] for name in forged}))
    original = queries.proposal(engine, number)
    for altered in ({"evidence": evidence(regressions=["t"])}, {"tests": ["t"]}, {"title": "t"}):
        change(engine, update(PROPOSAL).values(altered))
        with pytest.raises(DecisionRefused, match="the evidence has been altered since"):
            require_genuine(queries.proposal(engine, number))
        change(engine, update(PROPOSAL).values({name: original[name] for name in altered}))
    require_genuine(queries.proposal(engine, number))
    change(engine, update(PROPOSAL).values(diff=OTHER_FIX))
    with pytest.raises(DecisionRefused, match="has changed since it was decided"):
        require_genuine(queries.proposal(engine, number))
    change(engine, update(PROPOSAL).values(diff=row(matrix)["diff"]))
    monkeypatch.setenv("STACKRANK_DECISION_KEY", "of another machine")
    with pytest.raises(DecisionRefused, match="STACKRANK_DECISION_KEY"):
        require_genuine(queries.proposal(engine, number))


def test_decisions_that_say_nothing_or_are_about_nothing(proposals: Proposals, matrix: SimpleNamespace) -> None:
    (number,) = proposals.propose([row(matrix)])
    for kind in (REJECTED, COMMENT):
        with pytest.raises(UsageError, match="say why"):
            decide(proposals, number, kind, reason=" \n")
    with pytest.raises(NotFound):
        proposals.decide(number + 1, APPROVED, digest="", reason="", person="")
    for unknown in (number + 1, "x", 10**30):
        with pytest.raises(NotFound):
            queries.proposal(proposals.engine, unknown)


def test_what_was_accepted(proposals: Proposals, matrix: SimpleNamespace) -> None:
    second_entrant = {"entrant_id": matrix.two, "episode_id": matrix.episodes[matrix.cells[1]]}
    rows = [row(matrix, problem=f"p{n}", diff=f"{SECOND_FIX}{' ' * n}") for n in range(4)]
    rows.append(row(matrix, problem="p0", diff=OTHER_FIX, **second_entrant))
    numbers = proposals.propose(rows)
    for number, kind in zip(numbers[:3], (APPROVED, APPROVED, REJECTED), strict=True):
        decide(proposals, number, kind, reason="Because.")
    first, two = acceptance(proposals.engine)
    assert (first["entrant"], first["proposals"], first["approved"], first["rejected"]) == ("one", 4, 2, 1)
    assert first["rate"] == pytest.approx(2 / 3) and first["ci_low"] < 2 / 3 < first["ci_high"]
    assert first["reasons"] == ["Because."] and first["hours_to_decide"] >= 0
    assert (two["entrant"], two["rate"], two["hours_to_decide"]) == ("two", None, None)


def test_a_run_goes_with_its_proposals(proposals: Proposals, matrix: SimpleNamespace) -> None:
    (number,) = proposals.propose([row(matrix)])
    decide(proposals, number)
    counts = Pruning(proposals.engine).delete_run(matrix.run)
    assert (counts["proposal"], counts["decision"]) == (1, 1) and queries.proposals(proposals.engine) == []
