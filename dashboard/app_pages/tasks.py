"""Every task by every entrant: who resolves it, how hard it is, where entrants disagree, what people dispute."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import columns as kinds
from stackrank.dashboard.parts import labels, show
from stackrank.dashboard.parts.matrix import entrants_of, matrix, told
from stackrank.dashboard.parts.scope import asked, query
from stackrank.dashboard.parts.tables import (
    EPISODE_PAGE,
    LEADERBOARD_PAGE,
    TASK_PAGE,
    TOOL_SETS_PAGE,
    leaderboard_table,
    pick,
)
from stackrank.db import queries
from stackrank.wording import count_of

_MOST_LINKS = 5
_SHOWN = {
    "all": "All",
    "decisive": "Resolved only with a debugger",
    "disputed": "Disputed",
    "suspect": "Suspected defect",
    "flaky": "Flaky",
}
_MEANING = (
    "Resolved only with a debugger: by none without one, and by a model that also played without. Disputed: people "
    "doubt the task. "
    "Suspected defect: its results contradict how able the entrants are. Flaky: resolved in only some attempts."
)
_ORDERS = {
    # Among equal spreads, first where entrants are most evenly divided.
    "disagreement": lambda row: (-row["spread"], abs((row["rate"] or 0.0) - 0.5), row["task"]),
    "hardest": lambda row: (row["rate"] is None, row["rate"] or 0.0, row["task"]),
}

st.title("Tasks")
scope, rows = asked(queries.grid)

with show.filters(), st.container(horizontal=True, vertical_alignment="bottom"):
    text = address.text_input("Task contains", "tk_text", width=220)
    categories = sorted({row["category"] for row in rows} - {""})
    category = address.multiselect("Category", categories, "tk_category", width=260) if categories else ()
    kind = address.segmented(
        "Show", list(_SHOWN), "tk_show", default="all", format_func=_SHOWN.__getitem__, help=_MEANING
    )
    order = address.segmented("Sort by", list(_ORDERS), "tk_order", default="disagreement", format_func=str.capitalize)
table = [
    row
    for row in sorted(rows, key=_ORDERS[order])
    if text.casefold() in f"{row['task']} {row['title']}".casefold()
    and (not category or row["category"] in category)
    and (kind == "all" or row["disputed_by" if kind == "disputed" else kind])  # type: ignore[literal-required]
]
disputed = [row for row in rows if row["disputed_by"]]
parts = {
    "decisive": ("resolved only with a debugger", sum(row["decisive"] for row in rows)),
    "suspect": ("with a suspected defect", sum(bool(row["suspect"]) for row in rows)),
    "disputed": ("disputed", len(disputed)),
}
# What is filtered is counted as such.
facts_of_all = [f"{number:,} {text}" for name, (text, number) in parts.items() if number and name != kind]
number_of_tasks = f"{len(table):,} of {count_of(len(rows), 'task')}"
if kind == "all":
    st.caption(f"{'; '.join([number_of_tasks, *facts_of_all])}.")
else:
    st.markdown(f"**{'; '.join([f'{_SHOWN[kind]}: {number_of_tasks}', *facts_of_all])}.**")

names = entrants_of(table)
frame = pd.DataFrame(
    {
        "Task": [row["task"] for row in table],
        "Spread": [row["spread"] for row in table],
        "Rate": [show.in_percent(row["rate"]) for row in table],
        "Episodes": [row["resolved"] + row["unresolved"] for row in table],
        "Flaky for": [row["flaky"] for row in table],
        "Errors": [row["errors"] for row in table],
        "Category": [row["category"] for row in table],
        "Difficulty": [row["difficulty"] for row in table],
        "Predicted": [(row["measured"] or {}).get("predicted") for row in table],
        "Disputed by": [", ".join(row["disputed_by"]) for row in table],
        "Suspected defect": [row["suspect"] for row in table],
    }
)
frame = show.telling(frame, "Category", "Difficulty", "Predicted", "Disputed by", "Suspected defect", "Errors")
_Column = st.column_config
columns = {
    "Task": _Column.TextColumn(pinned=True),
    "Spread": kinds.spread("Spread, points", help="Difference between the best and the worst entrant's rate."),
    "Rate": kinds.rate_bar(help="Share of resolved episodes, over all entrants."),
    "Predicted": kinds.mean(
        help="Difficulty from 0 to 8, measured by `stackrank validate` without a model. Empty: not measured."
    ),
    "Flaky for": kinds.count(help="Entrants that resolved it in only some attempts."),
}


def opened(row: Mapping[str, Any]) -> None:
    """Draw a link to the ticked task, and a button to dispute it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        label = f"Open task {show.escaped(row['task'])}"
        show.link(TASK_PAGE, label, id=row["task_id"])
        labels.dispute(row["task_id"], row["disputed_by"], key="tk_dispute")


