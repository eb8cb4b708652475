"""Through time: the values of a local variable over the steps, and the steps that stopped at a line or edited it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard import address, show
from stackrank.dashboard.data import ask
from stackrank.dashboard.trace.files import plain_path
from stackrank.db import queries

_MOST_BUTTONS = 12


def values(episode: Mapping[str, Any], selected: int) -> None:
    """A local variable at every step that told it; a row leads to its step."""
    told = [row for row in ask(queries.pauses, episode["id"]) if row["locals"]]
    names = sorted({name for row in told for name in row["locals"]})
    if not names:
        return
    label = "A local variable over the steps"
    name = address.selectbox(label, names, "step_local", placeholder="Choose one", format_func=wording.visible)
    if name is None:
        return
    rows = spans(told, name)
    frame = pd.DataFrame(
        {
            "": ["▶" if row["first"] <= selected <= row["last"] else "" for row in rows],
            "Steps": [f"{r['first']}–{r['last']}" if r["last"] > r["first"] else str(r["first"]) for r in rows],
            "Function": [row["function"] for row in rows],
            "Value": [row["value"] for row in rows],
        }
    )
    key = f"travel_{episode['id']}_{names.index(name)}"

    def chosen() -> None:
        if picked := st.session_state[key].selection.rows:
            address.put(step=rows[picked[0]]["first"])

    st.session_state[key] = {"selection": {"rows": []}}
    show.grid(
        frame,
        key=key,
        on_select=chosen,
        selection_mode="single-row",
        height=show.table_height(len(rows), 320),
        alt="Values over the steps",
    )


def spans(told: Sequence[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    """A local's values in order: first and last step of each, as long as value and function stay."""
    found: list[dict[str, Any]] = []
    for row in told:
        if name not in row["locals"]:
            continue
        value = {"function": row["function"], "value": row["locals"][name]}
        if found and {key: found[-1][key] for key in value} == value:
            found[-1]["last"] = row["index"]
        else:
            found.append({"first": row["index"], "last": row["index"], **value})
    return found


def line_history(episode: Mapping[str, Any], selected: int, path: str, line: int) -> None:
    """Buttons to the steps that stopped at a line or edited it, the nearest ones where they are many."""
    rows = ask(queries.pauses, episode["id"])
    stops = {row["index"] for row in rows if row["line"] == line and plain_path(row["file"]) == path}
    edits = {
        row["index"]
        for row in rows
        if row["lines"] and plain_path(row["edited"]) == path and row["lines"][0] <= line <= row["lines"][-1]
    }
    near = sorted(sorted(stops | edits, key=lambda step: abs(step - selected))[:_MOST_BUTTONS])
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        counts = f"{len(stops)} stops" + (f", {len(edits)} edits" if edits else "")
        st.caption(
            f"Line {line}: {counts}" + ("; the nearest" if len(near) < len(stops | edits) else ""), width="content"
        )
        for step in near:
            icon = ":material/edit:" if step in edits else None
            label, key = f"Step {step}", f"travel_line_{step}"
            here = step == selected
            st.button(
                label, key=key, icon=icon, disabled=here, type="tertiary", on_click=address.put, kwargs={"step": step}
            )
