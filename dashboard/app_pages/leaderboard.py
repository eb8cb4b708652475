"""Who is better."""

import streamlit as st

from dashboard import address, charts, scope, show
from dashboard.data import ask
from dashboard.tables import BOARD_COLUMNS, COMPARE_PAGE, board_frame

_MOST = 4

st.title("Leaderboard")


def remember_pick() -> None:
    """Put the ticked entrants into the address."""
    picked = [rows[index]["entrant_id"] for index in st.session_state.lb_table.selection.rows if index < len(rows)]
    address.put(lb_pick=",".join(map(str, picked)))


def comparison(picked: list[int]) -> None:
    """Lead to the comparison of the ticked entrants; two are compared here already."""
    if len(picked) == 2:
        found = ask("compare", *picked, **options)
        st.markdown(f":material/compare_arrows: **{show.escaped(found['sentence'])}**")
    st.page_link(
        COMPARE_PAGE,
        label=f"Compare these {len(picked)} task by task",
        icon=":material/arrow_forward:",
        query_params={"cmp_pick": ",".join(map(str, picked)), **scope.query("cmp", options)},
    )


options, rows = scope.asked("lb", "leaderboard")

ids = [row["entrant_id"] for row in rows]
ticked = address.picked("lb_pick", ids)
st.session_state.lb_table = {"selection": {"rows": [ids.index(one) for one in ticked]}}
history = ask("rate_history", **({**options, "last": options["last"] or 10} if "last" in options else options))
st.dataframe(
    board_frame(rows, history),
    hide_index=True,
    column_config=BOARD_COLUMNS,
    key="lb_table",
    on_select=remember_pick,
    selection_mode="multi-row",
    placeholder=show.NOTHING,
    height="content",
    alt="Leaderboard: a row per entrant, best rate first",
)
with st.container(border=True):
    if 2 <= len(ticked) <= _MOST:
        comparison(ticked)
    else:
        st.caption("Tick two to four entrants to compare them on the tasks that all of them played.")


def ranking() -> None:
    """Rates with their intervals."""
    st.plotly_chart(charts.ranking(rows), key="lb_ranking", alt="Rate of each entrant with its 95% interval")
    st.caption("Entrants whose intervals overlap share ranks. The table above has the same numbers.")


def cost() -> None:
    """What an episode costs against what it achieves."""
    unknown = [row["entrant"] for row in rows if row["cost_usd"] is None]
    if any(row["cost_usd"] for row in rows):
        figure = charts.cost_against_rate(rows)
        st.plotly_chart(figure, key="lb_cost", alt="Cost of an episode against the rate of each entrant")
        names = ("entrant", "rate", "cost_usd", "cost_per_resolved", "cost_per_resolved_low")
        flat = [{name: row[name] for name in (*names, "cost_per_resolved_high")} for row in rows]
        show.table_and_csv(flat, name="cost", alt="Cost and rate of each entrant", key="lb_cost_table")
    else:
        st.info("No entrant has a known cost above zero.", icon=":material/money_off:")
    if unknown:
        st.caption(f"Without a known price, so not shown: {show.escaped(', '.join(unknown))}")


def budget() -> None:
    """What is resolved with how much."""
    against = address.segmented("Against", ["steps", "cost"], "lb_by", default="steps")
    by = "cost_usd" if against == "cost" else "steps"
    curves = ask("budget_curves", by, **options)
    if any(row["curve"] for row in curves):
        figure = charts.budget_curves(curves, by)
        st.plotly_chart(figure, key="lb_budget", alt=f"Share resolved against the {by} of an episode")
        flat = [
            {"entrant": row["entrant"], "counted": row["counted"], by: x, "rate": y}
            for row in curves
            for x, y in row["curve"]
        ]
        with st.expander("Numbers"):
            show.table_and_csv(flat, name=f"budget_{by}", alt="Points of the budget curves", key="lb_budget_table")
    else:
        st.info("No entrant has a known cost.", icon=":material/money_off:")


def reliability() -> None:
    """What further attempts help, and how often all hold."""
    found = ask("reliability", **options)
    if max((row["k"] for row in found), default=0) > 1:
        st.plotly_chart(charts.reliability(found), key="lb_reliability", alt="pass@k and all-k over k")
    else:
        st.info("Every task was attempted once. `attempts: 3` in a specification asks for more.")
    show.table_and_csv(found, name="reliability", alt="pass@k and all-k", key="lb_reliability_table")
    st.caption(
        "Unbiased estimates over the tasks with at least k attempts: at least one of k resolves the task (pass@k), "
        "or every one of k does."
    )


def numbers() -> None:
    """All of it as a table."""
    show.table_and_csv(rows, name="leaderboard", alt="Every number of the leaderboard", key="lb_numbers")


address.tabs(
    "lb_tab",
    {"Ranking": ranking, "Cost against rate": cost, "Budget": budget, "Reliability": reliability, "Numbers": numbers},
)
