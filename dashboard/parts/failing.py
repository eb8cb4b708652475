"""How the episodes of entrants ended, with examples of each ending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from stackrank import wording
from stackrank.dashboard import address, charts
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import show
from stackrank.dashboard.parts.tables import EPISODE_PAGE, EPISODES_PAGE
from stackrank.db import queries
from stackrank.db.queries import Scope
from stackrank.db.queries.boards.failures import FailureBreakdown
from stackrank.terms import FailurePoint
from stackrank.wording import count_of

MILESTONES = {
    "reproduced": "the agent saw the program or a test fail",
    "localized": "it saw the faulty place",
    "breakpoint": "it set a breakpoint in a faulty function",
    "inspected": "a debugger paused there",
    "edited": "the faulty place was changed",
    "improved": "more tests passed than before",
    "solved": "the visible tests passed",
    "resolved": "the hidden tests of the verdict passed",
}
"""What it means that an episode reached a milestone, or a stage of failure points."""
FAILURES = {
    FailurePoint.NEVER_REPRODUCED: "it saw no failure",
    FailurePoint.NEVER_LOCALIZED: "it did not see the faulty place",
    FailurePoint.LOCALIZED_NOT_EDITED: "it saw the faulty place and changed nothing there",
    FailurePoint.WRONG_LOCATION: "it changed other places",
    FailurePoint.WRONG_FIX: "it changed the fault wrongly",
    FailurePoint.REGRESSION: "it broke what had worked",
    FailurePoint.BROKE_SYNTAX: "it left a file that does not parse",
    FailurePoint.LOOPED: "it repeated itself",
    FailurePoint.MALFORMED_ACTIONS: "its actions could not be read",
    FailurePoint.OUT_OF_BUDGET: "it reached a limit before it changed the program",
    FailurePoint.BROKE_SANDBOX: "it broke its sandbox",
    FailurePoint.TAMPERED: "it tried to change the verdict instead of the program",
}
"""What went wrong first in an episode with this failure point."""


def note_other_versions(scope: Scope) -> None:
    """Say which runs have failure points by rules of another version, where others have not."""
    runs = ask(queries.runs_with_other_analysis, scope)
    if runs:
        run_list = ", ".join(map(str, runs[:5])) + (" and others" if len(runs) > 5 else "")
        noun = "run" if len(runs) == 1 else "runs"
        st.caption(
            f"Another version of stackrank found the milestones and failure points of {noun} "
            f"{run_list}. Do not compare them with those of the other runs."
        )


def bars(prefix: str, points: Sequence[FailureBreakdown], scope: Scope) -> None:
    """Draw rows of `failure_points` of this scope as bars; a click on a part of a bar leads to its episodes.

    The selection is kept in the address under `prefix`.
    """
    if sentence := queries.failures_sentence(points):
        st.markdown(f"**{show.escaped(sentence)}**")
    points = sorted(points, key=lambda row: -row["shares"].get("resolved", 0.0))  # as on the leaderboard
    event = charts.draw(
        charts.failure_bars(points),
        key=f"{prefix}_bars",
        on_select="rerun",
        selection_mode="points",
        alt="How the episodes of each entrant ended, in %",
    )
    present = sorted({name for row in points for name in row["failure_points"]})
    names = list(dict.fromkeys(row["entrant"] for row in points))
    clicked = [point["customdata"] for point in event.selection.points[:1]]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        entrant = address.selectbox("Entrant", names, f"{prefix}_entrant", placeholder="Any", width=320)
        point = address.selectbox(
            "Failure point", present, f"{prefix}_point", placeholder="Any", format_func=wording.words, width=240
        )
    if clicked:
        entrant, point = clicked[0][0], clicked[0][1] or None
    if clicked or entrant or point:
        _examples(entrant, point, scope)
    flat = _flat(points)
    meanings = " ".join(
        f"{wording.words(point).capitalize()}: {meaning}." for point, meaning in FAILURES.items() if point in present
    )
    st.caption(f"Of each failed episode, what went wrong first. {meanings}")
    show.table_and_csv(flat, name="failure_points", alt="Failure points of each entrant", key=f"{prefix}_bars_table")


def _examples(entrant: str | None, point: str | None, scope: Scope) -> None:
    """List the newest episodes of an entrant with this failure point."""
    rows = ask(queries.examples, point, scope, entrant=entrant)
    caption = f"{show.escaped(entrant or 'all entrants')}, {wording.words(point or 'resolved')}"
    with st.container(border=True):
        st.markdown(f"Newest examples: **{caption}**")
        for row in rows:
            label = f"{show.escaped(row['task'])}, attempt {row['attempt']}, {count_of(row['steps'], 'step')}"
            show.link(EPISODE_PAGE, label, id=row["id"], step=row["failure_step"])
        if not rows:
            st.caption("There are no such episodes.")
        query = {"ep_verdict": "unresolved" if point else "resolved", "ep_failure": point, "ep_entrant": entrant}
        label = "All of these episodes"
        show.link(EPISODES_PAGE, label, "list_alt", **query, run=scope.run or None)


def _flat(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Flatten rows of `failure_points`: one column for each failure point that occurs."""
    present = {name for row in rows for name in row["failure_points"]}
    known = [name for name in FailurePoint if name in present]
    names = [*known, *sorted(present.difference(known))]
    return [
        {key: value for key, value in row.items() if key not in ("failure_points", "shares")}
        | {name: row["failure_points"].get(name, 0) for name in names}
        for row in rows
    ]
