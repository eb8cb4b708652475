"""What happened last, and what goes on."""

import streamlit as st

from dashboard import show
from dashboard.data import ask
from dashboard.tables import BOARD_COLUMNS, RUN_PAGE, board_frame, run_table

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
    """The latest scheduled run that came to an end, against the one before it."""
    run = ask("run", run_id)
    board = ask("leaderboard", run=run_id)
    what = f"Latest run of schedule {run['schedule']}" if run["schedule"] else "Latest run"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"{show.escaped(what)}: {show.escaped(run['name'])}", width="content")
        show.badge(run["status"])
        st.page_link(RUN_PAGE, label="Open", icon=":material/arrow_forward:", query_params={"id": str(run_id)})
    if run["reason"]:
        st.caption(show.escaped(run["reason"]))
    errors = run["errors"] / run["done"] if run["done"] else 0.0
    with st.container(horizontal=True):
        st.metric("Episodes", f"{run['done']}/{run['episodes_total']}", border=True)
        st.metric("Resolved", run["resolved"], border=True)
        st.metric("Unresolved", run["unresolved"], border=True)
        st.metric("Errors", f"{run['errors']} ({show.percent(errors)})", border=True, help="In no rate.")
        st.metric("Cost", show.usd(run["cost_usd"]), border=True)
        st.metric("Duration", show.duration(run["wall_s"]), border=True)
    for one in run["regressions"]:
        text = one.get("sentence") or one.get("what") or ""
        st.warning(show.escaped(text), icon=":material/trending_down:", title=show.escaped(one.get("entrant", "")))
    if board:
        of = {"benchmark": run["benchmark"], "leaderboard": run["leaderboard"] or None}
        history = ask("rate_history", **of, last=10)
        st.dataframe(
            board_frame(board, history)[
                ["Rank", "Entrant", "Rate", "95% interval", "Last runs", "Tasks", "Episodes", "Errors"]
            ],
            hide_index=True,
            column_config=BOARD_COLUMNS,
            placeholder=show.NOTHING,
            height=show.table_height(len(board), 320),
            key="overview_board",
            alt="Entrants of the latest run, best rate first",
        )
        show.csv_button(board, name=f"run_{run_id}", key="overview_board")
    changed(run_id)


def changed(run_id: int) -> None:
    """What got better or worse, where the paired interval leaves no doubt."""
    st.subheader("Since the run before")
    rows = ask("changes", run_id)
    if not rows:
        st.caption("There is no earlier finished run of the same name on the same benchmark.")
        return
    sure = [row for row in rows if row["ci_low"] > 0 or row["ci_high"] < 0]
    if sure:
        lines = [
            {
                "Entrant": row["entrant"],
                "Change": "better" if row["difference"] > 0 else "worse",
                "Points": 100 * row["difference"],
                "95% interval": show.point_interval(row),
                "Before": 100 * row["rate_before"],
                "Now": 100 * row["rate"],
                "p (Holm)": show.p_value(row["p_value"]),
                "Tasks": row["tasks"],
            }
            for row in sure
        ]
        share = st.column_config.NumberColumn(format="%.0f%%")
        columns = {"Points": st.column_config.NumberColumn(format="%+.1f"), "Before": share, "Now": share}
        st.dataframe(lines, hide_index=True, column_config=columns, alt="What got better or worse")
    calm = len(rows) - len(sure)
    text = f"{calm} of {len(rows)} entrants show no clear change. " if calm else ""
    st.caption(f"{text}Paired by task against run {rows[0]['before']}; only what leaves 0 out of its interval counts.")
    show.csv_button(rows, name=f"changes_{run_id}", key="overview_changes")


def infrastructure() -> None:
    """Whether sandboxes, models and workers do their work."""
    found = ask("health")
    st.subheader("Infrastructure")
    with st.container(horizontal=True):
        st.metric("Errors", f"{found['errors']} ({show.percent(found['error_rate'], 1)})", border=True)
        st.metric("Tried again", found["retried"], border=True, help="Tries that were repeated.")
        st.metric("Continued", found["interruptions"], border=True, help="Episodes that were cut off and continued.")
        st.metric("Stalled runs", len(found["stalled"]), border=True, help="Going on, and silent for a minute.")
    of = "the newest run" if found["runs"] == 1 else f"the newest {found['runs']} runs"
    st.caption(f"Of {of}, {found['done']} episodes.")
    for run in found["stalled"]:
        message = f"Run {run['id']} ({show.escaped(run['name'])}) is silent: `stackrank resume {run['id']}`."
        st.warning(message, icon=":material/hourglass_disabled:")
    if found["reasons"]:
        lines = [
            {"What failed": row["what"], "Episodes": row["episodes"], "Newest": f"episode?id={row['example']}"}
            for row in found["reasons"]
        ]
        newest = st.column_config.LinkColumn(display_text=r"id=(\d+)$", help="Opens the newest one in a new tab.")
        st.dataframe(lines, hide_index=True, column_config={"Newest": newest}, alt="The commonest errors")
        show.csv_button(found["reasons"], name="errors", key="overview_errors")


ENDED = ["finished", "failed", "cancelled"]
finished = ask("runs", status=ENDED, scheduled=True, limit=1) or ask("runs", status=ENDED, limit=1)
some = finished or ask("runs", limit=1)
if finished:
    latest(finished[0]["id"])
elif not some:
    show.empty("Nothing has been run yet. Start a run; it shows up here at once.")
going_on()
if some:
    infrastructure()
