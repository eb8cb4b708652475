"""Two entrants on the same tasks."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import address, charts, scope, show
from dashboard.data import ask
from dashboard.tables import DIVERGE_PAGE, EPISODE_PAGE, TASK_PAGE, pick

_MOST = 4

st.title("Compare")
options = scope.choose("cmp")
board: list[dict[str, Any]] = ask("leaderboard", **options)
if len(board) < 2:
    show.empty("A comparison needs two entrants on the same tasks.", "stackrank run deploy/examples/demo.yaml")
    st.stop()
names = {row["entrant_id"]: row["entrant"] for row in board}
picked = address.picked("cmp_pick", list(names))[:_MOST]
if len(picked) < 2:
    # The two best that are not given.
    picked = [*picked, *(one for one in names if one not in picked)][:2]


def remember() -> None:
    """Put the chosen entrants into the address."""
    address.put(cmp_pick=",".join(map(str, st.session_state.cmp_entrants)), cmp_pair=None)


st.session_state.cmp_entrants = picked
st.multiselect(
    "Entrants, two to four",
    list(names),
    key="cmp_entrants",
    format_func=lambda one: names[one],
    max_selections=_MOST,
    on_change=remember,
)
pairs: list[dict[str, Any]] = ask("compare_all", picked, **options)
labels = [f"{row['second']['entrant']} against {row['first']['entrant']}" for row in pairs]
if len(pairs) > 1:
    overview = [
        {
            "Pair": label,
            "Points": None if row["difference"] is None else 100 * row["difference"],
            "95% interval": show.point_interval(row),
            "Relative uplift": show.uplift(row),
            "p (Holm)": show.p_value(row["p_holm"]),
            "Tasks": row["tasks"],
            "Detectable": None if row["detectable"] is None else 100 * row["detectable"],
        }
        for label, row in zip(labels, pairs, strict=True)
    ]
    st.dataframe(
        overview,
        hide_index=True,
        column_config={
            "Points": st.column_config.NumberColumn(format="%+.1f"),
            "Detectable": st.column_config.NumberColumn(
                format="%.1f", help="The smallest true difference that this many tasks find with 80% power, in points."
            ),
        },
        alt="Every pair of the chosen entrants",
    )
    show.csv_button([show.flat_pair(row) for row in pairs], name="compare", key="cmp_pairs")
    chosen = address.selectbox("Pair", labels, "cmp_pair", default=labels[0])
    found = pairs[labels.index(chosen or labels[0])]
else:
    found = pairs[0]
first, second = found["first"], found["second"]

with st.container(border=True):
    st.markdown(f":material/compare_arrows: **{show.escaped(found['sentence'])}**")
    if found["tasks"]:
        test = "exact McNemar test" if found["test"] == "mcnemar" else "permutation test within tasks"
        holm = f"; p after Holm's correction for {len(pairs)} pairs: {show.p_value(found['p_holm'])}"
        st.caption(
            f"Paired by task, each task with the same weight; bootstrap interval over tasks, {test}"
            f"{holm if len(pairs) > 1 else ''}."
        )
if not found["tasks"]:
    st.stop()

for column, row, better in zip(st.columns(2), (first, second), ("only_first", "only_second"), strict=True):
    with column, st.container(border=True):
        st.markdown(f"**{show.escaped(row['entrant'])}**")
        with st.container(horizontal=True):
            interval = show.interval(row["ci_low"], row["ci_high"])
            st.metric("Resolved", show.percent(row["rate"], 1), interval, delta_color="off", delta_arrow="off")
            st.metric("Better on", f"{len(found[better])} tasks")
            st.metric("Cost per resolved", show.usd(row["cost_per_resolved"]))
            st.metric("Steps", f"{row['steps_mean']:.1f}")
        counted = row["resolved"] + row["unresolved"]
        st.caption(f"{counted} episodes on {row['tasks']} tasks, {row['errors']} errors beside them")


def traces(task: dict[str, Any]) -> None:
    """The ways to a task, and to the newest trace of either entrant."""
    with st.container(horizontal=True):
        st.page_link(TASK_PAGE, label="Task", icon=":material/task:", query_params={"id": str(task["task_id"])})
        newest = []
        for side in (first, second):
            which = {"entrant_id": side["entrant_id"], "task": task["task"], "run": options.get("run")}
            newest += ask("episodes", **which, verdict=["resolved", "unresolved"], newest_first=True, limit=1)
        if len(newest) == 2:
            both = dict(zip("ab", (str(one["id"]) for one in newest), strict=True))
            label, icon = "The two traces side by side", ":material/fork_right:"
            st.page_link(DIVERGE_PAGE, label=label, icon=icon, query_params=both)
        for one in newest:
            label, to = f"Trace of {show.escaped(one['entrant'])}", {"id": str(one["id"])}
            st.page_link(EPISODE_PAGE, label=label, icon=":material/arrow_forward:", query_params=to)


def tasks() -> None:
    """Every task that both played; one of them opens its traces."""
    kinds = {
        "second": (f"{second['entrant']} better", set(found["only_second"])),
        "first": (f"{first['entrant']} better", set(found["only_first"])),
        "flaky": ("Flaky", set(found["flaky"])),
        "all": ("All", {row["task"] for row in found["by_task"]}),
    }
    texts = {name: f"{show.escaped(label)} ({len(members)})" for name, (label, members) in kinds.items()}
    kind = address.segmented("Show", list(kinds), "cmp_show", default="all", format_func=lambda name: texts[name])
    shown = [row for row in found["by_task"] if row["task"] in kinds[kind][1]]
    frame = pd.DataFrame(
        {
            "Task": [row["task"] for row in shown],
            "Category": [row["category"] for row in shown],
            "Difficulty": [row["difficulty"] for row in shown],
            first["entrant"]: [f"{row['first_resolved']} of {row['first_counted']}" for row in shown],
            second["entrant"]: [f"{row['second_resolved']} of {row['second_counted']}" for row in shown],
            "Difference": [100 * row["difference"] for row in shown],
            "Flaky": ["flaky" if row["flaky"] else "" for row in shown],
        }
    )
    columns = {"Difference": st.column_config.NumberColumn(format="%+.0f")}
    hint = "Tick a task to open its two traces."
    alt = "Tasks that both played"
    pick(shown, frame, columns, key="cmp_tasks", name="compare_tasks", alt=alt, hint=hint, opened=traces)


def categories() -> None:
    """The difference in each category of tasks."""
    by_category = ask("compare_categories", first["entrant_id"], second["entrant_id"], **options)
    rows = [{"label": row["category"] or "none", **row} for row in by_category]
    total = {name: found[name] for name in ("difference", "ci_low", "ci_high", "p_value", "tasks")}
    everything = {"label": "all tasks", "category": "all tasks", "p_holm": None, **total}
    figure = charts.forest([*rows, everything], first["entrant"], second["entrant"])
    st.plotly_chart(figure, key="cmp_forest", alt="Difference in each category with its 95% interval")
    flat = [{name: value for name, value in row.items() if name != "label"} for row in (*rows, everything)]
    lines = [
        {
            "Category": row["category"],
            "Tasks": row["tasks"],
            "Points": 100 * row["difference"],
            "95% interval": show.point_interval(row),
            "p": show.p_value(row["p_value"]),
            "p (Holm)": show.p_value(row["p_holm"]),
        }
        for row in flat
    ]
    points = {"Points": st.column_config.NumberColumn(format="%+.1f")}
    st.dataframe(lines, hide_index=True, column_config=points, alt="Difference by category")
    show.csv_button(flat, name="compare_categories", key="cmp_categories")
    st.caption("A filled mark: the interval leaves 0 out. p (Holm) is corrected for the number of categories.")


def settings() -> None:
    """The settings in which the two differ."""
    differs = found["differs"]
    if differs:
        lines = [{"Setting": name, "1": str(a), "2": str(b)} for name, (a, b) in differs.items()]
        heads = {"1": first["entrant"], "2": second["entrant"]}
        st.dataframe(lines, hide_index=True, column_config=heads, alt="Settings in which the two differ")
        flat = [{"setting": name, "first": a, "second": b} for name, (a, b) in differs.items()]
        show.csv_button(flat, name="compare_settings", key="cmp_settings")
    else:
        st.caption("Agent, version, model, tools and configuration are the same.")


address.tabs("cmp_tab", {"Tasks": tasks, "By category": categories, "What differs": settings})
