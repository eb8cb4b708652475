"""What tools are worth, above all a debugger."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard import address, charts
from stackrank.dashboard.charts import paper
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import cards, columns, effort, show
from stackrank.dashboard.parts.scope import shown
from stackrank.dashboard.parts.tables import COMPARE_PAGE
from stackrank.db import queries
from stackrank.db.connection.errors import RUN_COMMAND
from stackrank.db.queries.boards.tool_worth import ToolWorth
from stackrank.db.queries.comparisons.compare import Comparison
from stackrank.wording import count_of

# The most tasks of a pair that are named; the comparison task by task has all of them.
_MOST_LINKS = 30

st.title("Tool sets")
scope = shown()
with show.filters(), st.container(horizontal=True):
    if tags := ask(queries.task_tags, scope):
        tag = address.selectbox("Tasks tagged", tags, "ts_tag", placeholder="All tasks", width=220)
        scope = replace(scope, task_tag=tag or "")
    board = ask(queries.leaderboard, scope)
    tool_sets = list(dict.fromkeys(row["tools"] for row in board))
    base = address.selectbox("Compare with", tool_sets, "ts_base", placeholder="Fewer tools", width=220)
    model_names = [name for name in dict.fromkeys(row["model"] for row in board) if name]
    models = address.multiselect("Models", model_names, "ts_models", width=420) if len(model_names) > 1 else ()


def worth() -> None:
    """Draw the tool sets of each agent and model side by side, on the same tasks."""
    st.subheader("What tools are worth")
    pairs = ask(queries.tool_sets, scope, base=base or "", models=tuple(models))
    if not pairs:
        why = "No agent and model has verdicts with two different sets of tools on the same tasks."
        show.empty(why, f"{RUN_COMMAND} --tools rewrite --tools debug")
        return
    lines = ask(queries.side_by_side, pairs, scope)
    compared = [row for row in lines if row["base"]]
    if len(pairs) > 1:
        st.markdown(f"**{show.escaped(queries.tools_headline(pairs))}**")
        numbers, figure = cards.beside()
        with numbers, cards.folded("All numbers"):
            _differences(compared)
    else:
        numbers, figure = st.columns(2)
        with numbers:
            show.comparison(pairs[0])
    with figure:
        _figure(compared)
    st.caption(
        "Paired by task; only the tools differ. Intervals and p-values are corrected (Holm) for the "
        f"{count_of(pairs[0]['family'], 'pair')} of the leaderboard."
    )
    _pair(pairs, ask(queries.tool_worth, pairs, scope))
    if not cards.are_needed():  # else the fold has that name
        st.markdown("**Each tool set by itself**")
    with cards.folded("Each tool set by itself"):
        _table(lines)
        show.csv_button(lines, name="tool_sets", key="ts_pairs")


def _differences(lines: Sequence[Mapping[str, Any]]) -> None:
    """Show each tool set's difference to the one that it is compared with."""
    table = [
        {
            "Model": row["model"] or row["agent"],
            "Tool set": row["tools"],
            "Compared with": row["base"],
            "Points": row["difference"],
            "95% interval": wording.point_interval(row["difference_low"], row["difference_high"]),
            "p (Holm)": row["p_holm"],
            "Gained tasks": row["gained"],
            "Lost tasks": row["lost"],
        }
        for row in lines
    ]
    show.grid(
        table,
        column_config={
            "Points": columns.points(),
            "95% interval": columns.corrected_interval(),
            "p (Holm)": columns.p_value(),
            "Gained tasks": columns.count("Gained", help="Tasks on which it does better than the other."),
            "Lost tasks": columns.count("Lost", help="Tasks on which it does worse than the other."),
        },
        alt="Difference of each tool set to the one that it is compared with",
    )


def _figure(lines: Sequence[Mapping[str, Any]]) -> None:
    """Draw each tool set's difference to the one that it is compared with."""
    models = [row["model"] or row["agent"] for row in lines]
    has_own_model = len(set(models)) == len(models)
    marked = [
        {
            "label": model if has_own_model else f"{model} · {row['tools']} − {row['base']}",
            "tasks": row["tasks"],
            "difference": row["difference"],
            "holm_low": row["difference_low"],
            "holm_high": row["difference_high"],
            "p_holm": row["p_holm"],
        }
        for model, row in zip(models, lines, strict=True)
    ]
    sides = (base, "other set") if base else ("fewer tools", "more tools")
    alt = "Difference of each tool set, with its 95% interval"
    charts.draw(charts.forest(marked, *sides), key="ts_forest", alt=alt)
    drawing = partial(paper.differences, marked, base or "the tool set with fewer tools")
    show.paper_button(drawing, name="tool_sets", key="ts")


def _table(lines: Sequence[Mapping[str, Any]]) -> None:
    """Show what each tool set resolves and takes."""
    several_agents = len({row["agent"] for row in lines}) > 1
    table = [
        {
            "Model": row["model"],
            "Agent": row["agent"],
            "Tool set": row["tools"],
            "Rate": row["rate"],
            "95% interval": wording.interval(row["ci_low"], row["ci_high"]),
            "Steps": row["steps_mean"],
            "Tokens": row["tokens_mean"],
            "Cost": row["cost_per_episode"],
            "Cost per resolved": row["cost_per_resolved"],
            "Tasks": row["tasks"],
            "Episodes": row["episodes"],
            "Errors": row["errors"],
        }
        for row in lines
    ]
    frame = pd.DataFrame(table)
    if not several_agents and frame["Model"].all():
        frame = frame.drop(columns="Agent")
    show.grid(
        frame,
        links={"Tool set": [address.to("episodes", ep_entrant=row["entrant"]) for row in lines]},
        column_config={
            "Rate": columns.share(),
            "Steps": columns.mean(help="Mean per episode, resolved or not."),
            "Tokens": columns.count("Tokens per episode", help="Input and output, including those of a subagent."),
            "Cost": columns.dollars("Cost per episode", help="–: unknown price."),
            "Cost per resolved": columns.dollars(),
        },
        hidden=("Errors",),
        alt="The tool sets of each agent and model",
    )


