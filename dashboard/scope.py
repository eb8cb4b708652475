"""The filters that say which episodes a page is about. They live in the address, under a prefix of the page's own."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import address, show
from dashboard.data import ask

_LAST = {"All": None, "10": 10, "5": 5, "1": 1}


def choose(prefix: str) -> dict[str, Any]:
    """Draw the filters and return what `db.queries.leaderboard` takes. Without a run, the page ends with a hint.

    A link may ask for one run (`PREFIX_run`); then the other filters are not there.
    """
    asked = st.query_params.get(f"{prefix}_run")
    if asked:
        run = ask("run", asked)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"Only run {run['id']}: **{show.escaped(run['name'])}**", width="content")
            clear = {f"{prefix}_run": None}
            st.button("All runs", icon=":material/close:", on_click=address.put, kwargs=clear, key=f"{prefix}_all")
        return {"run": run["id"]}
    known = ask("runs", limit=500)
    if not known:
        show.empty("No entrant has played yet. This page is about the runs of a benchmark.")
        st.stop()
    benchmarks = list(dict.fromkeys(run["benchmark"] for run in known))
    boards = sorted({run["leaderboard"] for run in known} - {""})
    tags = sorted({tag for run in known for tag in run["tags"]})
    with st.container(horizontal=True):
        benchmark = address.selectbox("Benchmark", benchmarks, f"{prefix}_benchmark", default=benchmarks[0], width=220)
        board = None
        if boards:
            board = address.selectbox("Leaderboard", boards, f"{prefix}_board", placeholder="Any", width=220)
        last = address.segmented("Last runs", list(_LAST), f"{prefix}_last", default="All")
        picked = address.multiselect("Tags", tags, f"{prefix}_tags", width=260) if tags else ()
    return {"benchmark": benchmark, "leaderboard": board, "tags": picked, "last": _LAST[last]}


def asked(prefix: str, question: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Draw the filters and ask about them: the scope and the answer. Without an answer the page ends with a hint."""
    options = choose(prefix)
    rows = ask(question, **options)
    if not rows:
        st.info("No episode matches these filters, or none has a verdict yet.", icon=":material/filter_alt_off:")
        st.stop()
    return options, rows


def query(prefix: str, options: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a link to a page with another prefix that is about the same episodes."""
    if "run" in options:
        return {f"{prefix}_run": str(options["run"])}
    values = {"benchmark": options["benchmark"], "board": options["leaderboard"], "tags": list(options["tags"])}
    values["last"] = None if options["last"] is None else str(options["last"])
    return {f"{prefix}_{name}": value for name, value in values.items() if value}
