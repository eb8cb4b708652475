"""Two episodes of one task, side by side, from the first action that differs."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import show
from stackrank.dashboard.parts.tables import EPISODE_PAGE, EPISODES_PAGE, TASK_PAGE, TASKS_PAGE
from stackrank.dashboard.trace.beside import beside
from stackrank.dashboard.trace.divergence import action_of, align, divergence
from stackrank.dashboard.trace.header import facts
from stackrank.db import queries
from stackrank.wording import count_of

SIDES = ("a", "b")


def choose(opposite: Mapping[str, Any], side: str) -> None:
    """Let the reader choose the second episode among those of the first one's task."""
    rows = ask(queries.episodes, task_id=opposite["task_id"], newest_first=True, limit=200)
    choices = {row["id"]: row for row in rows if row["id"] != opposite["id"] and row["steps"]}
    if not choices:
        st.info("No other episode of this task has been played yet.", icon=":material/search_off:")
        st.stop()

    def label(row_id: int) -> str:
        row = choices[row_id]
        verdict = show.verdict(row)
        run, steps = wording.run_name(row["run"], row["run_id"]), count_of(row["steps"], "step")
        return wording.visible(f"{row_id}: {verdict}, {row['entrant']}, {run}, {steps}")

    key = f"diverge_{side}"

    def chosen() -> None:
        address.put(**{side: st.session_state[key]})

    st.selectbox("Compare with episode", list(choices), index=None, key=key, format_func=label, on_change=chosen)


def about(episode: Mapping[str, Any], side: str) -> None:
    """Draw the head of one side: its entrant, verdict and totals, and a link to its trace."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(f"**{side.upper()}: {show.escaped(episode['entrant'])}**", width="content")
        show.badge(episode["verdict"] or episode["status"])
        if episode["failure_point"]:
            st.badge(show.escaped(wording.words(episode["failure_point"])), color="red")
        run = wording.run_name(episode["run"], episode["run_id"])
        label = f"Episode {episode['id']}, {run}, attempt {episode['attempt']}"
        show.link(EPISODE_PAGE, show.escaped(label), "bug_report", id=episode["id"])
    st.markdown(facts(episode, time=False))


refs = [st.query_params.get(side, "").strip() for side in SIDES]
episodes = [ask(queries.episode, ref) if ref else None for ref in refs]
if not any(episodes):
    question = "Two episodes of one task are shown side by side: open one and choose another."
    show.which("Diverge", question, EPISODES_PAGE, "Episodes", "list_alt")
known_side = episodes[0] or episodes[1]
assert known_side is not None
task = known_side["task"]
show.titled(task, " and ".join(f"episode {episode['id']}" for episode in episodes if episode))
top = st.container(key="trace_header", horizontal=True, vertical_alignment="center")
with top:
    st.title(show.escaped(task), width="content", anchor=False)
    show.breadcrumb((TASKS_PAGE, "Tasks", {}), (TASK_PAGE, f"Task {show.escaped(task)}", {"id": known_side["task_id"]}))
if not all(episodes):
    choose(known_side, SIDES[episodes.index(None)])
    st.stop()
loaded = [episode for episode in episodes if episode is not None]
if loaded[0]["task"] != loaded[1]["task"]:
    st.warning(
        f"Episode {loaded[1]['id']} is about another task, {show.escaped(loaded[1]['task'])}: only "
        "episodes of the same task can be shown side by side.",
        icon=":material/warning:",
    )
    choose(loaded[0], "b")
    st.stop()
if loaded[0]["task_id"] != loaded[1]["task_id"]:
    st.caption("The benchmark changed between the two episodes, so the task may have changed as well.")
with st.container(key="beside_header"):
    for column, episode, side in zip(st.columns(2), loaded, SIDES, strict=True):
        with column:
            about(episode, side)

rows = [ask(queries.actions, episode["id"]) for episode in loaded]
pairs = align(*([action_of(row) for row in side] for side in rows))
if not pairs:
    st.info("Neither episode has a step yet.", icon=":material/hourglass_empty:")
    st.stop()
parted = divergence(pairs, *map(len, rows))
split = None if parted is None else next(at for at, pair in enumerate(pairs) if not pair.same)
acted = [pair for pair in pairs if (pair.a, pair.b) != (0, 0)]  # the reset is nobody's action
if split is None:
    steps = "their only step" if len(acted) == 1 else f"all {count_of(len(acted), 'step')}"
    st.success(f"Both did the same in {steps}." if acted else "Neither took a step.", icon=":material/check:")
else:
    top.caption(
        f":material/fork_right: The traces diverge at step {split}; {sum(pair.same for pair in acted):,} of "
        f"{count_of(len(acted), 'action')} are the same.",
        width="content",
    )
beside(loaded, rows, pairs, parted)
