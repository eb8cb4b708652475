"""The entry point of the dashboard: `stackrank dashboard`, or `streamlit run dashboard/app.py`."""

from pathlib import Path

import streamlit as st

from dashboard.show import guarded

# An icon of our own, set before the pages' are: those Streamlit fetches from the internet.
st.set_page_config(page_icon=str(Path(__file__).parent / "icon.png"), layout="wide")

pages = [
    st.Page(
        "app_pages/overview.py",
        title="Overview",
        icon=":material/home:",
        default=True,
        help="The latest run, what got better or worse since the one before, and the runs going on.",
    ),
    st.Page(
        "app_pages/leaderboard.py",
        title="Leaderboard",
        icon=":material/leaderboard:",
        help="Which entrant resolves more, with 95% intervals, costs and failure points. Select two to compare them.",
    ),
    st.Page(
        "app_pages/runs.py",
        title="Runs",
        icon=":material/play_circle:",
        help="Every run, newest first: its progress, its verdicts, its cost.",
    ),
    st.Page(
        "app_pages/episodes.py",
        title="Episodes",
        icon=":material/list_alt:",
        help="Find episodes by entrant, task, verdict, failure point or tool, and open their traces.",
    ),
    st.Page("app_pages/run.py", title="Run", icon=":material/play_circle:", visibility="hidden"),
    st.Page("app_pages/episode.py", title="Episode", icon=":material/bug_report:", visibility="hidden"),
    st.Page("app_pages/diverge.py", title="Diverge", icon=":material/fork_right:", visibility="hidden"),
]
page = st.navigation(pages, position="top")
st.set_page_config(page_title=f"{page.title} - stackrank")
with guarded():
    page.run()