def without_disputed() -> None:
    """Draw the leaderboard without the tasks that people dispute."""
    undisputed = replace(scope, without_disputed=True)
    with st.container(border=True):
        st.markdown(f"**Without the {count_of(len(disputed), 'disputed task')}**")
        board = ask(queries.leaderboard, undisputed)
        columns = ["Rank", "Entrant", "Rate", "95% interval", "Tasks", "Episodes", "Errors"]
        leaderboard_table(board, key="tk_rest", alt="Leaderboard without disputed tasks", columns=columns)
        show.link(LEADERBOARD_PAGE, "Leaderboard without disputed tasks", **query(undisputed))


def decisive() -> None:
    """Draw links to the first few traces in which the debugger was decisive."""
    for row in [row for row in table if row["decisive"]][:_MOST_LINKS]:
        for side in [side for side in row["cells"] if side["entrant_id"] in debugging[row["task"]]]:
            attempts = count_of(side["resolved"] + side["unresolved"], "attempt")
            told = f"resolved at {side['resolved']} of {attempts}, at none without its debugger"
            label = f"{row['task']}: {side['entrant']}, {told}"
            show.link(EPISODE_PAGE, show.escaped(label), "bug_report", id=side["episode"])


debugging: dict[str, list[int]] = {}
if kind == "decisive":
    debugging = ask(queries.decisive_tasks, scope)
    decisive()
    st.caption(
        "Named are entrants that also played the task without a debugger, with the same agent and model. With few "
        "attempts, some such tasks are chance."
    )
    show.link(TOOL_SETS_PAGE, "Does a debugger help over all tasks?", "build")
board = st.container()
# The CSV has a column for each entrant.
flat: list[dict[str, Any]] = []
for row in table:
    task_fields = {name: value for name, value in row.items() if name != "cells"}
    by_entrant: dict[str, str | None] = dict.fromkeys(names)
    flat.append({**task_fields, **by_entrant, **{side["entrant"]: told(side) for side in row["cells"]}})


def cells() -> None:
    """Draw the grid of tasks and entrants."""
    if table:
        # Where all tasks were resolved only with a debugger, none says it.
        matrix([{**row, "decisive": row["decisive"] and kind != "decisive"} for row in table], key="tk_grid")
        show.csv_button(flat, name="tasks", key="tk_grid")
    else:
        st.info("No task of this scope fits these filters.", icon=":material/filter_alt_off:")


def facts() -> None:
    """Draw the table of the tasks, each of which can be opened or disputed."""
    hint = "Tick a row to open the task here, or to dispute it. Its name opens it in a new tab."
    pick(flat, frame, columns, key="tk_table", name="tasks", alt="Tasks", hint=hint, opened=opened)


address.tabs("tk_tab", {"Grid": cells, "Table": facts})
if disputed and not scope.without_disputed:
    with board:
        without_disputed()
played = ask(queries.describe_scope, scope)
version = next((row for row in ask(queries.benchmarks) if row["digest"] == played["version"]), None)
if version and version["name"] == played["benchmark"] and version["rates"]:
    rates = "; ".join(wording.verdict_rates(version["rates"], version["digest"]))
    st.caption(f":material/gavel: Verdicts: {show.escaped(rates)}")
