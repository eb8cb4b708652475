"""How the episodes of entrants ended, and examples of each end."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import address, charts, show
from dashboard.data import ask
from dashboard.tables import EPISODE_PAGE, EPISODES_PAGE


def bars(prefix: str, points: list[dict[str, Any]], options: dict[str, Any]) -> None:
    """Rows of `failure_points` with these options; a click on a part of a bar leads to its episodes.

    The choice lives in the address under `prefix`.
    """
    event = st.plotly_chart(
        charts.failure_bars(points),
        key=f"{prefix}_bars",
        on_select="rerun",
        selection_mode="points",
        alt="How the episodes of each entrant ended, in %",
    )
    present = sorted({name for row in points for name in row["failure_points"]})
    names = list(dict.fromkeys(row["entrant"] for row in points))
    clicked = [point["customdata"] for point in event.selection.points[:1]]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        entrant = address.selectbox("Entrant", names, f"{prefix}_entrant", placeholder="Any", width=320)
        point = address.selectbox(
            "Failure point", present, f"{prefix}_point", placeholder="Any", format_func=show.words, width=240
        )
    if clicked:
        entrant, point = clicked[0][0], clicked[0][1] or None
    if clicked or entrant or point:
        _examples(entrant, point, options)
    flat = _flat(points)
    show.table_and_csv(flat, name="failure_points", alt="Failure points of each entrant", key=f"{prefix}_bars_table")


def _examples(entrant: str | None, point: str | None, options: dict[str, Any]) -> None:
    """The newest episodes of an entrant with this failure point."""
    rows = ask("examples", point, entrant=entrant, **options)
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
        query = {"ep_verdict": "unresolved" if point else "resolved", "ep_failure": point, "ep_entrant": entrant}
        wanted = {name: str(value) for name, value in {**query, "ep_run": options.get("run")}.items() if value}
        label = "All of them" if "run" in options else "All of them, of every run"
        st.page_link(EPISODES_PAGE, label=label, icon=":material/list_alt:", query_params=wanted)


def _flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of `failure_points` with a column for each that occurs."""
    names = sorted({name for row in rows for name in row["failure_points"]})
    return [
        {key: value for key, value in row.items() if key != "failure_points"}
        | {name: row["failure_points"].get(name, 0) for name in names}
        for row in rows
    ]
