"""Two runs: who became better or worse, and on which tasks."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import show
from stackrank.dashboard.parts.tables import DIVERGE_PAGE, RUN_PAGE, RUNS_PAGE, pick
from stackrank.db import queries
from stackrank.wording import count_of

refs = [st.query_params.get(side, "").strip() for side in ("a", "b")]
if not all(refs):
    show.which("Run against run", "Which two runs? Tick them in the list of runs.", RUNS_PAGE, "Runs", "play_circle")
comparison = ask(queries.run_pair, *refs)
older, newer = (ask(queries.run, comparison[side]) for side in ("first", "second"))
title = f"Run {newer['id']} against run {older['id']}"
show.titled(title)
show.breadcrumb(
    (RUNS_PAGE, "Runs", {}),
    *((RUN_PAGE, f"Run {run['id']}: {show.escaped(run['name'])}", {"id": run["id"]}) for run in (older, newer)),
)
st.title(title, anchor=False)
with st.container(border=True):
    st.markdown(f":material/compare_arrows: **{show.escaped(comparison['sentence'])}**")
    if comparison["apart"]:
        st.warning(show.escaped(comparison["apart"]), icon=":material/warning:")
    if comparison["entrants"]:
        st.caption(
            "Paired by task, over the tasks that have a verdict in both runs, each with the same weight; p-values are "
            f"corrected (Holm) for {count_of(len(comparison['entrants']), 'entrant')}."
        )
if not comparison["entrants"]:
    st.stop()
share = st.column_config.NumberColumn(format="%.1f%%")
show.grid(
    [
        {
            "Entrant": row["entrant"],
            "Before": show.in_percent(row["rate_before"]),
            "Now": show.in_percent(row["rate"]),
            "Points": show.in_percent(row["difference"]),
            "95% interval": wording.point_interval(row["ci_low"], row["ci_high"]),
            "p (Holm)": wording.p_value(row["p_value"]),
            "Tasks": row["tasks"],
            "Less often": row["worse"],
            "More often": row["better"],
        }
        for row in comparison["entrants"]
    ],
    column_config={"Before": share, "Now": share, "Points": st.column_config.NumberColumn(format="%+.1f")},
    alt="Entrants of both runs, the greatest loss first",
)
show.csv_button(comparison["entrants"], name="run_pair", key="against_entrants")


def opened(row: Mapping[str, Any]) -> None:
    """Draw a link to both traces, to see what the agent did differently."""
    label = f"Both traces of {show.escaped(row['task'])} by {show.escaped(row['entrant'])}, side by side"
    show.link(DIVERGE_PAGE, label, "fork_right", a=row["episode_before"], b=row["episode"])


def flips(heading: str, rows: Sequence[Mapping[str, Any]], key: str) -> None:
    """Draw the tasks whose result changed, one of which can be opened."""
    tasks = {row["task"] for row in rows}
    st.subheader(f"{heading}: {count_of(len(tasks), 'task')}", anchor=False)
    if not rows:
        return
    frame = pd.DataFrame(
        {
            "Task": [row["task"] for row in rows],
            "Entrant": [row["entrant"] for row in rows],
            "Before": [row["before"] for row in rows],
            "Now": [row["now"] for row in rows],
            "Traces": [address.to("diverge", a=row["episode_before"], b=row["episode"]) for row in rows],
        }
    )
    traces = st.column_config.LinkColumn(display_text="side by side", help="Opens both traces in a new tab.")
    hint = "Tick a task to see its two traces side by side, from the step at which they diverge."
    pick(rows, frame, {"Traces": traces}, key=key, name=key, alt=heading, hint=hint, opened=opened)


flips("Resolved less often", comparison["worse"], "resolved_less_often")
flips("Resolved more often", comparison["better"], "resolved_more_often")
