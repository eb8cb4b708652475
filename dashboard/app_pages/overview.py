"""The front page: who leads, what a debugger is worth, what has changed and why, what to read, what is being played."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.data import ask
from stackrank.dashboard.pages import plugin_pages
from stackrank.dashboard.parts import show
from stackrank.dashboard.parts.scope import current
from stackrank.dashboard.parts.tables import (
    AGAINST_PAGE,
    EPISODE_PAGE,
    EPISODES_PAGE,
    LEADERBOARD_PAGE,
    RUN_PAGE,
    TASKS_PAGE,
    TOOL_SETS_PAGE,
    leaderboard_table,
)
from stackrank.db import queries
from stackrank.wording import count_of

# The most sentences about what a debugger is worth; the page of tool sets has all of them.
_MOST_SENTENCES = 7
# The most runs in progress that are named; the page of runs has all of them.
_MOST_RUNNING = 4
_COLUMNS = ("Rank", "Entrant", "Rate", "95% interval", "Errors", "Cost per resolved", "Steps")

st.title("Overview")


@st.fragment(run_every="5s")
def going_on() -> None:
    """Draw a line for each run in progress; look again every five seconds."""
    with show.guarded():
        for row in ask(queries.runs, status=["pending", "running"], limit=_MOST_RUNNING):
            played = f"{row['done']:,} of {count_of(row['episodes_total'] - row['not_played'], 'episode')}"
            name = show.escaped(f"Run {wording.run_name(row['name'], row['id'])}, {row['status']}: {played}")
            show.link(RUN_PAGE, name, "play_circle", id=row["id"])


def statement(
    icon: str, sentences: Sequence[str], page: str, label: str, *, evidence: str = "", alone: str = "", **query: Any
) -> None:
    """Draw what the numbers say, what that rests on, and a link to the page that has all of them."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"statement_{icon}"):
        with st.container(gap="xsmall"):
            bold = "**" if evidence or len(sentences) > 1 else ""
            first, *others = map(show.escaped, sentences)
            st.markdown("  \n".join([f":material/{icon}: {bold}{first}{bold}", *others]))
            if evidence:
                st.caption(show.escaped(evidence), help=show.escaped(f"{show.TEST} {alone}".strip()))
        show.link(page, label, **query)


def changed(run_id: int) -> None:
    """Say what has changed since the earlier runs of the series, and what could be the reason."""
    rows = ask(queries.changes, run_id)
    run = ask(queries.run, run_id)
    previous_id = max((row["before"] for row in rows), default=ask(queries.night_before, run_id))
    if previous_id is None and not run["regressions"]:
        return
    st.subheader(f"What changed in {show.escaped(wording.run_name(run['name'], run_id))}")
    for regression in run["regressions"]:
        text = regression.get("sentence") or regression.get("what") or ""
        st.warning(
            show.escaped(text), icon=":material/trending_down:", title=show.escaped(regression.get("entrant", ""))
        )
    if previous_id is None:
        return
    if run["regressions"] or not rows or any(row["sure"] and row["difference"] < 0 for row in rows):
        explained = ask(queries.explain_night, previous_id, run_id)
        sentences = [explained["difference"], explained["why"], explained["pair"]["apart"]]
    else:
        pair = ask(queries.run_pair, previous_id, run_id)
        sentences = [queries.pair_sentence(rows, pair["worse"], pair["better"]), pair["apart"]]
    sentences = list(filter(None, sentences))
    label = f"Why? Against {show.escaped(wording.run_name(ask(queries.run, previous_id)['name'], previous_id))}"
    statement("timeline", sentences, AGAINST_PAGE, label, a=previous_id, b=run_id)
    if rows:
        st.caption(
            "Paired by task with up to 10 earlier runs of the series that were not reported as worse. A change is "
            "clear if p < 0.05 after Holm's correction over the entrants."
        )


