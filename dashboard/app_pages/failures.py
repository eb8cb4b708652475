"""How far episodes come, and where they first go wrong."""

import streamlit as st

from stackrank.dashboard import address, charts
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import columns, failing, show
from stackrank.dashboard.parts.scope import asked
from stackrank.db import queries
from stackrank.db.queries.episodes.funnel import FunnelRow
from stackrank.terms import STAGES, Milestone
from stackrank.wording import count_of, words

st.title("Failure points")
scope, points = asked(queries.failure_points, errors=False)


def funnel() -> None:
    """Draw how far episodes come, from the first reproduction to the verdict."""
    rows = ask(queries.funnel, scope)
    if not rows:
        st.caption("No episode was counted.")
        return
    drawn = rows[: charts.MOST_DRAWN]
    charts.draw(charts.funnel(drawn, STAGES), key="fp_funnel", alt="Share of episodes that reached each stage")
    if len(drawn) < len(rows):
        st.caption(f"The chart shows the best {len(drawn)} of {count_of(len(rows), 'entrant')}, the table all of them.")
    st.caption(
        f"{' '.join(f'{words(stage).capitalize()}: {failing.MILESTONES[stage]}.' for stage in STAGES)} An episode can "
        "skip a stage and reach a later one. Every task has the same weight, as on the leaderboard."
    )
    shares = [
        {"Entrant": row["entrant"], "Episodes": row["counted"]}
        | {words(stage).capitalize(): reached(row, stage) for stage in STAGES}
        for row in rows
    ]
    kinds = {words(stage).capitalize(): columns.share() for stage in STAGES}
    show.grid(shares, about=rows, column_config=kinds, alt="Share of episodes that reached each stage")
    flat = [{name: value for name, value in row.items() if name != "shares"} for row in rows]
    show.csv_button(flat, name="funnel", key="fp_funnel_table")


def reached(row: FunnelRow, stage: str) -> float | None:
    """Return the share that reached a stage; an entrant without a debugger cannot inspect."""
    return row["shares"][stage] if stage != Milestone.INSPECTED or row["debugger"] else None


def bars() -> None:
    """Draw why episodes failed."""
    failing.bars("fp", points, scope)


def aside() -> None:
    """Draw the failures that are not the entrant's fault."""
    rows = ask(queries.excluded_episodes, scope)
    if not rows:
        st.caption("The infrastructure has not failed, and no task is known to be defective.")
        return
    st.caption("Excluded from all rates: the infrastructure failed, or the task itself is known to be defective.")
    lines = [
        {
            "Reason": row["reason"],
            "What": row["what"],
            "Episodes": row["episodes"],
            "Newest": f"episode {row['example']}",
        }
        for row in rows
    ]
    newest = {"Newest": [address.to("episode", id=row["example"]) for row in rows]}
    show.grid(lines, links=newest, alt="Episodes excluded from all rates")
    show.csv_button(rows, name="excluded_episodes", key="fp_aside")


failing.note_other_versions(scope)
address.tabs("fp_tab", {"How far": funnel, "Where it went wrong": bars, "Not the entrant's fault": aside})
