"""The latest results, and the runs in progress."""

import streamlit as st

from stackrank import wording
from stackrank.dashboard.data import ask
from stackrank.dashboard.pages import plugin_pages
from stackrank.dashboard.parts import show
from stackrank.dashboard.parts.tables import (
    AGAINST_PAGE,
    EPISODES_PAGE,
    RUN_PAGE,
    TASKS_PAGE,
    leaderboard_table,
    run_table,
)
from stackrank.db import queries
from stackrank.db.queries import Scope
from stackrank.terms import RunStatus
from stackrank.wording import count_of

st.title("Overview")


@st.fragment(run_every="5s")
def going_on() -> None:
    """Draw the runs in progress, again every five seconds."""
    with show.guarded():
        rows = ask(queries.runs, status="running", limit=20)
        st.subheader("Runs in progress")
        if rows:
            run_table(rows, key="overview_going_on")
        else:
            st.caption("No run is in progress.")


def news(run_id: int) -> None:
    """Say in one sentence what is new in the latest run, with a link to the tasks behind it."""
    rows = ask(queries.changes, run_id)
    if not rows:
        return
    previous_id = max(row["before"] for row in rows)
    comparison = ask(queries.run_pair, previous_id, run_id)
    icon = "trending_down" if any(row["sure"] and row["difference"] < 0 for row in rows) else "timeline"
    sentence = queries.pair_sentence(rows, comparison["worse"], comparison["better"])
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/{icon}: **{show.escaped(sentence)}**", width="stretch")
        show.link(AGAINST_PAGE, f"Why? Against run {previous_id}", "help", a=previous_id, b=run_id)


def latest(run_id: int) -> None:
    """Draw the latest scheduled run that has ended, against the one before it."""
    run = ask(queries.run, run_id)
    board = ask(queries.leaderboard, Scope(run=run_id))
    title = f"Latest run of schedule {run['schedule']}" if run["schedule"] else "Latest run"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"{show.escaped(title)}: {show.escaped(run['name'])}", width="content")
        show.badge(run["status"])
        show.link(RUN_PAGE, "Open", id=run_id)
    if run["reason"]:
        st.caption(show.escaped(run["reason"]))
    news(run_id)
    errors = run["errors"] / run["done"] if run["done"] else 0.0
    with st.container(horizontal=True):
        st.metric("Episodes", f"{run['done']}/{run['episodes_total'] - run['not_played']}", border=True)
        show.resolved_metric(run)
        st.metric("Unresolved", run["unresolved"], border=True)
        st.metric(
            "Errors", f"{run['errors']} ({wording.percent(errors, 0)})", border=True, help="Rates leave them out."
        )
        st.metric("Cost", wording.usd(run["cost_usd"]), border=True)
        st.metric("Duration", wording.duration(run["wall_s"]), border=True)
    for regression in run["regressions"]:
        text = regression.get("sentence") or regression.get("what") or ""
        st.warning(
            show.escaped(text), icon=":material/trending_down:", title=show.escaped(regression.get("entrant", ""))
        )
    if board:
        show.scope(ask(queries.describe_scope, Scope(run=run_id)))
        of = Scope(
            benchmark=run["benchmark"],
            version=run["benchmark_digest"],
            conditions=run["conditions_digest"],
            series=run["series"] or None,
            last=10,
        )
        history = ask(queries.rate_history, of)
        leaderboard_table(
            board,
            key="overview_board",
            alt="Entrants of the latest run, best rank first",
            history=history,
            columns=["Rank", "Entrant", "Rate", "95% interval", "Sealed", "Last runs", "Tasks", "Episodes", "Errors"],
            height=show.table_height(len(board), 320),
        )
        show.csv_button(board, name=f"entrants_{run_id}", key="overview_board")
    changed(run_id)


