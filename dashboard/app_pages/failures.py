"""How far episodes come, and where they first go wrong."""

import streamlit as st

from stackrank.dashboard import address, charts
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import failing, show
from stackrank.dashboard.parts.scope import asked
from stackrank.db import queries
from stackrank.terms import STAGES

st.title("Failure points")
scope, points = asked(queries.failure_points, errors=False)


def funnel() -> None:
    """Draw how far episodes come, from the first reproduction to the verdict."""
    rows = ask(queries.funnel, scope)
    if not rows:
        st.caption("No episode was counted.")
        return
    charts.draw(charts.funnel(rows, STAGES), key="fp_funnel", alt="Share of episodes that reached each stage")
    st.caption(
        "Reproduced: the agent saw the program or a test fail. Localized: the agent saw the faulty place. "
        "Breakpoint: one was set there. Inspected: a debugger paused there. Edited: the faulty place was changed. "
        "Improved: more tests passed than before. Solved: the tests that the agent sees passed. Resolved: so did the "
        "hidden tests of the verdict. An episode can skip a stage and reach a later one. The output of the reset "
        "counts for no stage. In the chart, every task has the same weight, as on the leaderboard; the table counts "
        "episodes."
    )
    flat = [{name: value for name, value in row.items() if name != "shares"} for row in rows]
    show.table_and_csv(flat, name="funnel", alt="Episodes that reached each stage", key="fp_funnel_table")


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