def _pair(pairs: Sequence[Comparison], worth: Sequence[ToolWorth]) -> None:
    """Show what tells two tool sets apart: what they need, and on which tasks they differ."""
    labels = {f"{row['first']['entrant_id']},{row['second']['entrant_id']}": row for row in pairs}
    needs = dict(zip(labels, worth, strict=True))
    pair_label = None
    if len(labels) > 1:
        pair_label = address.selectbox(
            "Pair", list(labels), "ts_pair", default=next(iter(labels)), format_func=lambda key: title(labels[key])
        )
    pair = labels[pair_label or next(iter(labels))]
    if len(labels) > 1:  # else the page has begun with it
        show.comparison(pair)
    with cards.folded("What an episode and a resolved task take"):
        _needs(pair, needs[pair_label or next(iter(labels))])
    ids = {row["task"]: row["task_id"] for row in pair["by_task"]}
    gained, lost = st.columns(2)
    for column, word, tasks in ((gained, "Gained", pair["only_second"]), (lost, "Lost", pair["only_first"])):
        heading = f"{word} with {show.escaped(pair['second']['tools'])}: {len(tasks)}"
        with column, st.expander(heading) if cards.are_needed() else st.container(border=True, height="stretch"):
            if not cards.are_needed():
                st.markdown(f"**{heading}**")
            links = [task_link(task, ids[task]) for task in tasks[:_MOST_LINKS]]
            links += [f"and {len(tasks) - _MOST_LINKS:,} more"] if len(tasks) > _MOST_LINKS else []
            st.markdown(", ".join(links) or wording.NOTHING)
    show.link(COMPARE_PAGE, "These two task by task", cmp_pick=pair_label or "")


def _needs(pair: Comparison, worth: ToolWorth) -> None:
    """Draw what an episode takes with either tool set, and what it takes to resolve a task, where that is limited."""
    names = [pair[side]["tools"] for side in ("first", "second")]
    also = queries.phase_sentence(worth["effort"]["steps"], worth["phases"])
    effort.draw(names, worth["spending"], worth["effort"], also=also)


def task_link(name: str, task_id: int) -> str:
    """Return a link to a task, as Markdown."""
    return f"[{show.escaped(name)}]({address.to('task', id=task_id)})"


def title(row: Mapping[str, Any]) -> str:
    """Return the label of a pair in a list of choices."""
    return f"{row['second']['entrant']} against {row['first']['entrant']}"


def use() -> None:
    """Draw how often an entrant calls each tool, when, with what success, and at what cost."""
    st.subheader("How tools are used")
    rows = ask(queries.tool_use, scope)
    if not rows:
        st.caption("No episode with a verdict used a tool.")
        return
    board = {row["entrant_id"]: row["resolved"] + row["unresolved"] for row in ask(queries.leaderboard, scope)}
    played: list[dict[str, Any]] = [{**row, "played": board[row["entrant_id"]]} for row in rows]
    names = list(dict.fromkeys(row["entrant"] for row in played))
    # If two entrants share a name, their rows are side by side.
    entrant = address.selectbox("Entrant", names, "ts_entrant", default=names[0], width=360)
    tool_rows = [row for row in played if row["entrant"] == entrant]
    most = max(tool_rows, key=lambda row: row["calls"])
    st.markdown(
        show.escaped(
            f"{entrant} calls {most['tool']} most: {wording.mean(most['calls'] / most['played'])} calls an episode, "
            f"over {count_of(most['played'], 'counted episode')}."
        )
    )
    numbers, figure = cards.beside()
    with figure:
        charts.draw(charts.tool_calls(tool_rows), key="ts_calls", alt="Calls of each tool in an episode, by phase")
        st.caption(
            "Searching: until the fault was first seen. Diagnosing: from then to the first edit there. Repairing: from "
            "that edit on."
        )
    lines = [
        {
            "Tool": row["tool"],
            "Used in": row["episodes"] / row["played"],
            "Calls": row["calls"],
            "A call per episode": row["calls"] / row["played"],
            "Searching": row["searching"],
            "Diagnosing": row["diagnosing"],
            "Repairing": row["repairing"],
            "Error rate": row["error_rate"],
            "Duration": row["env_ms"] / 1000 / row["calls"],
            "Tokens": (row["tokens_in"] + row["tokens_out"]) / row["calls"],
            "Cost": row["cost_usd"],
        }
        for row in tool_rows
    ]
    with numbers, cards.folded("All numbers"):
        show.grid(
            lines,
            column_config={
                "Used in": columns.share(help="Share of the counted episodes."),
                "A call per episode": columns.mean("Calls per episode"),
                "Error rate": columns.share(help="Share of calls that returned an error."),
                "Duration": columns.duration("Duration of a call", help="Of the tool, without the model."),
                "Tokens": columns.count("Tokens per call", help="Of the model calls that chose the tool."),
                "Cost": columns.total_dollars("Spent", help="Of the model calls that chose it. –: unknown price."),
            },
            # The figure has them.
            hidden=("A call per episode", "Searching", "Diagnosing", "Repairing"),
            alt="Use of every tool",
        )
        show.csv_button(played, name="tool_use", key="ts_use")


worth()
use()
