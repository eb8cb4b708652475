"""Every run."""

import streamlit as st

from stackrank.dashboard import address
from stackrank.dashboard.data import ask, engine
from stackrank.dashboard.parts import show
from stackrank.dashboard.parts.scope import current
from stackrank.dashboard.parts.tables import run_table
from stackrank.db import queries
from stackrank.terms import RunStatus

_PAGE = 50

st.title("Runs")

_RESETS = ("runs_before",)
with show.filters(), st.container(horizontal=True):
    states = list(map(str, RunStatus))
    status = address.pills("Status", states, "runs_status", resets=_RESETS)
    name = address.text_input("Name contains", "runs_name", resets=_RESETS, width=220)

run_ids = current(wide=True).run_ids(engine())
first_id = address.number("runs_before")
rows = ask(queries.runs, status=status, name=name, ids=run_ids, before_id=first_id, limit=_PAGE + 1)
if rows:
    run_table(rows[:_PAGE], key="runs_table")
else:
    st.info("No run matches these filters.", icon=":material/filter_alt_off:")
    narrowed = ["runs_status", "runs_name", "runs_before", *address.carried()]
    st.button("Show all runs", icon=":material/close:", on_click=address.put, kwargs=dict.fromkeys(narrowed))

following = rows[_PAGE - 1]["id"] if len(rows) > _PAGE else None
address.pager("runs_before", following, first="Newest", next_label="Older")
