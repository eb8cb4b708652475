"""Who is better."""

from typing import Any

import streamlit as st

from dashboard import address, charts, show
from dashboard.data import ask
from dashboard.tables import BOARD_COLUMNS, board_frame

_LAST = {"All": None, "10": 10, "5": 5, "1": 1}

st.title("Leaderboard")


def scope() -> dict[str, Any]:
    """The filters, which live in the address."""
    known = ask("runs", limit=500)
    benchmarks = list(dict.fromkeys(run["benchmark"] for run in known))
    boards = sorted({run["leaderboard"] for run in known} - {""})
    tags = sorted({tag for run in known for tag in run["tags"]})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        benchmark = address.selectbox("Benchmark", benchmarks, "lb_benchmark", default=benchmarks[0], width=220)
        board = None
        if boards:
            board = address.selectbox("Leaderboard", boards, "lb_board", placeholder="Any", width=220)
        last = address.segmented("Last runs", list(_LAST), "lb_last", default="All")
        picked = address.multiselect("Tags", tags, "lb_tags", width=260) if tags else ()
    return {"benchmark": benchmark, "leaderboard": board, "tags": picked, "last": _LAST[last]}


def remember_pick() -> None:
    """Put the ticked entrants into the address."""
    picked = [rows[index]["entrant_id"] for index in st.session_state.lb_table.selection.rows if index < len(rows)]
    address.put(lb_pick=",".join(map(str, picked)))


def comparison(picked: list[int], options: dict[str, Any]) -> None:
    """Two entrants on the same tasks."""
    found = ask("compare", picked[0], picked[1], **options)
    with st.container(border=True):
        st.markdown(f":material/compare_arrows: **{show.escaped(found['sentence'])}**")
        if not found["tasks"]:
            return
        test = "exact McNemar test" if found["test"] == "mcnemar" else "permutation test within tasks"
        st.caption(f"Paired by task; bootstrap interval over tasks, {test}.")
        columns = st.columns(2)
        for column, side, other in ((columns[0], "first", "only_first"), (columns[1], "second", "only_second")):
            with column:
                st.markdown(f"Better on {len(found[other])} tasks: **{show.escaped(found[side]['entrant'])}**")
                st.text(", ".join(found[other]) or show.NOTHING)


if not ask("runs", limit=1):
    show.empty("No entrant has played yet. A leaderboard ranks the entrants of all runs of a benchmark.")
    st.stop()

options = scope()
rows: list[dict[str, Any]] = ask("leaderboard", **options)
if not rows:
    st.info("No episode matches these filters, or none has a verdict yet.", icon=":material/filter_alt_off:")
    st.stop()

ids = [row["entrant_id"] for row in rows]
wanted = [int(part) for part in st.query_params.get("lb_pick", "").split(",") if part.isdigit()]
ticked = [ids.index(one) for one in dict.fromkeys(wanted) if one in ids]
st.session_state.lb_table = {"selection": {"rows": ticked}}
history = ask("rate_history", **{**options, "last": options["last"] or 10})
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
if len(ticked) == 2:
    comparison([ids[index] for index in ticked], options)
else:
    st.caption("Tick two entrants to compare them on the tasks that both played.")

ranking, cost, failures, numbers = address.tabs(["Ranking", "Cost against rate", "Failure points", "Numbers"], "lb_tab")
if ranking.open:
    with ranking:
        st.plotly_chart(charts.ranking(rows), key="lb_ranking", alt="Rate of each entrant with its 95% interval")
if cost.open:
    with cost:
        unknown = [row["entrant"] for row in rows if row["cost_usd"] is None]
        if len(unknown) < len(rows):
            figure = charts.cost_against_rate(rows)
            st.plotly_chart(figure, key="lb_cost", alt="Cost of an episode against the rate of each entrant")
        if unknown:
            st.caption(f"Without a known price, so not shown: {show.escaped(', '.join(unknown))}")
if failures.open:
    with failures:
        points = ask("failure_points", **options)
        st.plotly_chart(charts.failure_bars(points), key="lb_failures", alt="Failure points of each entrant, in %")
        flat = show.flat_failures(points)
        show.table_and_csv(flat, name="failure_points", alt="Failure points of each entrant", key="lb_failures_table")
if numbers.open:
    with numbers:
        show.table_and_csv(rows, name="leaderboard", alt="Every number of the leaderboard", key="lb_numbers")
