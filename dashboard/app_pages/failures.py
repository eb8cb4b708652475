"""How far episodes come, and where they first go wrong."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard import address, charts
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import columns, failing, show
from stackrank.dashboard.parts.scope import asked
from stackrank.dashboard.parts.tables import EPISODES_PAGE, LEADERBOARD_PAGE
from stackrank.db import queries
from stackrank.db.queries.episodes.funnel import ExcludedShare, FunnelRow
from stackrank.terms import STAGES, ErrorsAre, Milestone, Verdict
from stackrank.wording import count_of, words

st.title("Failure points")
scope, points = asked(queries.failure_points, errors=False)


def funnel() -> None:
    """Draw how far episodes come, from the first reproduction to the verdict."""
    rows = ask(queries.funnel, scope)
    if not rows:
        st.caption("No episode was counted.")
        return
    if sentence := queries.funnel_sentence(rows):
        st.markdown(f"**{sentence}**")
    drawn = rows[: charts.most_drawn()]
    charts.draw(charts.funnel(drawn, STAGES), key="fp_funnel", alt="Share of episodes that reached each stage")
    if len(drawn) < len(rows):
        st.caption(f"The chart shows the best {len(drawn)} of {count_of(len(rows), 'entrant')}, the table all of them.")
    st.caption(
        f"{' '.join(f'{words(stage).capitalize()}: {failing.MILESTONES[stage]}.' for stage in STAGES)} An episode can "
        "skip a stage and reach a later one. Every task has the same weight, as on the leaderboard."
    )
    shares = [
        {"Entrant": row["entrant"], "Episodes": row["counted"]}
        | {words(stage).capitalize(): reached(row, stage) for stage in STAGES}
        for row in rows
    ]
    kinds = {words(stage).capitalize(): columns.share() for stage in STAGES}
    show.grid(shares, about=rows, column_config=kinds, alt="Share of episodes that reached each stage")
    flat = [{name: value for name, value in row.items() if name != "shares"} for row in rows]
    show.csv_button(flat, name="funnel", key="fp_funnel_table")


def reached(row: FunnelRow, stage: str) -> float | None:
    """Return the share that reached a stage; an entrant without a debugger cannot inspect."""
    return row["shares"][stage] if stage != Milestone.INSPECTED or row["debugger"] else None


def bars() -> None:
    """Draw why episodes failed."""
    failing.bars("fp", points, scope)


def aside() -> None:
    """Draw the failures that are not the entrant's fault: how many, why, and whom they hit."""
    rows = ask(queries.excluded_episodes, scope)
    if not rows:
        st.caption("The infrastructure has not failed, and no task is known to be defective.")
        return
    shares = ask(queries.excluded_shares, scope)
    whole = _add_up(shares)
    played = count_of(whole["Episodes"], "episode")
    st.markdown(
        f":material/filter_alt_off: **Every rate leaves out {whole['Excluded']:,} of {played} "
        f"({wording.percent(whole['Share'])}).**"
    )
    parts = [f"In {whole['Infrastructure']:,}, the infrastructure failed" if whole["Infrastructure"] else ""]
    parts += [
        f"{whole['Defective tasks']:,} had a task that is known to be defective" if whole["Defective tasks"] else ""
    ]
    st.caption(f"{'; '.join(filter(None, parts))}. These episodes count neither for nor against their entrants.")
    lines = [
        {
            "Reason": row["reason"],
            "What": row["what"],
            "Episodes": row["episodes"],
            "Newest": f"episode {row['example']}",
        }
        for row in rows
    ]
    newest = {"Newest": [address.to("episode", id=row["example"]) for row in rows]}
    show.grid(lines, links=newest, alt="Why episodes are excluded from all rates")
    with st.container(horizontal=True, vertical_alignment="center"):
        if whole["Infrastructure"]:
            show.link(EPISODES_PAGE, "All episodes with an error", "list_alt", ep_verdict=str(Verdict.ERROR))
            label = "The leaderboard if errors were failures"
            show.link(LEADERBOARD_PAGE, label, "leaderboard", errors=str(ErrorsAre.AS_FAILURES))
        show.csv_button(rows, name="excluded_episodes", key="fp_aside")
    by_entrant, by_run = st.columns(2)
    with by_entrant:
        st.subheader("By entrant", anchor=False)
        hit_most = sorted(_group(shares, lambda row: row["entrant_id"]), key=lambda group: -_add_up(group)["Share"])
        _draw_exclusions("entrant", hit_most, lambda row: row["entrant"])
    with by_run:
        st.subheader("By run", anchor=False)
        of_runs = _group(shares, lambda row: row["run_id"])
        _draw_exclusions("run", of_runs, lambda row: wording.run_name(row["run"], row["run_id"]))


def _add_up(shares: Sequence[ExcludedShare]) -> dict[str, Any]:
    """Add up counts of excluded episodes."""
    played, infrastructure, defective = (
        sum(share[name] for share in shares) for name in ("played", "infrastructure", "defective")
    )
    excluded = infrastructure + defective
    counts = {"Episodes": played, "Excluded": excluded, "Share": excluded / played if played else None}
    return {**counts, "Infrastructure": infrastructure, "Defective tasks": defective}


def _group(shares: Sequence[ExcludedShare], of: Callable[[ExcludedShare], int]) -> Collection[Sequence[ExcludedShare]]:
    """Return counts by the id of what they are about, in the order in which these come."""
    groups: dict[int, list[ExcludedShare]] = {}
    for share in shares:
        groups.setdefault(of(share), []).append(share)
    return groups.values()


def _draw_exclusions(
    kind: str, groups: Collection[Sequence[ExcludedShare]], name: Callable[[ExcludedShare], str]
) -> None:
    """Draw how many episodes are excluded for each entrant, or in each run."""
    frame = pd.DataFrame([{kind.capitalize(): name(group[0]), **_add_up(group)} for group in groups])
    firsts = [group[0] for group in groups]
    if not frame["Infrastructure"].any() or not frame["Defective tasks"].any():  # the excluded are all of one kind
        frame = frame.drop(columns=["Infrastructure", "Defective tasks"])
    kinds = {"Share": columns.share(help="Of the episodes with a verdict.")}
    show.grid(frame, about=firsts, column_config=kinds, alt=f"Episodes excluded from all rates, by {kind}")


failing.note_other_versions(scope)
address.tabs("fp_tab", {"How far": funnel, "Where it went wrong": bars, "Not the entrant's fault": aside})
