"""What happened last, and what goes on."""

import streamlit as st

from dashboard import show
from dashboard.data import ask
from dashboard.tables import RUN_PAGE, run_table

st.title("Overview")


@st.fragment(run_every="5s")
def going_on() -> None:
    """The runs going on; it looks again every five seconds."""
    with show.guarded():
        rows = ask("runs", status="running", limit=20)
        st.subheader("Going on")
        if rows:
            run_table(rows, key="overview_going_on")
        else:
            st.caption("No run is going on.")


def latest(run_id: int) -> None:
    """The latest run that came to an end, against the one before it."""
    run = ask("run", run_id)
    board = ask("leaderboard", run=run_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"Latest run: {show.escaped(run['name'])}", width="content")
        show.badge(run["status"])
        st.page_link(RUN_PAGE, label="Open", icon=":material/arrow_forward:", query_params={"id": str(run_id)})
    if run["reason"]:
        st.caption(show.escaped(run["reason"]))
    best = next((row for row in board if row["rate"] is not None), None)
    errors = run["errors"] / run["done"] if run["done"] else 0.0
    with st.container(horizontal=True):
        st.metric("Episodes", f"{run['done']}/{run['episodes_total']}", border=True)
        st.metric("Resolved", run["resolved"], border=True)
        st.metric("Unresolved", run["unresolved"], border=True)
        st.metric("Errors", f"{run['errors']} ({show.percent(errors)})", border=True, help="In no rate.")
        st.metric("Cost", show.usd(run["cost_usd"]), border=True)
        st.metric("Duration", show.duration(run["wall_s"]), border=True)
    if best is not None:
        low, high = show.percent(best["ci_low"]), show.percent(best["ci_high"])
        st.markdown(
            f"Best: **{show.escaped(best['entrant'])}** resolves {show.percent(best['rate'])} "
            f"[{low}, {high}] of {best['tasks']} tasks."
        )
    changed(run_id)


def changed(run_id: int) -> None:
    """What got better or worse, where the paired interval leaves no doubt."""
    st.subheader("Since the run before")
    rows = ask("changes", run_id)
    if not rows:
        st.caption("There is no earlier finished run of the same name on the same benchmark.")
        return
    lines = []
    for row in rows:
        sure = row["ci_low"] > 0 or row["ci_high"] < 0
        lines.append(
            {
                "Entrant": row["entrant"],
                "Change": ("better" if row["difference"] > 0 else "worse") if sure else "no clear change",
                "Points": show.points(row["difference"]),
                "95% interval": f"{show.points(row['ci_low'])} to {show.points(row['ci_high'])}",
                "Before": show.percent(row["rate_before"]),
                "Now": show.percent(row["rate"]),
                "p (Holm)": f"{row['p_value']:.2g}",
                "Tasks": row["tasks"],
            }
        )
    st.dataframe(lines, hide_index=True, alt="What got better or worse since the run before")
    st.caption("Paired by task; a change is called one only where its interval excludes 0.")


finished = ask("runs", status=["finished", "failed", "cancelled"], limit=1)
if finished:
    latest(finished[0]["id"])
elif not ask("runs", limit=1):
    show.empty("Nothing has been run yet. Start a run; it shows up here at once.")
going_on()
