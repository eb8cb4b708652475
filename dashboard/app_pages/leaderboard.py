"""Who is better."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from stackrank.dashboard import address, charts
from stackrank.dashboard.charts import paper
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import cards, show
from stackrank.dashboard.parts.scope import asked
from stackrank.dashboard.parts.tables import COMPARE_PAGE, MOST_COMPARED, leaderboard_table
from stackrank.db import queries
from stackrank.wording import count_of

_UNITS: Mapping[str, queries.EffortUnit] = {"steps": "steps", "tokens": "tokens", "cost": "cost_usd"}
_RELIABILITY = (("At least one", "pass_at_k", "pass"), ("Every one", "all_k", "all"))
# Columns that are shown together. The notes about an entrant are below the board.
_NUMBERS: Mapping[str, Sequence[str]] = {
    "rates": (
        *("Rank", "rate", "95% interval", "all_attempts_rate", "rate_errors_fail", "rate_errors_pass"),
        *("tasks", "tasks_total"),
    ),
    "verdicts": (
        *("episodes", "resolved", "sealed", "unverified", "unresolved", "faults_mended", "faults"),
        *("errors", "errors_by_class"),
    ),
    "effort": (
        *("steps_mean", "wall_mean_s", "tokens_in", "tokens_out"),
        *("cost_usd", "cost_per_episode", "cost_per_resolved", "95% of cost per resolved"),
    ),
    "settings": ("agent", "agent_version", "model", "tools", "reference"),
}
Row = TypeVar("Row", bound=Mapping[str, Any])
st.title("Leaderboard")


def remember_pick() -> None:
    """Put the ticked entrants into the address."""
    picked = [rows[index]["entrant_id"] for index in st.session_state.lb_table.selection.rows if index < len(rows)]
    address.put(lb_pick=",".join(map(str, picked)))


def comparison(picked: list[int]) -> None:
    """Draw a link to the comparison of the ticked entrants; two entrants are already compared here."""
    if len(picked) == 2:
        better, worse = sorted(picked, key=ids.index)
        pair = ask(queries.compare, worse, better, scope)
        show.comparison(pair)
    pick = ",".join(map(str, picked))
    show.link(COMPARE_PAGE, f"Compare these {len(picked)} task by task", cmp_pick=pick)


scope, rows = asked(queries.leaderboard)

has_several_faults = any(map(queries.has_several_faults, rows))
ids = [row["entrant_id"] for row in rows]
places = {entrant: place for place, entrant in enumerate(ids)}
ticked = address.picked("lb_pick", ids)
st.session_state.lb_table = {"selection": {"rows": [ids.index(entrant) for entrant in ticked]}}
if leader := queries.leader_sentence(rows):
    st.markdown(f":material/emoji_events: **{show.escaped(leader)}**")
history = ask(queries.rate_history, replace(scope, last=scope.last or 10) if scope.run is None else scope)
leaderboard_table(
    rows,
    key="lb_table",
    alt="Leaderboard: a row per entrant, best rank first",
    history=history,
    on_select=remember_pick,
    selection_mode="multi-row",
)
with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    if cheapest := queries.best_per_dollar(rows):
        st.markdown(f":material/paid: {show.escaped(cheapest)}", width="stretch")
    show.paper_button(partial(paper.ranking, rows), name="leaderboard", key="lb")
with st.container(border=True):
    if 2 <= len(ticked) <= MOST_COMPARED:
        comparison(ticked)
    elif cards.are_needed():
        show.link(COMPARE_PAGE, "Compare entrants task by task")
    else:
        st.caption(
            "Tick two to four entrants to compare them on the tasks that all of them played. The eye above the table "
            "adds columns: sealed verdicts, tokens, spending, intervals of costs."
        )


def place_of(row: Mapping[str, Any]) -> int:
    """Return the place of a row's entrant on the board; those that have none come last."""
    return places.get(row["entrant_id"], len(ids))


