"""How far episodes come, and where they first go wrong."""

from typing import Any

import streamlit as st

from dashboard import address, charts, scope, show
from dashboard.data import ask
from dashboard.tables import EPISODE_PAGE, EPISODES_PAGE

# As `db.queries.funnel` has them; a page asks for nothing but answers.
STAGES = ("reproduced", "localized", "inspected", "edited", "improved", "resolved")

st.title("Failure points")
options = scope.choose("fp")
points: list[dict[str, Any]] = ask("failure_points", **options)
if not points:
    st.info("No episode matches these filters, or none has a verdict yet.", icon=":material/filter_alt_off:")
    st.stop()


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
    """Why episodes failed; a click on a part leads to its episodes."""
    event = st.plotly_chart(
        charts.failure_bars(points),
        key="fp_bars",
        on_select="rerun",
        selection_mode="points",
        alt="How the episodes of each entrant ended, in %",
    )
    present = sorted({name for row in points for name in row["failure_points"]})
    names = [row["entrant"] for row in points]
    clicked = [point["customdata"] for point in event.selection.points[:1]]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        entrant = address.selectbox("Entrant", list(dict.fromkeys(names)), "fp_entrant", placeholder="Any", width=320)
        point = address.selectbox(
            "Failure point", present, "fp_point", placeholder="Any", format_func=show.words, width=240
        )
    if clicked:
        entrant, point = clicked[0][0], clicked[0][1] or None
    if clicked or entrant or point:
        examples(entrant, point)
    flat = show.flat_failures(points)
    show.table_and_csv(flat, name="failure_points", alt="Failure points of each entrant", key="fp_bars_table")


def examples(entrant: str | None, point: str | None) -> None:
    """The newest episodes of an entrant with this failure point."""
    stored = None if point == "unknown" else point
    filters = {"entrant": entrant, "failure_point": stored, "verdict": "unresolved" if point else "resolved"}
    rows = ask("episodes", options.get("run"), **filters, newest_first=True, limit=5)
    what = f"{show.escaped(entrant or 'all entrants')}, {show.words(point or 'resolved')}"
    with st.container(border=True):
        st.markdown(f"Newest examples: **{what}**")
        for row in rows:
            label = f"{show.escaped(row['task'])}, attempt {row['attempt']}, {row['steps']} steps"
            step = {} if row["failure_step"] is None else {"step": str(row["failure_step"])}
            link = {"id": str(row["id"]), **step}
            st.page_link(EPISODE_PAGE, label=label, icon=":material/arrow_forward:", query_params=link)
        if not rows:
            st.caption("There is none.")
        query = {"ep_verdict": filters["verdict"], "ep_failure": stored, "ep_entrant": entrant}
        query |= {"ep_run": str(options["run"]) if "run" in options else None}
        wanted = {name: value for name, value in query.items() if value}
        st.page_link(EPISODES_PAGE, label="All of them", icon=":material/list_alt:", query_params=wanted)


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
