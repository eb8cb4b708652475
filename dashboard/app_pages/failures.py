"""How far episodes come, and where they first go wrong."""

import streamlit as st

from dashboard import address, charts, failing, scope, show
from dashboard.data import ask

# As `db.queries.funnel` has them; a page asks for nothing but answers.
STAGES = ("reproduced", "localized", "inspected", "edited", "improved", "resolved")

st.title("Failure points")
options, points = scope.asked("fp", "failure_points")


def funnel() -> None:
    """From the first reproduction to the verdict."""
    rows = ask("funnel", **options)
    if not rows:
        st.caption("No episode was counted.")
        return
    st.plotly_chart(charts.funnel(rows, STAGES), key="fp_funnel", alt="Share of episodes that reached each stage")
    st.caption(
        "Reproduced: a failing test was seen. Localized: the faulty place was seen. Inspected: a value was looked at "
        "there, by those with a debugger. Edited: the faulty place was changed. Improved: more tests passed than "
        "before. Stages need not follow from each other."
    )
    show.table_and_csv(rows, name="funnel", alt="Episodes that reached each stage", key="fp_funnel_table")


def bars() -> None:
    """Why episodes failed."""
    failing.bars("fp", points, options)


def aside() -> None:
    """What failed that was not the entrant."""
    rows = ask("set_aside", **options)
    if not rows:
        st.caption("The infrastructure has not failed, and no task is known to be defective.")
        return
    st.caption("In no rate. The infrastructure failed, or the task itself is known to be defective.")
    lines = [
        {
            "Reason": row["reason"],
            "What": row["what"],
            "Episodes": row["episodes"],
            "Newest": f"episode?id={row['example']}",
        }
        for row in rows
    ]
    link = st.column_config.LinkColumn(display_text=r"id=(\d+)$", help="Opens the newest example in a new tab.")
    st.dataframe(lines, hide_index=True, column_config={"Newest": link}, alt="Episodes that count for nobody")
    show.csv_button(rows, name="set_aside", key="fp_aside")


address.tabs("fp_tab", {"How far": funnel, "Where it went wrong": bars, "Not the entrant's fault": aside})
