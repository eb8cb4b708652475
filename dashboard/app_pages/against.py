"""Two runs: who became better or worse, and on which tasks."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard import address, charts
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import cards, columns, show
from stackrank.dashboard.parts.tables import DIVERGE_PAGE, EPISODE_PAGE, RUN_PAGE, RUNS_PAGE, pick
from stackrank.db import queries
from stackrank.db.queries.explanation.findings import Cause
from stackrank.wording import count_of

Row = TypeVar("Row", bound=Mapping[str, Any])
_PAGES = {"episode": EPISODE_PAGE, "run": RUN_PAGE}
# From which strength on a cause is called what.
_LEAST = 0.25
_LIKELY = ((0.6, "likely"), (_LEAST, "possible"), (0.0, "unlikely"))

refs = [st.query_params.get(side, "").strip() for side in ("a", "b")]
if not all(refs):
    show.which("Run against run", "Which two runs? Tick them in the list of runs.", RUNS_PAGE, "Runs", "play_circle")
explained = ask(queries.explain_night, *refs)
comparison = explained["pair"]
older, newer = (ask(queries.run, comparison[side]) for side in ("first", "second"))
title = " against ".join(wording.run_name(run["name"], run["id"]) for run in (newer, older))
show.titled(title)
show.breadcrumb(
    (RUNS_PAGE, "Runs", {}),
    *((RUN_PAGE, show.escaped(wording.run_name(run["name"], run["id"])), {"id": run["id"]}) for run in (older, newer)),
)
st.title(show.escaped(title), anchor=False)
with st.container(border=True):
    st.markdown(f":material/compare_arrows: **{show.escaped(explained['difference'])}**")
    if explained["why"]:
        st.markdown(show.escaped(f"{explained['why']} {explained['fails']}"))
    if comparison["apart"]:
        st.warning(show.escaped(comparison["apart"]), icon=":material/warning:")
    if comparison["entrants"]:
        st.caption(
            "Paired by task, over the tasks that have a verdict in both runs, each with the same weight; p-values are "
            f"corrected (Holm) for {count_of(len(comparison['entrants']), 'entrant')}."
        )


def _runs(ids: Sequence[int]) -> str:
    if list(ids) == [older["id"]]:
        return show.escaped(wording.run_name(older["name"], older["id"]))
    return f"{count_of(len(ids), 'run')}, #{ids[0]} to #{ids[-1]}"


def draw_cause(cause: Cause) -> None:
    """Draw a possible cause with the sentences and links that are its evidence."""
    likely = next(word for least, word in _LIKELY if cause["strength"] >= least)
    with st.container(border=True, gap="small"):
        title = wording.words(cause["kind"]).capitalize()
        lines = [f"**{show.escaped(title)}** · {likely}, for {show.escaped(', '.join(cause['entrants']))}"]
        st.markdown("  \n".join([*lines, *map(show.escaped, cause["sentences"])]))
        with st.container(horizontal=True):
            for link in cause["links"]:
                show.link(_PAGES[link["page"]], show.escaped(link["label"]), None, **link["query"])


def causes() -> None:
    """Draw what may have made the newer run worse, the likeliest first."""
    st.subheader("What changed", anchor=False)
    likely = [cause for cause in explained["causes"] if cause["strength"] >= _LEAST]
    unlikely = explained["causes"][len(likely) :]
    for cause in likely:
        draw_cause(cause)
    if unlikely:
        names = ", ".join(wording.words(cause["kind"]) for cause in unlikely)
        with st.expander(show.escaped(f"Unlikely: {names}"), expanded=not likely):
            for cause in unlikely:
                draw_cause(cause)
    st.caption(
        f"Compared with {_runs(explained['baseline'])}. Causes are ordered "
        "by the usual effect of such a change, and by how much of the loss the traces show."
    )


def entrants() -> None:
    """Draw by how much each entrant became better or worse."""
    rows = comparison["entrants"]
    st.subheader("By entrant", anchor=False)
    table, figure = cards.beside((5, 3))
    with table:
        show.grid(
            [
                {
                    "Entrant": row["entrant"],
                    "Before": row["rate_before"],
                    "Now": row["rate"],
                    "Points": row["difference"],
                    "95% interval": wording.point_interval(row["holm_low"], row["holm_high"]),
                    "p (Holm)": row["p_value"],
                    "Tasks": row["tasks"],
                    "Less often": row["worse"],
                    "More often": row["better"],
                }
                for row in rows
            ],
            about=rows,
            column_config={
                "Before": columns.share(),
                "Now": columns.share(),
                "Points": columns.points(),
                "95% interval": columns.corrected_interval(),
                "p (Holm)": columns.p_value(),
                "Less often": columns.count(help="Tasks that it resolves less often now."),
                "More often": columns.count(help="Tasks that it resolves more often now."),
            },
            alt="Entrants of both runs, the greatest loss first",
        )
        show.csv_button(rows, name="run_pair", key="against_entrants")
    marked = [{**row, "label": row["entrant"], "p_holm": row["p_value"]} for row in rows]
    with figure:
        alt = "Difference of each entrant, with its 95% interval"
        charts.draw(charts.forest(marked, "before", "now"), key="against_forest", alt=alt)


if comparison["entrants"]:
    entrants()
if explained["causes"]:
    causes()
if not comparison["entrants"]:
    st.stop()


def opened(row: Mapping[str, Any]) -> None:
    """Draw a link to both traces, to see what the agent did differently."""
    label = f"Both traces of {show.escaped(row['task'])} by {show.escaped(row['entrant'])}, side by side"
    show.link(DIVERGE_PAGE, label, "fork_right", a=row["episode_before"], b=row["episode"])


def of_entrant(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the entrant that is chosen, or all of them."""
    return [row for row in rows if entrant in (None, row["entrant"])]


def flips(heading: str, rows: Sequence[Mapping[str, Any]], key: str) -> None:
    """Draw the tasks whose result changed, one of which can be opened."""
    st.subheader(f"{heading}: {count_of(len(rows), 'task result')}", anchor=False)
    if not rows:
        return
    frame = pd.DataFrame(
        {
            "Task": [row["task"] for row in rows],
            "Entrant": [row["entrant"] for row in rows],
            "Before": [row["before"] for row in rows],
            "Now": [row["now"] for row in rows],
            **({"Newest failing episode": [row["fails"] for row in rows]} if "fails" in rows[0] else {}),
        }
    )
    both = {"Task": [address.to("diverge", a=row["episode_before"], b=row["episode"]) for row in rows]}
    looks = {"Task": st.column_config.TextColumn(help="Opens both traces side by side in a new tab.")}
    hint = "Tick a task to see its two traces side by side. Its name opens them in a new tab."
    pick(rows, frame, looks, key=key, name=key, alt=heading, hint=hint, links=both, opened=opened)


names = sorted({row["entrant"] for row in (*explained["tasks"], *comparison["better"])})
entrant = None
if len(names) > 1:
    entrant = address.selectbox("Tasks of", names, "ag_entrant", placeholder="All entrants", width=320)
less_often, more_often = st.columns((3, 2))
with less_often:
    flips("Resolved less often", of_entrant(explained["tasks"]), "resolved_less_often")
with more_often:
    flips("Resolved more often", of_entrant(comparison["better"]), "resolved_more_often")
