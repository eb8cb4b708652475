"""Every task: how hard, how flaky, perhaps defective."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import address, scope, show
from dashboard.data import ask
from dashboard.tables import TASK_PAGE

st.title("Tasks")
options, rows = scope.asked("tk", "task_rates")

with st.container(horizontal=True, vertical_alignment="bottom"):
    text = address.text_input("Task contains", "tk_text", width=220)
    categories = sorted({row["category"] for row in rows} - {""})
    category = address.multiselect("Category", categories, "tk_category", width=260) if categories else ()
    kind = address.segmented("Show", ["all", "suspect", "flaky"], "tk_show", default="all")
shown = [
    row
    for row in rows
    if text.casefold() in f"{row['task']} {row['title']}".casefold()
    and (not category or row["category"] in category)
    and (kind == "all" or row[kind])
]
suspects = sum(bool(row["suspect"]) for row in rows)
st.caption(f"{len(shown)} of {len(rows)} tasks, hardest first; {suspects} suspect of a defect.")
opener = st.container()
frame = pd.DataFrame(
    {
        "Task": [row["task"] for row in shown],
        "Rate": [None if row["rate"] is None else 100 * row["rate"] for row in shown],
        "Episodes": [row["resolved"] + row["unresolved"] for row in shown],
        "Entrants": [row["entrants"] for row in shown],
        "Flaky for": [row["flaky"] for row in shown],
        "Errors": [row["errors"] for row in shown],
        "Category": [row["category"] for row in shown],
        "Difficulty": [row["difficulty"] for row in shown],
        "Suspected defect": [row["suspect"] for row in shown],
        "Id": [f"task?id={row['task_id']}" for row in shown],
    }
)
event = st.dataframe(
    frame,
    hide_index=True,
    key="tk_table",
    on_select="rerun",
    selection_mode="single-row",
    column_config={
        "Rate": st.column_config.ProgressColumn(
            format="%.0f%%", min_value=0, max_value=100, help="Resolved, of all counted episodes of all entrants."
        ),
        "Flaky for": st.column_config.NumberColumn(help="Entrants that resolved it at some attempts only."),
        "Id": st.column_config.LinkColumn(display_text=r"id=(\d+)$", help="Opens the task in a new tab."),
    },
    placeholder=show.NOTHING,
    height=show.table_height(len(shown)),
    alt="Tasks, hardest first",
)
index = show.chosen_row(event)
with opener:
    if index is not None and index < len(shown):
        one = shown[index]
        label = f"Open task {show.escaped(one['task'])}"
        st.page_link(TASK_PAGE, label=label, icon=":material/arrow_forward:", query_params={"id": str(one["task_id"])})
    else:
        st.caption("Tick a row to open the task here; its id opens it in a new tab.")
show.csv_button(shown, name="tasks", key="tk_table")
