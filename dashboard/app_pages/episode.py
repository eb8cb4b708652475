"""The trace of one episode."""

import streamlit as st

from dashboard import address, trace
from dashboard.data import ask

wanted = st.query_params.get("id", "").strip()
if not wanted:
    st.title("Episode")
    st.info("Which episode? Select one in the list of episodes.", icon=":material/search:")
    st.page_link("app_pages/episodes.py", label="Episodes", icon=":material/list_alt:")
    st.stop()

episode = ask("episode", wanted)
episode_id = episode["id"]
trace.header(episode, ask("neighbours", episode_id))
last = ask("last_step", episode_id)
if last is None:
    st.info("No step has been committed yet.", icon=":material/hourglass_empty:")
else:
    selected = address.number("step")
    if selected is None:
        selected = min(last, episode["failure_step"] or 0)
    steps, detail = st.columns([5, 6])
    with steps:
        trace.step_list(episode, selected, last)
    with detail:
        trace.step_detail(episode, selected, last)
trace.outcome(episode)
if not episode["verdict"]:
    st.caption("This episode is still going on; reload the page for its newest steps.")
