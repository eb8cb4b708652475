"""The entry point of the dashboard: `stackrank dashboard`, or `streamlit run dashboard/app.py`."""

from pathlib import Path

import streamlit as st

from dashboard import address, login
from dashboard.show import escaped, guarded

# An icon of our own, set before the pages' are: those Streamlit fetches from the internet.
st.set_page_config(page_icon=str(Path(__file__).parent / "icon.png"), layout="wide")

login.require()
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
        "app_pages/compare.py",
        title="Compare",
        icon=":material/compare_arrows:",
        help="Two to four entrants, paired by task: how far one is ahead, on which tasks, and whether it is chance.",
    ),
    st.Page(
        "app_pages/tool_sets.py",
        title="Tool sets",
        icon=":material/build:",
        help="What a debugger is worth: the same agent and model with and without it, and how each tool is used.",
    ),
    st.Page(
        "app_pages/failures.py",
        title="Failure points",
        icon=":material/troubleshoot:",
        help="How far episodes come, and where they first go wrong.",
    ),
    st.Page(
        "app_pages/tasks.py",
        title="Tasks",
        icon=":material/task:",
        help="Every task: how hard it is, who resolves it, which ones may be defective.",
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
    st.Page("app_pages/task.py", title="Task", icon=":material/task:", visibility="hidden"),
    st.Page("app_pages/run.py", title="Run", icon=":material/play_circle:", visibility="hidden"),
    st.Page("app_pages/episode.py", title="Episode", icon=":material/bug_report:", visibility="hidden"),
    st.Page("app_pages/diverge.py", title="Diverge", icon=":material/fork_right:", visibility="hidden"),
]
page = st.navigation(pages, position="top")
st.set_page_config(page_title=f"{page.title} - stackrank")
address.begin()
hints = st.container()
try:
    with guarded():
        page.run()
    login.footer()
finally:
    for name, value in address.ignored().items():
        text = f"The address asks for {name} = {value[:80]}, which is not here: it is left out."
        hints.warning(escaped(text), icon=":material/link_off:")