def reading(tips: Sequence[Mapping[str, Any]]) -> None:
    """Draw the traces that are worth reading, each with its story."""
    st.subheader("Worth reading")
    for column, tip in zip(st.columns(max(1, len(tips))), tips, strict=False):
        row = tip["episode"]
        with column, st.container(border=True, height="stretch"):
            run = wording.run_name(row["run"], row["run_id"])
            st.caption(show.escaped(f"{tip['why']} · {show.verdict(row)} · {run}"))
            label = f"{show.escaped(row['task'])}: {show.escaped(row['entrant'])}"
            show.link(EPISODE_PAGE, label, "bug_report", id=row["id"], step=tip["step"])
            show.story(EPISODE_PAGE, row)


def infrastructure() -> None:
    """Draw whether sandboxes, models and workers do their work."""
    health = ask(queries.health)
    of = "the newest run" if health["runs"] == 1 else f"the newest {count_of(health['runs'], 'run')}"
    st.subheader("Infrastructure")
    facts = [
        count_of(health["done"], "episode"),
        f"{count_of(health['errors'], 'error')} ({wording.percent(health['error_rate'])})",
        f"{health['retried']:,} retried" if health["retried"] else "",
        f"{health['interruptions']:,} interrupted and continued" if health["interruptions"] else "",
    ]
    st.caption(f"In {of}: {', '.join(filter(None, facts))}.")
    for run in health["stalled"]:
        message = f"Run {show.escaped(wording.run_name(run['name'], run['id']))} has sent no heartbeat for a while."
        st.warning(f"{message} To continue it: `stackrank resume {run['id']}`.", icon=":material/hourglass_disabled:")
    if health["reasons"]:
        lines = [
            {
                "What failed": row["what"],
                "Episodes": row["episodes"],
                "Newest": f"episode {row['example']}",
            }
            for row in health["reasons"]
        ]
        newest = {"Newest": [address.to("episode", id=row["example"]) for row in health["reasons"]]}
        show.grid(lines, links=newest, alt="The commonest errors")
        show.csv_button(health["reasons"], name="errors", key="overview_errors")


def ways(*, has_pairs: bool) -> None:
    """Draw links to what people ask for most."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if has_pairs:
            show.link(TASKS_PAGE, "Tasks resolved only with a debugger", "bug_report", tk_show="decisive")
        show.link(EPISODES_PAGE, "Episodes without a breakpoint", "search", ep_query="-breakpoint")
        for page in plugin_pages()[0].values():
            if page.notice and (notice := ask(page.notice)):
                show.link(str(page.file), notice, page.icon)


def results() -> bool:
    """Draw what the runs of the scope show; return whether entrants with and without a debugger are among them."""
    front = ask(queries.front_page, current())
    scoped = front["scope"]
    show.scope(scoped)
    going_on()
    if front["lead"]:
        so_far = "So far: " if scoped["provisional"] else ""
        lead = f"{so_far}{front['lead']}"
        rests_on = {"evidence": front["evidence"], "alone": front["alone"]}
        statement("emoji_events", [lead], LEADERBOARD_PAGE, "Leaderboard", **rests_on)
        board = front["board"]
        ranking, debugger = st.columns((4, 3), gap="medium")
        with ranking:
            height, alt = show.table_height(len(board), 12), "Entrants, best rank first"
            leaderboard_table(board, key="overview_board", alt=alt, columns=_COLUMNS, height=height)
        with debugger:
            st.subheader("What a debugger is worth")
            worth = front["debugger"][:_MOST_SENTENCES]
            worth = worth or ["No agent and model has verdicts both with and without a debugger, on the same tasks."]
            statement("bug_report", worth, TOOL_SETS_PAGE, "Tool sets")
        if not scoped["provisional"]:
            changed(scoped["runs"][-1]["run"])
    else:
        st.info("No episode has a verdict yet.", icon=":material/hourglass_empty:")
        if scoped["runs"]:
            show.link(RUN_PAGE, "Open the newest run", id=scoped["runs"][-1]["run"])
    if front["traces"]:
        reading(front["traces"])
    return bool(front["debugger"])


has_pairs = results()
show.begin()
ways(has_pairs=has_pairs)
infrastructure()