def drawn(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of the entrants that fit into a line chart, best first: the ticked ones, else the best."""
    rows = sorted(rows, key=place_of)
    if len(ids) <= charts.most_drawn():
        return rows
    drawn_ids = (ticked or ids)[: charts.most_drawn()]
    selection = "those ticked above" if ticked else "the best, or those that you tick above"
    st.caption(
        f"The chart shows {len(drawn_ids)} of {count_of(len(ids), 'entrant')}: {selection}. The table shows all "
        "of them."
    )
    return [row for row in rows if row["entrant_id"] in drawn_ids]


def ranking() -> None:
    """Draw rates with their intervals."""
    charts.draw(charts.ranking(rows), key="lb_ranking", alt="Rate of each entrant with its 95% interval")
    st.caption("Ranks come from differences paired by task, with Holm's correction, and not from these intervals.")


def cost() -> None:
    """Draw what an episode costs against the rate."""
    unknown = [row["entrant"] for row in rows if row["cost_per_episode"] is None]
    if any(row["cost_per_episode"] for row in rows):
        figure = charts.cost_against_rate(rows)
        charts.draw(figure, key="lb_cost", alt="Cost of an episode against the rate of each entrant")
        st.caption("Better is up and to the left. The dotted line joins the entrants that none beats on both.")
        names = ("entrant", "rate", "cost_per_episode", "cost_usd")
        flat = [{name: value for name, value in row.items() if name in names or "per_resolved" in name} for row in rows]
        with st.expander("Numbers"):
            show.table_and_csv(flat, name="cost", alt="Cost and rate of each entrant", key="lb_cost_table")
    else:
        st.info("No entrant has a known cost above zero.", icon=":material/money_off:")
    if unknown:
        st.caption(f"Not shown, because the price is unknown: {show.escaped(', '.join(unknown))}")


def budget() -> None:
    """Draw the share resolved, or of mended faults, against the steps, tokens or dollars of an episode."""
    against = address.segmented("Against", ["steps", "tokens", "cost"], "lb_by", default="steps")
    by = _UNITS[against]
    curves = ask(queries.budget_curves, scope, by=by)
    if any(row["curve"] for row in curves):
        outcome = queries.outcome_of(rows)
        figure = charts.budget_curves(drawn(curves), by, outcome)
        charts.draw(figure, key="lb_budget", alt=f"{outcome} against the {by} of an episode")
        if has_several_faults:
            st.caption("A fault counts from the last step that changed its files, if it is mended in the end.")
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
    """Draw how much further attempts help, and how often all attempts succeed."""
    rows = sorted(ask(queries.reliability, scope), key=lambda row: (place_of(row), row["k"]))
    if max((row["k"] for row in rows), default=0) > 1:
        entrants = drawn(rows)
        for column, (kind, value, ends) in zip(st.columns(2), _RELIABILITY, strict=True):
            with column:
                st.markdown(f"**{kind} of k attempts resolves the task**")
                figure = charts.reliability(entrants, value, ends)
                charts.draw(figure, key=f"lb_{value}", alt=f"Share of tasks that {kind.lower()} of k attempts resolves")
    else:
        st.info("Every task was attempted once. Set `attempts: 3` in a specification to get more.")
    st.caption(
        "Unbiased estimates over tasks with at least k attempts, for every k that most tasks have: pass@k and all k. "
        "Every attempt, on the leaderboard, counts tasks with fewer attempts too."
    )
    with st.expander("Numbers", expanded=not cards.are_needed()):
        show.table_and_csv(rows, name="reliability", alt="pass@k and all-k", key="lb_reliability_table")


def abilities() -> None:
    """Draw abilities and difficulties on one scale, and whether that scale fits."""
    model = ask(queries.abilities, scope)
    if not model["entrants"]:
        st.info("No ranked entrant has a counted episode.", icon=":material/filter_alt_off:")
        return
    figure = charts.ranking(model["entrants"])
    charts.draw(figure, key="lb_abilities", alt="Rate that each entrant would have on all tasks, with its interval")
    st.caption(
        f"{model['note']} The rate is predicted for all tasks, whichever of them an entrant played. Infit "
        "and outfit are near 1 if the model fits."
    )
    show.table_and_csv(model["entrants"], name="abilities", alt="Ability of each entrant", key="lb_abilities_table")
    st.markdown("**By measured difficulty**")
    alt = "Rate on the easiest, middle and hardest third of the tasks"
    show.table_and_csv(model["levels"], name="levels", alt=alt, key="lb_levels")
    with st.expander("Does the model fit?"):
        alt = "Chance by the model and what was seen"
        show.table_and_csv(model["calibration"], name="calibration", alt=alt, key="lb_calibration")
    with st.expander("Difficulty of each task"):
        show.table_and_csv(model["tasks"], name="difficulties", alt="Difficulty of each task", key="lb_difficulties")


def nights() -> None:
    """Draw all nights of `fresh` as one leaderboard, and the gap to tasks that models may already know."""
    board = ask(queries.nights, replace(scope, run=None, benchmark=None, version=None, last=None))
    if not board["entrants"]:
        st.info("No night of fresh has a finished run under these conditions.", icon=":material/bedtime:")
        return
    figure = charts.ranking(board["entrants"])
    charts.draw(figure, key="lb_nights", alt="Equated rate of each entrant over all nights, with its interval")
    st.caption(board["note"])
    alt = "Equated rate, rate on fixed tasks and the gap between new and fixed tasks"
    show.table_and_csv(board["entrants"], name="nights", alt=alt, key="lb_nights_table")


def numbers() -> None:
    """Draw the numbers of the leaderboard as a table of one kind of them; its CSV has all."""
    kind = address.segmented("Numbers of", list(_NUMBERS), "lb_numbers", default="rates")
    alt = f"Numbers of the leaderboard: {kind}"
    shown = ("entrant", *_NUMBERS[kind])
    show.table_and_csv(rows, name="leaderboard", alt=alt, key=f"lb_numbers_of_{kind}", shown=shown)


address.tabs(
    "lb_tab",
    {
        "Ranking": ranking,
        "Cost against rate": cost,
        "Budget": budget,
        "Reliability": reliability,
        "Abilities": abilities,
        "Nights": nights,
        "Numbers": numbers,
    },
    default="Budget" if has_several_faults else None,
)