def changed(run_id: int) -> None:
    """Draw what got better or worse according to a significant test."""
    st.subheader("Against the earlier runs of the series")
    rows = ask(queries.changes, run_id)
    if not rows:
        st.caption("The series has no earlier finished run with the same benchmark version and conditions.")
        return
    sure = [row for row in rows if row["sure"]]
    if sure:
        lines = [
            {
                "Entrant": row["entrant"],
                "Change": "better" if row["difference"] > 0 else "worse",
                "Points": 100 * row["difference"],
                "95% interval": wording.point_interval(row["ci_low"], row["ci_high"]),
                "Before": 100 * row["rate_before"],
                "Now": 100 * row["rate"],
                "p (Holm)": wording.p_value(row["p_value"]),
                "Tasks": row["tasks"],
                "Runs": f"{row['runs']} against {row['baseline']}",
            }
            for row in sure
        ]
        share = st.column_config.NumberColumn(format="%.1f%%")
        columns = {"Points": st.column_config.NumberColumn(format="%+.1f"), "Before": share, "Now": share}
        show.grid(lines, column_config=columns, alt="What got better or worse")
    calm = len(rows) - len(sure)
    text = f"{calm} of {count_of(len(rows), 'entrant')} without a clear change. " if calm else ""
    st.caption(
        f"{text}Paired by task with up to 10 earlier runs of the series that were not reported as worse. A change is "
        "clear if p < 0.05 after Holm's correction over the entrants."
    )
    show.csv_button(rows, name=f"changes_{run_id}", key="overview_changes")


def infrastructure() -> None:
    """Draw whether sandboxes, models and workers do their work."""
    health = ask(queries.health)
    st.subheader("Infrastructure")
    with st.container(horizontal=True):
        st.metric("Errors", f"{health['errors']} ({wording.percent(health['error_rate'], 1)})", border=True)
        st.metric("Retried", health["retried"], border=True, help="Number of retries.")
        st.metric(
            "Continued", health["interruptions"], border=True, help="Episodes that were interrupted and continued."
        )
        st.metric(
            "Stalled runs",
            len(health["stalled"]),
            border=True,
            help="Runs in progress without a heartbeat for a minute.",
        )
    of = "the newest run" if health["runs"] == 1 else f"the newest {count_of(health['runs'], 'run')}"
    st.caption(f"Of {of}, {count_of(health['done'], 'episode')}.")
    for run in health["stalled"]:
        message = f"Run {run['id']} ({show.escaped(run['name'])}) has sent no heartbeat for a while."
        st.warning(f"{message} To continue it: `stackrank resume {run['id']}`.", icon=":material/hourglass_disabled:")
    if health["reasons"]:
        lines = [
            {"What failed": row["what"], "Episodes": row["episodes"], "Newest": f"episode?id={row['example']}"}
            for row in health["reasons"]
        ]
        newest = st.column_config.LinkColumn(display_text=r"id=(\d+)$", help="Opens the newest one in a new tab.")
        show.grid(lines, column_config={"Newest": newest}, alt="The commonest errors")
        show.csv_button(health["reasons"], name="errors", key="overview_errors")


def ways() -> None:
    """Draw links to what people ask for most."""
    with st.container(horizontal=True, vertical_alignment="center"):
        show.link(TASKS_PAGE, "Where the debugger was decisive", "bug_report", tk_show="decisive")
        show.link(EPISODES_PAGE, "Episodes without a breakpoint", "search", ep_query="-breakpoint")
        for page in plugin_pages()[0].values():
            if page.notice and (notice := ask(page.notice)):
                show.link(str(page.file), notice, page.icon)


ENDED = [str(status) for status in RunStatus if status.ended]
finished = ask(queries.runs, status=ENDED, scheduled=True, limit=1) or ask(queries.runs, status=ENDED, limit=1)
newest = finished or ask(queries.runs, limit=1)
if finished:
    latest(finished[0]["id"])
    show.begin()
    ways()
elif not newest:
    show.empty("Nothing has been run yet. Start a run; it shows up here at once.")
going_on()
if newest:
    infrastructure()
