"""Finds the entrants that the references of a comparison mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Engine, select

from stackrank.db.connection.errors import NotComparable, NotFound
from stackrank.db.connection.transactions import ENTRANT, EPISODE
from stackrank.db.queries.boards.pooling import explain_exclusion, fetch_conditions
from stackrank.db.queries.boards.scope import Selection
from stackrank.db.queries.catalogue import EntrantRow
from stackrank.db.queries.reading import fetch, fetch_one, parse_id
from stackrank.db.totals.sums import Cells
from stackrank.storable import storable_text

_E = EPISODE.c


def candidates_for(engine: Engine, ref: int | str) -> list[EntrantRow]:
    """Return the entrants that `ref` may mean: first those with this id or name, then those called so, newest first."""
    number, text = parse_id(ref), storable_text(str(ref))
    matches = (ENTRANT.c.name == text) | (ENTRANT.c.called == text)
    if number is not None:
        matches = matches | (ENTRANT.c.id == number)
    rows = fetch(engine, select(ENTRANT).where(matches).order_by(ENTRANT.c.id.desc()), EntrantRow)
    return sorted(rows, key=lambda row: row["id"] != number and row["name"] != text)


def choose_playing(
    ref: int | str, candidates: Sequence[EntrantRow], cells: Mapping[int, Cells], selection: Selection
) -> EntrantRow:
    """Return the first of the candidates that has played in the scope."""
    for row in candidates:
        if row["id"] in cells:
            return row
    ids = [row["id"] for row in candidates]
    excluded = {run.id: run for run in selection.excluded}
    elsewhere = select(_E.run_id).where(_E.entrant_id.in_(ids), _E.run_id.in_(list(excluded)), _E.verdict != "")
    if selection.pooled and (episode := fetch_one(selection.engine, elsewhere.order_by(_E.run_id.desc()))):
        run, lead = excluded[episode["run_id"]], selection.pooled[0]
        reason = explain_exclusion(run, lead, fetch_conditions(selection.engine, (run, lead)))
        raise NotComparable(
            f"{candidates[0]['name']} played run {run.id}, which is not pooled with run {lead.id} ({reason}): use "
            "--run, --benchmark or --conditions to choose what to compare."
        )
    raise NotFound(
        f"No entrant {str(ref)[:80]!r} has an episode in these runs: `stackrank leaderboard` lists the entrants."
    )


def require_different(
    refs: Sequence[int | str], sides: Sequence[EntrantRow], candidate_lists: Sequence[Sequence[EntrantRow]]
) -> None:
    """Raise `NotComparable` if two of the references mean the same entrant."""
    ids: set[int] = set()
    for ref, side, candidates in zip(refs, sides, candidate_lists, strict=True):
        if side["id"] in ids:
            namesakes = ", ".join(row["name"] for row in candidates if row["id"] != side["id"])
            hint = f"other entrants with that name are {namesakes}" if namesakes else "name two different ones"
            raise NotComparable(
                f"{str(ref)[:80]} is named twice, but an entrant cannot be compared with itself: {hint}."
            )
        ids.add(side["id"])
