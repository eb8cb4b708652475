"""The trace of one episode."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from stackrank.dashboard import address
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import people, show
from stackrank.dashboard.parts.tables import EPISODES_PAGE
from stackrank.dashboard.trace.debugger import debugger
from stackrank.dashboard.trace.header import header, outcome
from stackrank.dashboard.trace.steps import start_of
from stackrank.db import queries

ref = st.query_params.get("id", "").strip()
if not ref:
    show.which("Episode", "Which episode? Select one in the list of episodes.", EPISODES_PAGE, "Episodes", "list_alt")

episode = ask(queries.episode, ref)
going_on = not episode["verdict"]
header(episode, ask(queries.neighbours, episode["id"]), ask(queries.last_step, episode["id"]) if going_on else None)


def step_of(current: Mapping[str, Any], last: int) -> int:
    """Return the step to show: the one in the address, else the best one to start reading at."""
    requested = address.number("step")
    return start_of(current, last) if requested is None else requested


@st.fragment(run_every="3s" if going_on else None)
def steps() -> None:
    """Draw the steps and the selected one: all that a click redraws. While the episode is played, new steps come in."""
    with show.guarded():
        current = ask(queries.episode, episode["id"])
        last = ask(queries.last_step, episode["id"])
        if current["verdict"] and going_on:
            # A reader who watched the newest step keeps looking at it.
            if last is not None and address.number("step") is None:
                address.put(step=last)
            st.rerun(scope="app")
        if last is None:
            st.info("No step has been committed yet.", icon=":material/hourglass_empty:")
            return
        debugger(current, last)


steps()
newest = ask(queries.last_step, episode["id"])
newest_step = None if newest is None else step_of(episode, newest)
people.notes_and_tags(episode["run_id"], episode["tags"], episode_id=episode["id"], step_index=newest_step)
outcome(episode)
